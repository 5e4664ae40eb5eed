// libFuzzer target: any bytes as a profile in one of the text formats (or a binary CPU profile).
// The first byte chooses the reader. What is read must keep the invariants of a profile, and what
// our writers make of it must be readable.
//
//   build/bin/text_profiles_fuzz -max_len=65536 -rss_limit_mb=1024 new/
//   tests/fuzz/corpus/text_profiles_fuzz

#include <cstdint>
#include <string_view>

#include "core/formats/collapsed/collapsed.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/formats/jemalloc/jemalloc.h"
#include "core/formats/legacy/legacy_cpu_reader.h"
#include "core/formats/legacy/legacy_text_reader.h"
#include "core/formats/symbolized/symbolized_reader.h"

namespace heapgauge {
namespace {

using Reader = Result<Profile> (*)(ByteStream*, const std::string&, const TextReadOptions&);
using Writer = Status (*)(const Profile&, const TextWriteOptions&, TextSink*);

void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

void WriteAndReadBack(const Profile& profile, Writer write, Reader read, bool symbolized) {
  TextWriteOptions options;
  options.symbolized = symbolized;
  StringSink sink;
  if (!write(profile, options, &sink)) return;
  const auto stream = StreamOf(sink.text());
  const auto back = (symbolized ? ReadSymbolized : read)(stream.get(), "back", {});
  Demand(back.has_value());
}

}  // namespace
}  // namespace heapgauge

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heapgauge;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr Reader kReaders[] = {ReadHeapText,  ReadJemalloc,   ReadSymbolized,
                                 ReadCollapsed, ReadLegacyText, ReadLegacyCpu};
  const Reader read = kReaders[data[0] % std::size(kReaders)];
  TextReadOptions options;
  options.dialect = static_cast<TextDialect>(data[0] / 8 % 3);
  if (data[0] >= 128) options.thread = "*";
  const auto stream = StreamOf(text);
  const auto profile = read(stream.get(), "fuzz", options);
  if (!profile) {
    Demand(!profile.error().message.empty());
    Demand(profile.error().message.find('\n') == std::string::npos);
    return 0;
  }
  Demand(profile->Check().has_value());
  for (const bool symbolized : {false, true}) {
    WriteAndReadBack(*profile, WriteHeapText, ReadHeapText, symbolized);
    WriteAndReadBack(*profile, WriteJemalloc, ReadJemalloc, symbolized);
  }
  return 0;
}
