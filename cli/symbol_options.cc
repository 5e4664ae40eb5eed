#include "cli/symbol_options.h"

#include <filesystem>

#include "cli/command_line.h"
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

}  // namespace heapgauge::cli
