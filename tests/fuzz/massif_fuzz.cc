// libFuzzer target: any bytes as a massif.out file. What is read must keep the invariants of a
// profile, must be printable, and what the writer makes of it must be read as the same.
//
//   build/bin/massif_fuzz -max_len=65536 -rss_limit_mb=1024 new/ tests/fuzz/corpus/massif_fuzz

#include <cstdint>
#include <string_view>

#include "core/fold/timeline.h"
#include "core/formats/massif/massif_file.h"
#include "core/formats/massif/massif_reader.h"
#include "core/report/views/ms_print.h"
#include "core/report/views/timeline.h"

namespace {

void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heapgauge;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto stream = StreamOf(text);
  const auto file = ParseMassif(stream.get(), "fuzz");
  if (!file) {
    Demand(!file.error().message.empty());
    Demand(file.error().message.find('\n') == std::string::npos);
    return 0;
  }
  static constexpr const char* kMoments[] = {"", "peak", "end", "50%", "snapshot=1", "7"};
  const auto profile = MassifProfile(*file, kMoments[data[0] % std::size(kMoments)]);
  if (profile) Demand(profile->Check().has_value());
  MsPrintOptions options;
  options.width = 4 + data[0] % 90;
  StringSink printed;
  Demand(WriteMsPrint(*file, options, &printed).has_value());
  if (const auto timeline = TimelineOfMassif(*file, 0, UINT64_MAX)) {
    Demand(!TimelineText(*timeline, {}).empty());
  }
  StringSink written;
  Demand(WriteMassif(*file, &written).has_value());
  const auto again = StreamOf(written.text());
  const auto back = ParseMassif(again.get(), "back");
  Demand(back.has_value());
  Demand(back->snapshots.size() == file->snapshots.size());
  StringSink written_again;
  Demand(WriteMassif(*back, &written_again).has_value());
  Demand(written_again.text() == written.text());
  return 0;
}
