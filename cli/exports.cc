#include "cli/exports.h"

#include "core/base/sinks.h"
#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

tl::unexpected<Error> Refuse(const std::string& option, const LiveExport& format,
                             const std::string& advice) {
  return Fail(ErrorCode::kInvalidArgument, option + ": " + format.has + "; " + advice);
}

std::string AdviceOnFigure(bool is_allocated, const LiveExport& format) {
  if (is_allocated && format.has_allocated) {
    return "leave it out, and ask the reader for the latter (google-pprof and jeprof: "
           "--alloc_space)";
  }
  return "leave it out, or use heapgauge proto, which writes any figure";
}

}  // namespace

Status CheckLiveExport(const ReportOptions& options, const LiveExport& format) {
  if (!options.value.empty() && options.value != "live") {
    return Refuse("--value " + Printable(options.value), format,
                  AdviceOnFigure(options.value == "allocated", format));
  }
  if (!options.type.empty() && !options.type.starts_with("inuse_")) {
    return Refuse("--type " + Printable(options.type), format,
                  AdviceOnFigure(options.type.starts_with("alloc_"), format));
  }
  if (options.blocks) return Refuse("--blocks", format, "leave it out");
  if (!options.from.empty() && !format.has_allocated) {
    return Refuse("--from " + Printable(options.from), format, "leave it out, or use --at or --to");
  }
  return {};
}

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
