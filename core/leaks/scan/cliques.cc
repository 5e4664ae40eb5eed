#include "core/leaks/scan/cliques.h"

#include "core/leaks/scan/block_bits.h"

namespace heapgauge::leaks {
namespace {

// Groups that joined others name leaders that are none any more. `former` has these in the order in
// which they joined, `lost` all blocks that were to be grouped.
void FindLastLeaders(const std::vector<uint32_t>& former, const BlockBits& lost,
                     std::vector<Verdict>* verdicts) {
  std::vector<Verdict>& all = *verdicts;
  BlockBits was_leader(all.size());
  // Whoever it joined may have joined another later, and comes first here.
  for (auto it = former.rbegin(); it != former.rend(); ++it) {
    Verdict& verdict = all[*it];
    if (was_leader.Has(verdict.leader)) verdict.leader = all[verdict.leader].leader;
    was_leader.Set(*it);
  }
  for (uint32_t block = lost.Next(0, all.size()); block != kNoBlock;
       block = lost.Next(block + 1, all.size())) {
    Verdict& verdict = all[block];
    if (verdict.kind == Kind::kIndirect && was_leader.Has(verdict.leader)) {
      verdict.leader = all[verdict.leader].leader;
    }
  }
}

}  // namespace

void PutIntoCliques(const EdgeList& edges, std::vector<Verdict>* verdicts) {
  std::vector<Verdict>& all = *verdicts;
  // In a group, and not its leader; or not lost.
  BlockBits grouped(all.size());
  BlockBits lost(all.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    const uint64_t is_lost = all[i].kind == Kind::kDefinite ? 1 : 0;
    lost.SetIf(i, is_lost);
    grouped.SetIf(i, is_lost ^ 1);
  }
  std::vector<uint32_t> to_follow;
  std::vector<uint32_t> former;  // leaders
  for (uint32_t leader = lost.Next(0, all.size()); leader != kNoBlock;
       leader = lost.Next(leader + 1, all.size())) {
    if (grouped.Has(leader)) continue;
    to_follow.push_back(leader);
    while (!to_follow.empty()) {
      const uint32_t from = to_follow.back();
      to_follow.pop_back();
      edges.ForEach(from, [&](uint64_t address, uint32_t to, Place) {
        if (grouped.Has(to) || to == leader) return;
        grouped.Set(to);
        // All that a former leader (before this one) reaches is in groups already.
        if (to > leader) {
          edges.PrefetchEdges(to);
          to_follow.push_back(to);
        } else {
          former.push_back(to);
        }
        Verdict verdict;
        verdict.kind = Kind::kIndirect;
        verdict.leader = leader;
        verdict.from = from;
        verdict.set_pointer(address);
        verdict.has_pointer = true;
        all[to] = verdict;
      });
    }
  }
  FindLastLeaders(former, lost, verdicts);
}

}  // namespace heapgauge::leaks
