#include "core/formats/heap_text/heap_row_queue.h"

namespace heapgauge {

void HeapRowQueue::Put(const Batch& batch) {
  out_->Leaves(batch.locations, batch.ends, &leaves_);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const HeapRowFigures& figures = batch.figures[i];
    rows_->Add(leaves_[i], out_->BytesLabel(rows_->BlockSize(figures)), figures);
  }
}

}  // namespace heapgauge
