// ui: look at profiles, traces and running programs in a browser.

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/background_reads.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/http_host.h"
#include "cli/pprof/viewer.h"
#include "cli/report_source.h"
#include "cli/symbol_options.h"
#include "cli/ui_leaks.h"
#include "cli/ui_queries.h"
#include "cli/ui_sources.h"
#include "cli/until_ended.h"
#include "core/symbolize/name_cache.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/gauge_processes.h"

namespace heapgauge::cli {
namespace {

constexpr std::chrono::milliseconds kShortRead{200};

struct UiOptions {
  ListenOptions http;
  std::vector<std::string> sources;
  SymbolOptions symbols;
  std::vector<std::string> suppressions;
  std::string dump_directory;
  endpoint::api::SourceLookup lookup;
  bool no_browser = false;
};

// Somebody sits in front of this machine.
bool HasScreen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

int Ui(const UiOptions& options) {
  leaks::Suppressions suppressions;
  for (const std::string& path : options.suppressions) {
    if (const Status read = suppressions.AddFile(path); !read) return FailWith(read.error());
  }
  const UntilEnded ended;
  endpoint::GaugeProcessOptions how;
  if (!options.symbols.no_cache) how.name_cache = DefaultNameCacheDir();
  how.debug_directories = options.symbols.debug_paths;
  how.use_debuginfod = !options.symbols.no_debuginfod;
  if (!options.dump_directory.empty()) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(options.dump_directory, error);
    how.dump_directory = error ? options.dump_directory : absolute.string();
  }
  endpoint::GaugeProcesses::Choice choice;
  choice.directories = DirectoriesAmong(options.sources);
  const auto processes = std::make_shared<endpoint::GaugeProcesses>(std::move(choice), how);
  const auto sources = std::make_shared<endpoint::api::Sources>(
      processes, MakeQueries(options.symbols), MakeLeakChecker(std::move(suppressions)));
  endpoint::api::SourceLookup lookup = options.lookup;
  lookup.allowed = true;
  lookup.use_debuginfod = !options.symbols.no_debuginfod;
  sources->set_lookup(std::move(lookup));
  BackgroundReads reads;
  const Status added = AddSources(options.sources, options.symbols, how, sources.get(), &reads);
  if (!added) return FailWith(added.error());
  const auto host = HttpHost::Open(options.http, processes, sources);
  if (!host) return FailWith(host.error());
  // Large files take a while: the browser loads the page meanwhile. Of others it is known whether
  // they are damaged before there is anything to see.
  reads.Start();
  if (const Status read = reads.WaitFor(kShortRead); !read) return FailWith(read.error());
  if (const Status started = (*host)->Start(); !started) return FailWith(started.error());
  const std::string url = (*host)->url() + "/ui/";
  fmt::print(stderr, "heapgauge: serving {} ; Ctrl-C ends\n", url);
  if (!options.no_browser && HasScreen() && url.starts_with("http")) {
    if (const Status shown = ShowUrl(url); !shown) {
      fmt::print(stderr, "heapgauge: {}\n", shown.error().message);
    }
  }
  if (const Status read = reads.Wait(); !read) return FailWith(read.error());
  ended.Wait(processes.get());
  (*host)->Stop();
  return kDone;
}

void DescribeUi(Command sub, Action* action) {
  auto options = std::make_shared<UiOptions>();
  options->http.address = "127.0.0.1:0";
  sub.Footer(R"(
Serves one page on this machine and opens it: an overview, the heap over time, flame graphs, tables, and the
processes that are profiled here. Nothing is fetched from elsewhere. What the page shows can be asked for by
scripts as well: docs/api.md.

Examples:
  heapgauge ui                              the processes of this host
  heapgauge ui 4242                         a running program
  heapgauge ui /run/gauges                  the processes and dumps of a directory
  heapgauge ui server.hgt                   a trace: any moment, any range
  heapgauge ui old.pb.gz new.pb.gz          profiles of any format
  heapgauge ui --http 127.0.0.1:9710 --no-browser server.hgt)");
  sub.Add("SOURCE", &options->sources,
          "profiles of any format, traces, PIDs, directories of gauge files, URLs");
  AddListenOptions(sub, &options->http, "where to listen (127.0.0.1, any free port)");
  sub.Add("--suppressions", &options->suppressions,
          "file of leaks to live with, as heapgauge leaks takes it (may be given several times)")
      .OneEachTime();
  sub.Add("--dump-dir", &options->dump_directory,
          "directory for dumps that the page asks for; without it there are none");
  sub.Flag("--no-browser", &options->no_browser, "only print the address");
  AddSourcePaths(sub, &options->lookup.search_path, &options->lookup.trim_path);
  AddSymbolOptions(sub, &options->symbols);
  sub.OnChosen([=] { *action = [=] { return Ui(*options); }; });
}

}  // namespace

const CommandEntry kUiCommand = {"ui", "look at it in a browser: ui [--http ADDR] [SOURCE...]",
                                 DescribeUi};

}  // namespace heapgauge::cli
