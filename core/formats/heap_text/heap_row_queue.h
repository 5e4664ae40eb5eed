// Rows of a text heap profile on their way from the parser into the profile.
//
// Finding the leaf of a stack waits for memory at each frame, so many stacks are looked up side by
// side; and in a large profile this takes as long as parsing does, so another thread does it.
//
// Add(), Finish() and destruction belong to one thread. That thread may parse further stacks
// meanwhile (see TextProfile), and must touch rows, labels and nodes only after Finish().
#ifndef HEAPGAUGE_CORE_FORMATS_HEAP_TEXT_HEAP_ROW_QUEUE_H_
#define HEAPGAUGE_CORE_FORMATS_HEAP_TEXT_HEAP_ROW_QUEUE_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "core/formats/heap_text/heap_rows.h"
#include "core/formats/text/text_profile.h"

namespace heapgauge {

class HeapRowQueue {
 public:
  // Both must outlive the queue.
  HeapRowQueue(HeapRows* rows, TextProfile* out) : rows_(rows), out_(out) {}
  HeapRowQueue(const HeapRowQueue&) = delete;
  HeapRowQueue& operator=(const HeapRowQueue&) = delete;
  // Rows that nobody waited for by Finish() may be missing.
  ~HeapRowQueue() { Stop(); }

  // A row with the label `bytes`. REQUIRES: its figures make sense.
  void Add(const std::vector<LocationId>& stack, const RowFigures& figures) {
    Batch& batch = batches_[next_in_];
    batch.locations.insert(batch.locations.end(), stack.begin(), stack.end());
    batch.ends.push_back(batch.locations.size());
    batch.figures.push_back(figures);
    if (batch.figures.size() == kBatch) HandOver();
  }

  // After this all rows are in the profile, in the order they came in.
  void Finish();

 private:
  static constexpr size_t kBatch = 256;  // rows
  static constexpr size_t kBatches = 8;
  // Small profiles are not worth a thread.
  static constexpr size_t kAlone = 16;

  struct Batch {
    std::vector<LocationId> locations;  // of all stacks, end to end
    std::vector<size_t> ends;
    std::vector<RowFigures> figures;
  };

  void HandOver();
  void Run();
  void Stop();
  void Put(Batch* batch);

  HeapRows* rows_;
  TextProfile* out_;
  std::vector<NodeId> leaves_;  // of the batch that is being put
  std::array<Batch, kBatches> batches_;
  size_t next_in_ = 0;  // the one that is being filled
  size_t handed_over_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t filled_ = 0;
  bool stop_ = false;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_FORMATS_HEAP_TEXT_HEAP_ROW_QUEUE_H_
