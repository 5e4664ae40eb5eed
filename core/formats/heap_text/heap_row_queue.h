// Rows of a text heap profile on their way from the parser into the profile.
//
// Finding the leaf of a stack waits for memory at each frame, so many stacks are looked up side by
// side; and in a large profile this takes as long as parsing does, so another thread does it.
//
// Add(), Finish() and destruction belong to one thread. That thread may parse further stacks
// meanwhile (see TextProfile), and must touch rows, labels and nodes only after Finish().
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/batch_queue.h"
#include "core/formats/heap_text/heap_rows.h"
#include "core/formats/text/text_profile.h"

namespace heapgauge {

class HeapRowQueue {
 public:
  // Both must outlive the queue.
  HeapRowQueue(HeapRows* rows, TextProfile* out) : rows_(rows), out_(out), queue_(Putter{this}) {}
  HeapRowQueue(const HeapRowQueue&) = delete;
  HeapRowQueue& operator=(const HeapRowQueue&) = delete;

  // A row with the label `bytes`. REQUIRES: its figures make sense.
  void Add(const std::vector<LocationId>& stack, const HeapRowFigures& figures) {
    Batch& batch = queue_.at_hand();
    batch.locations.insert(batch.locations.end(), stack.begin(), stack.end());
    batch.ends.push_back(batch.locations.size());
    batch.figures.push_back(figures);
    if (batch.figures.size() == kBatch) queue_.HandOver();
  }

  // After this all rows are in the profile, in the order they came in. Rows that nobody waited for
  // may be missing.
  void Finish() { queue_.Finish(); }

 private:
  static constexpr size_t kBatch = 256;  // rows

  struct Batch {
    std::vector<LocationId> locations;  // of all stacks, end to end
    std::vector<size_t> ends;
    std::vector<HeapRowFigures> figures;
    void Clear() {
      locations.clear();
      ends.clear();
      figures.clear();
    }
  };
  struct Putter {
    HeapRowQueue* queue;
    void operator()(Batch* batch) const { queue->Put(*batch); }
  };

  void Put(const Batch& batch);

  HeapRows* rows_;
  TextProfile* out_;
  std::vector<NodeId> leaves_;  // of the batch that is being put
  BatchQueue<Batch, Putter> queue_;
};

}  // namespace heapgauge
