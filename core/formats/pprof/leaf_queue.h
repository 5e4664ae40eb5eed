// Stacks of samples on their way from the parser into the trie of the profile, by row.
//
// Putting stacks together takes as long as parsing them, so in a large profile another thread does
// it (batch_queue.h). Until Finish() the nodes of the profile belong to the queue, and the leaves
// of its rows are not set; everything else in the profile belongs to the parser.
//
// For one parser; not synchronised otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "core/base/batch_queue.h"
#include "core/model/profile.h"
#include "core/model/stack_builder.h"

namespace heapgauge {

class LeafQueue {
 public:
  // The profile has no rows yet and must outlive the queue.
  explicit LeafQueue(Profile* profile)
      : profile_(profile), stacks_(profile), queue_(Putter{this}) {}
  LeafQueue(const LeafQueue&) = delete;
  LeafQueue& operator=(const LeafQueue&) = delete;

  // Where the locations of the next row go, innermost first, behind those that are there.
  std::vector<LocationId>& NextStack() { return queue_.at_hand().locations; }
  // They are there.
  void EndStack() {
    Batch& batch = queue_.at_hand();
    batch.ends.push_back(batch.locations.size());
    if (batch.ends.size() == kBatch) queue_.HandOver();
  }

  // Some stacks found no room in the trie. Noticed late, so to be asked after Finish() as well.
  bool too_many_nodes() const { return too_many_nodes_.load(std::memory_order_relaxed); }

  // Sets the leaves of all rows. REQUIRES: there is a stack for each.
  void Finish();

 private:
  static constexpr size_t kBatch = 256;  // stacks

  struct Batch {
    std::vector<LocationId> locations;  // of all stacks, end to end
    std::vector<size_t> ends;
    void Clear() {
      locations.clear();
      ends.clear();
    }
  };
  struct Putter {
    LeafQueue* queue;
    void operator()(Batch* batch) const { queue->Put(*batch); }
  };

  void Put(const Batch& batch);

  Profile* profile_;
  StackBuilder stacks_;
  std::vector<NodeId> found_;   // of the batch that is being put
  std::vector<NodeId> leaves_;  // by row
  std::atomic<bool> too_many_nodes_{false};
  BatchQueue<Batch, Putter> queue_;
};

}  // namespace heapgauge
