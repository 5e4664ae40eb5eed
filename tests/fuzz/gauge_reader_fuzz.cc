// libFuzzer target: any bytes as a gauge file, read both ways, analysed and written out again.
//
//   build/bin/gauge_reader_fuzz -max_len=1048576 -rss_limit_mb=1024 corpus/
//
// Without a corpus the first inputs come from the builder: a mutator that starts at nothing would
// never get past the magic number. Input bytes are laid over such a file in small pieces.

#include <cstdint>
#include <cstring>
#include <string>

#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/formats/collapsed/collapsed.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"
#include "core/report/views/top.h"
#include "core/report/views/traces.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge {
namespace {

const std::string& Template() {
  static const std::string bytes = [] {
    testing::GaugeBuilder b;
    b.AddModule("/no/such/file", 0x1000, 0x90000, 0x1000, "build-id");
    b.AddModule("/no/such/library", 0x100000, 0x200000, 0x100000);
    for (uint64_t i = 0; i < 20; ++i) {
      const uint32_t stack = b.AddStack({0x1000 + i * 16, 0x100000 + i % 5, 0x2000});
      b.AddLive(stack, 100 << (i % 16), wire::kDefaultIntervalBytes, i);
      b.AddPeak(stack, 1000 * i);
      b.AddTick(i, i);
    }
    return b.Build();
  }();
  return bytes;
}

void ReadAll(const std::string& bytes) {
  for (const bool peak : {false, true}) {
    GaugeReadOptions options;
    options.peak = peak;
    auto profile = ReadGauge(MemorySource(bytes), "fuzz.hg", options);
    if (!profile) continue;
    if (!profile->Check()) __builtin_trap();
    // Module paths are the input's to choose; a fuzzer must not open what it likes.
    for (Module& module : profile->modules) module.path = "/no/such/file";
    Symbolize({}, &*profile);
    if (!profile->Check()) __builtin_trap();
    const auto report = AggregateFunctions(*profile, {});
    if (!report) __builtin_trap();
    TopText(*profile, *report, {}, {});
    TopJson(*profile, *report, {}, {});
    StringSink traces;
    if (!WriteTraces(*profile, {}, {}, {}, &traces)) __builtin_trap();
    StringSink collapsed;
    const auto names = FrameNames(*profile, Granularity::kFunctions, Names::kShort);
    if (!WriteCollapsed(*profile, kInuseSpace, {}, names, false, &collapsed)) __builtin_trap();
    StringSink pprof;
    if (!WritePprof(*profile, {AllocationFunctionRegex(), {}, "", true}, &pprof)) __builtin_trap();
  }
}

}  // namespace
}  // namespace heapgauge

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heapgauge;
  if (size == 0) return 0;
  if (data[0] % 2 == 0) {  // a whole file
    ReadAll(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
    return 0;
  }
  std::string bytes = Template();
  // Pieces of (segment, offset, 8 bytes): the input decides where the damage goes.
  for (size_t at = 1; at + 11 <= size; at += 11) {
    const size_t segments = bytes.size() / wire::kSegmentBytes;
    uint16_t offset = 0;
    std::memcpy(&offset, data + at + 1, sizeof offset);
    const size_t target =
        data[at] % segments * wire::kSegmentBytes + offset % (wire::kSegmentBytes - 8);
    std::memcpy(&bytes[target], data + at + 3, 8);
  }
  ReadAll(bytes);
  return 0;
}
