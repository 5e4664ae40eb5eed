// Rows of the text heap formats: two pairs of count and bytes become the values of a row, scaled to
// what the samples stand for. gperftools' and jemalloc's formats differ in lines, not in this.
//
// Not synchronised.
#pragma once

#include <string_view>

#include "core/formats/heap_text/heap_text_header.h"
#include "core/formats/text/text_profile.h"

namespace heapgauge {

struct HeapRowFigures {
  CountAndSize in_use;
  CountAndSize allocated;
};

// "1: 2 [3: 4]" from `at` on, which is moved behind it. On failure `problem` says why.
bool ParseHeapFigures(std::string_view line, size_t* at, HeapRowFigures* figures,
                      std::string_view* problem);

class HeapRows {
 public:
  // Sets types and period of the profile. The arguments must outlive the object.
  HeapRows(const HeapTextHeader& header, TextProfile* out);

  // False: there are bytes without a block in figures that count.
  bool MakesSense(const HeapRowFigures& figures) const;
  // The size that the label `bytes` tells.
  int64_t BlockSize(const HeapRowFigures& figures) const;
  void Add(NodeId leaf, LabelSetId labels, const HeapRowFigures& figures);

 private:
  void AddPair(CountAndSize pair);

  const HeapTextHeader& header_;
  TextProfile* out_;
  bool estimates_;
};

}  // namespace heapgauge
