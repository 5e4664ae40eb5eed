#include "core/leaks/verdict/lost_profile.h"

#include <utility>
#include <vector>

namespace heapgauge::leaks {
namespace {

bool IsLost(const Check& check, const LossRecords& losses, size_t block) {
  const Kind kind = check.verdicts[block].kind;
  return (kind == Kind::kDefinite || kind == Kind::kIndirect) &&
         !losses.records[losses.record_of[block]].suppressed();
}

}  // namespace

Profile LostProfile(const Check& check, const LossRecords& losses, bool blocks) {
  struct OfStack {
    Amount live;
    Amount lost;
  };
  std::vector<OfStack> stacks(check.known.stacks.size());
  for (size_t i = 0; i < check.known.blocks.size(); ++i) {
    const KnownBlock& block = check.known.blocks[i];
    stacks[block.stack].live.Add(block);
    if (IsLost(check, losses, i)) stacks[block.stack].lost.Add(block);
  }
  Profile profile = check.known.profile;
  profile.rows.clear();
  profile.values.clear();
  profile.estimates.clear();
  profile.blocks.clear();  // they name rows
  profile.sample_types = {{"inuse_objects", "count"},
                          {"inuse_space", "bytes"},
                          {"lost_objects", "count"},
                          {"lost_space", "bytes"}};
  profile.default_type = blocks ? 2 : 3;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const OfStack& of = stacks[i];
    if (of.lost.known == 0) continue;
    Row row;
    row.leaf = check.known.stacks[i].leaf;
    row.labels = check.known.stacks[i].labels;
    if (check.known.sampled()) row.samples = row.live_samples = of.lost.known;
    profile.rows.push_back(row);
    for (const Estimate& estimate :
         {of.live.blocks, of.live.bytes, of.lost.blocks, of.lost.bytes}) {
      profile.estimates.push_back(estimate);
    }
  }
  profile.RoundEstimates();
  if (!check.known.sampled()) profile.estimates.clear();  // nothing was estimated
  return profile;
}

}  // namespace heapgauge::leaks
