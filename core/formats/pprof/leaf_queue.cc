#include "core/formats/pprof/leaf_queue.h"

namespace heapgauge {

void LeafQueue::Put(const Batch& batch) {
  if (kNone - profile_->nodes.size() <= batch.locations.size()) {
    too_many_nodes_.store(true, std::memory_order_relaxed);
    return;
  }
  stacks_.Leaves(batch.locations, batch.ends, &found_);
  leaves_.insert(leaves_.end(), found_.begin(), found_.end());
}

void LeafQueue::Finish() {
  queue_.Finish();
  if (too_many_nodes()) return;
  for (size_t row = 0; row < leaves_.size(); ++row) profile_->rows[row].leaf = leaves_[row];
  leaves_ = {};
}

}  // namespace heapgauge
