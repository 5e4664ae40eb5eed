// GET api/v1/memory-map: how the memory of a source lies in the address space. Of a trace, at the
// moment `at` (the end if none is given): cells with how full they are and whose, and who pins
// pages, as `heapgauge stats --section pages --json` has it; `from` and `to` choose blocks that
// were allocated between. Of a process: its regions now, as `heapgauge memory --mappings --json`.

#include "core/base/text.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kMemoryMapParameters[] = {"cells", "by", "page", "rows", "start", "end"};

constexpr uint64_t kMostAddress = uint64_t{1} << 57;

Result<std::string> AnswerMemoryMap(const Call& call, const Filter& filter) {
  Source::MapWords words;
  HG_ASSIGN(words.cells, NumberOf(call, "cells", 1, 50'000, words.cells));
  HG_ASSIGN(words.rows, NumberOf(call, "rows", 0, 2000, words.rows));
  HG_ASSIGN(words.start, NumberOf(call, "start", 0, kMostAddress, 0));
  HG_ASSIGN(words.end, NumberOf(call, "end", 0, kMostAddress, 0));
  if (words.start > words.end) {
    return Fail(ErrorCode::kInvalidArgument, "start is behind end");
  }
  HG_ASSIGN(words.by, ChoiceOf(call, "by", {"function", "stack", "module", "thread"}));
  if (const auto page = call.Parameter("page"); page && !page->empty()) {
    const auto size = ParseSize(*page);
    constexpr uint64_t kLeast = 64;
    constexpr uint64_t kMost = 1 << 30;
    if (!size || *size < kLeast || *size > kMost || (*size & (*size - 1)) != 0) {
      return Fail(ErrorCode::kInvalidArgument, "page is a power of two from 64 to 1G");
    }
    words.page = *size;
  }
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  return opened->source().MemoryMap(filter, words);
}

}  // namespace

const Resource kMemoryMapResource = {"api/v1/memory-map", kMemoryMapParameters, AnswerMemoryMap};

}  // namespace heapgauge::endpoint::api
