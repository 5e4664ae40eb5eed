#include "core/leaks/scan/cliques.h"

#include "core/leaks/scan/block_bits.h"

namespace heapgauge::leaks {
namespace {

// Groups that joined others name leaders that are none any more. `former` has these in the order in
// which they joined, `lost` all blocks that were to be grouped. Leaders get no leader.
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
    if (verdict.kind != Kind::kIndirect) {
      verdict.leader = kNoBlock;
    } else if (was_leader.Has(verdict.leader)) {
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
    if (all[i].kind == Kind::kDefinite) {
      lost.Set(i);
    } else {
      grouped.Set(i);
      all[i].leader = kNoBlock;
    }
  }
  // Most of the time goes into waiting for memory of blocks that others point to.
  constexpr uint32_t kAhead = 16;
  const auto prefetch = [&](uint32_t from) {
    edges.ForEach(from, [&](uint64_t, uint32_t to, Place) {
      if (!grouped.Has(to)) __builtin_prefetch(&all[to], 1);
    });
  };
  struct Member {
    uint32_t block;
    EdgeList::First first;  // its verdict names its leader
  };
  std::vector<Member> to_follow;
  std::vector<uint32_t> former;  // leaders
  for (uint32_t leader = 0; leader < all.size(); ++leader) {
    if (leader + kAhead < all.size() && !grouped.Has(leader + kAhead)) prefetch(leader + kAhead);
    if (grouped.Has(leader)) continue;
    to_follow.push_back({leader, edges.first(leader)});
    while (!to_follow.empty()) {
      const Member from = to_follow.back();
      to_follow.pop_back();
      edges.ForEachFrom(from.first, [&](uint64_t address, uint32_t to, Place) {
        if (grouped.Has(to) || to == leader) return;
        grouped.Set(to);
        Verdict& verdict = all[to];
        // All that a former leader (before this one) reaches is in groups already.
        if (to > leader) {
          edges.PrefetchEdges(verdict.leader);
          to_follow.push_back({to, verdict.leader});
        } else {
          former.push_back(to);
        }
        verdict.kind = Kind::kIndirect;
        verdict.leader = leader;
        verdict.from = from.block;
        verdict.set_pointer(address);
        verdict.has_pointer = true;
      });
    }
  }
  FindLastLeaders(former, lost, verdicts);
}

}  // namespace heapgauge::leaks
