#include "cli/packed_output.h"

#include "core/base/gzip_sink.h"
#include "core/base/zstd_sink.h"

namespace heapgauge::cli {
namespace {

template <typename Sink>
Status Through(const std::function<Status(TextSink*)>& write, TextSink* out) {
  Sink sink(out);
  HG_TRY(write(&sink));
  return sink.Finish();
}

}  // namespace

Status WritePacked(const std::string& name, const std::function<Status(TextSink*)>& write,
                   TextSink* out) {
  if (name.ends_with(".zst")) return Through<ZstdSink>(write, out);
  if (name.ends_with(".gz")) return Through<GzipSink>(write, out);
  return write(out);
}

}  // namespace heapgauge::cli
