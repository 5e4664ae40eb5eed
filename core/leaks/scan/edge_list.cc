#include "core/leaks/scan/edge_list.h"

#include <array>

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

// Verdicts on their way: some are gathered, so that nobody waits for the memory they are put to.
class Joined {
 public:
  explicit Joined(std::vector<Verdict>* verdicts) : all_(*verdicts) {}
  ~Joined() { Flush(); }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

  void Add(uint32_t block, uint64_t address, uint32_t from, uint32_t leader) {
    __builtin_prefetch(&all_[block], 1);
    blocks_[size_] = block;
    Verdict& verdict = verdicts_[size_++];
    verdict.set_pointer(address);
    verdict.kind = Kind::kIndirect;
    verdict.has_pointer = true;
    verdict.from = from;
    verdict.leader = leader;
    if (size_ == blocks_.size()) Flush();
  }

 private:
  void Flush() {
    for (size_t i = 0; i < size_; ++i) all_[blocks_[i]] = verdicts_[i];
    size_ = 0;
  }
  std::vector<Verdict>& all_;
  std::array<uint32_t, 64> blocks_;
  std::array<Verdict, 64> verdicts_;
  size_t size_ = 0;
};

}  // namespace

void PutIntoCliques(const EdgeList& edges, const BlockBits& lost, std::vector<Verdict>* verdicts) {
  const size_t count = verdicts->size();
  BlockBits free = lost;         // in no group, or its leader
  std::vector<uint32_t> former;  // leaders
  {
    Joined joined(verdicts);
    std::vector<uint32_t> to_follow;
    for (uint32_t leader = free.Next(0, count); leader != kNoBlock;
         leader = free.Next(leader + 1, count)) {
      to_follow.push_back(leader);
      while (!to_follow.empty()) {
        const uint32_t from = to_follow.back();
        to_follow.pop_back();
        edges.ForEach(from, [&](uint64_t address, uint32_t to, Place) {
          if (!free.Has(to) || to == leader) return;
          free.Clear(to);
          // All that a former leader (before this one) reaches is in groups already.
          if (to > leader) {
            to_follow.push_back(to);
          } else {
            former.push_back(to);
          }
          joined.Add(to, address, from, leader);
        });
      }
    }
  }
  FindLastLeaders(former, lost, verdicts);
}

}  // namespace heapgauge::leaks
