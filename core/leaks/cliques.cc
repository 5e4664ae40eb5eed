#include "core/leaks/cliques.h"

#include "core/leaks/block_bits.h"

namespace heapgauge::leaks {
namespace {

// Groups that joined others name leaders that are none any more.
void FindLastLeaders(const BlockBits& grouped, std::vector<Verdict>* verdicts) {
  std::vector<Verdict>& all = *verdicts;
  for (uint32_t block = 0; block < all.size(); ++block) {
    if (all[block].kind != Kind::kIndirect || !grouped.Has(all[block].leader)) continue;
    uint32_t leader = all[block].leader;
    while (grouped.Has(leader)) leader = all[leader].leader;
    for (uint32_t at = block; at != leader;) {
      const uint32_t next = all[at].leader;
      all[at].leader = leader;
      at = next;
    }
  }
}

}  // namespace

void PutIntoCliques(const EdgeList& edges, std::vector<Verdict>* verdicts) {
  std::vector<Verdict>& all = *verdicts;
  // In a group, and not its leader; or not lost.
  BlockBits grouped(all.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].kind != Kind::kDefinite) grouped.Set(i);
  }
  // Most of the time goes into waiting for memory of blocks that others point to.
  constexpr uint32_t kAhead = 16;
  const auto prefetch = [&](uint32_t from) {
    edges.ForEach(from, [&](uint64_t, uint32_t to, Place) {
      if (grouped.Has(to)) return;
      __builtin_prefetch(&all[to], 1);
      edges.Prefetch(to);
    });
  };
  std::vector<uint32_t> to_follow;
  for (uint32_t leader = 0; leader < all.size(); ++leader) {
    if (leader + kAhead < all.size() && !grouped.Has(leader + kAhead)) prefetch(leader + kAhead);
    if (grouped.Has(leader)) continue;
    to_follow.push_back(leader);
    while (!to_follow.empty()) {
      const uint32_t from = to_follow.back();
      to_follow.pop_back();
      edges.ForEach(from, [&](uint64_t address, uint32_t to, Place) {
        if (grouped.Has(to) || to == leader) return;
        grouped.Set(to);
        Verdict& verdict = all[to];
        verdict.kind = Kind::kIndirect;
        verdict.leader = leader;
        verdict.from = from;
        verdict.pointer = address;
        verdict.has_pointer = true;
        // All that a former leader (before this one) reaches is in groups already.
        if (to > leader) to_follow.push_back(to);
      });
    }
  }
  FindLastLeaders(grouped, verdicts);
}

}  // namespace heapgauge::leaks
