#include "core/leaks/cliques.h"

namespace heapgauge::leaks {
namespace {

// Groups that joined others name leaders that are none any more.
void FindLastLeaders(std::vector<Verdict>* verdicts) {
  std::vector<Verdict>& all = *verdicts;
  for (uint32_t block = 0; block < all.size(); ++block) {
    if (all[block].kind != Kind::kIndirect) continue;
    uint32_t leader = all[block].leader;
    while (all[leader].kind == Kind::kIndirect) leader = all[leader].leader;
    for (uint32_t at = block; at != leader;) {
      const uint32_t next = all[at].leader;
      all[at].leader = leader;
      at = next;
    }
  }
}

}  // namespace

void PutIntoCliques(const EdgeList& edges, const BlockIndex& index,
                    std::vector<Verdict>* verdicts) {
  std::vector<Verdict>& all = *verdicts;
  // In no group, or the leader of one.
  std::vector<uint8_t> is_free(all.size());
  for (size_t i = 0; i < all.size(); ++i) is_free[i] = all[i].kind == Kind::kDefinite ? 1 : 0;

  std::vector<uint32_t> to_follow;
  for (uint32_t leader = 0; leader < all.size(); ++leader) {
    if (is_free[leader] == 0) continue;
    to_follow.push_back(leader);
    while (!to_follow.empty()) {
      const uint32_t from = to_follow.back();
      to_follow.pop_back();
      edges.ForEach(from, [&](uint64_t word, uint32_t to, Place) {
        if (is_free[to] == 0 || to == leader) return;
        is_free[to] = 0;
        Verdict& verdict = all[to];
        verdict.kind = Kind::kIndirect;
        verdict.leader = leader;
        verdict.from = from;
        verdict.pointer = WordsOf(index.extent(from)).start + word * 8;
        verdict.has_pointer = true;
        // All that a former leader (before this one) reaches is in groups already.
        if (to > leader) to_follow.push_back(to);
      });
    }
  }
  FindLastLeaders(verdicts);
}

}  // namespace heapgauge::leaks
