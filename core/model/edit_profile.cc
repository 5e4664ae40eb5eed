#include "core/model/edit_profile.h"

#include <algorithm>
#include <utility>

#include "core/base/large_memory.h"

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

Profile CopyOfValues(const Profile& profile) {
  Profile copy;
  copy.recording = profile.recording;
  copy.sample_types = profile.sample_types;
  copy.default_type = profile.default_type;
  copy.period_type = profile.period_type;
  copy.period = profile.period;
  copy.time_ns = profile.time_ns;
  copy.duration_ns = profile.duration_ns;
  copy.modules = profile.modules;
  copy.locations = profile.locations;
  copy.functions = profile.functions;
  copy.frames = profile.frames;
  ReserveHuge(profile.nodes.size(), &copy.nodes);
  copy.nodes = profile.nodes;
  copy.distinct_nodes = profile.distinct_nodes;
  ReserveHuge(profile.rows.size(), &copy.rows);
  copy.rows = profile.rows;
  ReserveHuge(profile.values.size(), &copy.values);
  copy.values = profile.values;
  copy.strings = profile.strings;
  copy.label_sets = profile.label_sets;
  copy.labels = profile.labels;
  copy.comments = profile.comments;
  copy.drop_frames = profile.drop_frames;
  copy.keep_frames = profile.keep_frames;
  copy.doc_url = profile.doc_url;
  copy.unknown_fields = profile.unknown_fields;
  return copy;
}

void PutProgramFirst(Profile* profile) {
  std::vector<Module>& modules = profile->modules;
  const auto program = std::find_if(modules.begin(), modules.end(), [&](const Module& module) {
    return module.path == profile->recording.program;
  });
  if (program == modules.end() || program == modules.begin()) return;
  const auto id = static_cast<ModuleId>(program - modules.begin());
  std::swap(modules.front(), *program);
  for (Location& location : profile->locations) {
    if (location.module == id) {
      location.module = 0;
    } else if (location.module == 0) {
      location.module = id;
    }
  }
}

}  // namespace heapgauge
