#include "core/formats/heap_text/heap_row_queue.h"

#include "core/base/try_thread.h"

namespace heapgauge {

void HeapRowQueue::HandOver() {
  if (++handed_over_ == kAlone && std::thread::hardware_concurrency() > 1) {
    thread_ = TryThread([this] { Run(); });
  }
  if (!thread_.joinable()) {
    Put(&batches_[next_in_]);
    return;
  }
  {
    std::unique_lock lock(mutex_);
    ++filled_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return filled_ < kBatches; });
  }
  next_in_ = (next_in_ + 1) % kBatches;
}

void HeapRowQueue::Run() {
  for (size_t next_out = 0;; next_out = (next_out + 1) % kBatches) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return filled_ > 0 || stop_; });
      if (filled_ == 0) return;
    }
    Put(&batches_[next_out]);
    {
      const std::lock_guard lock(mutex_);
      --filled_;
    }
    changed_.notify_all();
  }
}

void HeapRowQueue::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HeapRowQueue::Finish() {
  Stop();
  Put(&batches_[next_in_]);
}

void HeapRowQueue::Put(Batch* batch) {
  out_->Leaves(batch->locations, batch->ends, &leaves_);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const RowFigures& figures = batch->figures[i];
    rows_->Add(leaves_[i], out_->BytesLabel(rows_->BlockSize(figures)), figures);
  }
  batch->locations.clear();
  batch->ends.clear();
  batch->figures.clear();
}

}  // namespace heapgauge
