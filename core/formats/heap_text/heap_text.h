// Heap profiles in gperftools' text format, read and written: the first line, which tells the
// sampling, the rows, and whole profiles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/profile_text.h"
#include "core/formats/text/sampling.h"
#include "core/formats/text/text_profile.h"
#include "core/model/profile.h"
#include "core/model/types.h"

namespace heapgauge {

// The first line of a heap profile in gperftools' text format, and what it says about sampling.
//
//   heap profile:   2: 132096 [  5: 655360] @ heap_v2/524288
//
// Counts and bytes in use, counts and bytes ever allocated, the kind, the rate. Which arithmetic a
// kind asks for, the tools do not agree upon; docs/formats/heap-text.md has the table.
//
// Pure functions.
struct HeapTextHeader {
  CountAndSize in_use;
  CountAndSize allocated;
  std::string kind;  // "heap_v2"; "" in very old files
  int64_t period = 0;
  bool has_allocated = false;  // rows have figures of their own for all that was ever allocated
  Sampling values;             // pprof's arithmetic
  Sampling estimates;          // that of the dialect
};

// The message of an error says what is wrong with the line.
Result<HeapTextHeader> ParseHeapTextHeader(std::string_view line, TextDialect dialect);

// Figures of allocations are told apart from those in use only if they differ from them and from
// zero.
bool TellsAllocated(CountAndSize in_use, CountAndSize allocated);

// Four types, or objects and space alone.
std::vector<SampleType> LegacyHeapTypes(bool has_allocated);

struct HeapRowFigures {
  CountAndSize in_use;
  CountAndSize allocated;
};

// "1: 2 [3: 4]" from `at` on, which is moved behind it. On failure `problem` says why.
bool ParseHeapFigures(std::string_view line, size_t* at, HeapRowFigures* figures,
                      std::string_view* problem);

// Rows of the text heap formats: two pairs of count and bytes become the values of a row, scaled to
// what the samples stand for. gperftools' and jemalloc's formats differ in lines, not in this.
//
// Not synchronised.
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

// Reads heap profiles in the text format that gperftools began: its heap profiler and sampler,
// tcmalloc, Go (debug=1), and many tools that imitate them. docs/formats/heap-text.md describes it.
//
// Streams: memory is that of the profile. Single-threaded.
Result<Profile> ReadHeapText(ByteStream* stream, const std::string& name,
                             const TextReadOptions& options);
// The same from the middle of another format; the next line is the header.
Result<Profile> ReadHeapText(LineReader* lines, const TextReadOptions& options);

// Writes a profile in gperftools' text format, which pprof and the perl tools read: sampled
// profiles as heap_v2 with their rate, exact ones as heapprofile.
//
// Figures that readers compute agree with the profile's as nearly as whole numbers allow (see
// core/formats/text/sampling.h); a profile that cannot be put into samples (a difference, or
// scaled) is written as an exact one. Rows are written as they come; memory does not depend on
// their number.
Status WriteHeapText(const Profile& profile, const TextWriteOptions& options, TextSink* sink);

}  // namespace heapgauge
