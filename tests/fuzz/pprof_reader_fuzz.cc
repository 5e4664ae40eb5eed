// libFuzzer target: any bytes as a profile of any format, read, merged with itself, and written
// again as a protobuf, which must be readable and say the same.
//
//   build-fuzz/bin/pprof_reader_fuzz -max_len=65536 -rss_limit_mb=1024
//   build-fuzz/corpus/pprof_reader_fuzz
//
// The build makes the corpus (make_pprof_corpus). A mutator hardly ever makes a message whose
// length is right, so half of the inputs are taken as a list of changes to a good file.

#include <cstdint>
#include <cstring>
#include <string>

#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "core/formats/pprof/pprof_reader.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/formats/pprof/testing/proto_builder.h"
#include "core/recording/read_profile.h"

namespace heapgauge {
namespace {

void Require(bool condition) {
  if (!condition) __builtin_trap();
}

void Examine(const Profile& profile) {
  Require(profile.Check().has_value());
  PprofWriteOptions options;
  options.gzip = false;
  StringSink first;
  Require(WritePprof(profile, options, &first).has_value());
  const auto again = ReadPprof(StreamOf(first.text()).get(), "again");
  Require(again.has_value());
  Require(again->Check().has_value());
  // Lists that only rows without a value needed are gone now; from here on nothing changes.
  StringSink second;
  Require(WritePprof(*again, options, &second).has_value());
  const auto third = ReadPprof(StreamOf(second.text()).get(), "third");
  Require(third.has_value());
  Require(third->rows.size() == again->rows.size() && third->values == again->values &&
          third->nodes.size() == again->nodes.size() && third->comments == again->comments);

  std::vector<Profile> both = {profile, *again};
  auto merged = MergeProfiles(std::move(both));
  if (!merged) return;
  Require(merged->Check().has_value());
  ScaleProfile(-0.5, &*merged);
  Require(merged->Check().has_value());
}

void ReadAll(const std::string& bytes) {
  // A bomb of a few bytes must not take the fuzzer with it.
  auto plain = Decompressed(StreamOf(bytes), "fuzz", 1 << 20);
  if (!plain) return;
  const auto profile = ReadPprof(plain->get(), "fuzz");
  if (profile) Examine(*profile);
  if (!profile) {
    Require(profile.error().message.find('\n') == std::string::npos);
  }
  DetectFormat(std::string_view(bytes).substr(0, 4096));
}

}  // namespace
}  // namespace heapgauge

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heapgauge;
  if (size == 0) return 0;
  if (data[0] % 2 == 0) {
    ReadAll(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
    return 0;
  }
  static const std::string good = testing::EverythingProto();
  std::string bytes = good;
  for (size_t at = 1; at + 3 <= size; at += 3) {  // where (two bytes), what
    uint16_t where = 0;
    std::memcpy(&where, data + at, sizeof where);
    bytes[where % bytes.size()] = static_cast<char>(data[at + 2]);
  }
  ReadAll(bytes);
  return 0;
}
