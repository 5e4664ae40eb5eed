#include "cli/report_options.h"

#include <filesystem>

#include "cli/command_line.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/symbolize/debuginfod.h"
#include "core/symbolize/name_cache.h"

namespace heapgauge::cli {

void AddSymbolOptions(Command sub, SymbolOptions* options) {
  sub.Add("--debug-path", &options->debug_paths,
          "directory with debug files, .dwo or .dwp (may be given several times)")
      .OneEachTime();
  sub.Flag("--no-debuginfod", &options->no_debuginfod, "do not ask the servers in DEBUGINFOD_URLS");
  sub.Flag("--no-symbol-cache", &options->no_cache, "neither use nor keep names on disk");
}

SymbolizeReport NameLocations(const SymbolOptions& options, Profile* profile,
                              ProgressSink* progress) {
  SymbolizeOptions symbolize;
  for (const std::string& path : options.debug_paths) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    symbolize.extra_debug_dirs.push_back(error ? path : absolute.string());
  }
  symbolize.binary_dirs = options.binary_dirs;
  symbolize.program_path = options.program;
  std::unique_ptr<Debuginfod> debuginfod;
  if (!options.no_debuginfod) debuginfod = Debuginfod::FromEnvironment();
  symbolize.debuginfod = debuginfod.get();
  if (!options.no_cache) symbolize.cache_dir = DefaultNameCacheDir();
  const RecordingFacts& recording = profile->recording;
  if (recording.state == RecordingState::kLive || recording.state == RecordingState::kSnapshot) {
    symbolize.pid = recording.pid;
  }
  symbolize.progress = progress;
  return Symbolize(symbolize, profile);
}

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
