// libFuzzer target: any bytes as a trace, and damage to a good one that no checksum finds.
//
//   build/bin/trace_file_fuzz -max_len=65536 -rss_limit_mb=1024 corpus/

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/file.h"
#include "core/trace/testing/forge_trace.h"
#include "core/trace/testing/make_trace.h"
#include "core/trace/trace_file.h"

namespace heapgauge::trace {
namespace {

const std::string& Template() {
  static const std::string bytes = [] {
    testing::MakeTrace made;
    made.options.segment_events = 300;
    made.Stack({"f", "main"}, made.LabelSet("key", "value"));
    made.Memory(5, 1000);
    made.Mark(6, "here");
    testing::RandomTrace how;
    how.events = 900;
    how.live = 50;
    testing::AddRandomEvents(how, &made);
    const testing::TemporaryTrace file;
    if (!made.Write(file.path())) __builtin_trap();
    return *ReadWholeFile(file.path(), 1 << 20);
  }();
  return bytes;
}

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

void ReadAll(const TraceFile& trace) {
  Segment segment;
  std::vector<StackSums> sums;
  for (size_t i = 0; i < trace.segments().size(); ++i) {
    for (const uint32_t parts : {uint32_t{kEverything}, kNewBlocks | kAddresses, +kOldBlocks}) {
      if (!trace.ReadSegment(i, parts, &segment)) continue;
      for (const Block& block : segment.blocks) {
        Require(block.stack < trace.stack_count() && block.number < trace.blocks());
        Require(block.thread == kNoIndex || block.thread < trace.threads().size());
      }
      for (const Event& event : segment.events) {
        Require(event.born == kNoIndex || event.born < segment.blocks.size());
        Require(event.died == kNoIndex || event.died < segment.blocks.size());
      }
    }
    if (!trace.ReadSums(i, &sums)) continue;
    for (const StackSums& s : sums) Require(s.stack < trace.stack_count());
  }
  (void)trace.ForEachSurvivor([&](const Block& block) { Require(block.number < trace.blocks()); });
  if (const auto stacks = trace.ReadStacks()) Require((*stacks)->profile.Check().has_value());
}

void Read(const std::string& bytes) {
  const int fd = memfd_create("trace", MFD_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
    const auto trace = TraceFile::Open("/proc/self/fd/" + std::to_string(fd));
    if (trace) ReadAll(**trace);
  }
  close(fd);
}

}  // namespace
}  // namespace heapgauge::trace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heapgauge::trace;
  if (size == 0) return 0;
  if (data[0] % 4 == 0) {  // a whole file
    Read(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
    return 0;
  }
  std::string bytes = Template();
  // Pieces of (offset, 3 bytes): the input decides where the damage goes.
  for (size_t at = 1; at + 5 <= size; at += 5) {
    uint16_t offset = 0;
    std::memcpy(&offset, data + at, sizeof offset);
    std::memcpy(&bytes[offset % (bytes.size() - 3)], data + at + 2, 3);
  }
  Read(testing::WithChecksums(bytes));
  return 0;
}
