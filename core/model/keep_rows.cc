#include "core/model/keep_rows.h"

#include <algorithm>

namespace heapgauge {

void KeepRows(const std::vector<bool>& keep, Profile* profile) {
  const size_t types = profile->sample_types.size();
  std::vector<RowId> now(profile->rows.size(), kNone);
  RowId next = 0;
  for (RowId row = 0; row < profile->rows.size(); ++row) {
    if (!keep[row]) continue;
    now[row] = next;
    if (next != row) {
      profile->rows[next] = profile->rows[row];
      std::copy_n(profile->values.begin() + static_cast<ptrdiff_t>(row * types), types,
                  profile->values.begin() + static_cast<ptrdiff_t>(next * types));
      if (!profile->estimates.empty()) {
        std::copy_n(profile->estimates.begin() + static_cast<ptrdiff_t>(row * types), types,
                    profile->estimates.begin() + static_cast<ptrdiff_t>(next * types));
      }
    }
    ++next;
  }
  if (next == profile->rows.size()) return;
  profile->rows.resize(next);
  profile->values.resize(next * types);
  if (!profile->estimates.empty()) profile->estimates.resize(next * types);
  std::erase_if(profile->blocks,
                [&](const SampledBlock& block) { return now[block.row] == kNone; });
  for (SampledBlock& block : profile->blocks) block.row = now[block.row];
  const auto of_row = [](const UnknownFields& u) {
    return u.owner == UnknownFields::Owner::kSample;
  };
  std::erase_if(profile->unknown_fields,
                [&](const UnknownFields& u) { return of_row(u) && now[u.id] == kNone; });
  for (UnknownFields& u : profile->unknown_fields) {
    if (of_row(u)) u.id = now[u.id];
  }
}

}  // namespace heapgauge
