// report: the web UI as one file, to be mailed, kept, and opened without a server.

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/progress_line.h"
#include "cli/report_options.h"
#include "cli/report_source.h"
#include "cli/ui_sources.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/recording/recording.h"
#include "core/symbolize/name_cache.h"
#include "endpoint/base/gauge_process.h"
#include "endpoint/report_page.h"

namespace heapgauge::cli {
namespace {

struct PageOptions {
  std::vector<std::string> sources;
  std::string output;
  std::string title;
  std::string size = "10M";
  SymbolOptions symbols;
};

std::string Titles(const std::vector<std::string>& sources) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < sources.size() && i < kNamed; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(BaseName(Printable(sources[i])));
  }
  return sources.size() > kNamed ? text + ", …" : text;
}

// As it can be typed; whoever reads the report knows where the files are.
std::string UiCommand(const std::vector<std::string>& sources) {
  std::string text = "heapgauge ui";
  for (const std::string& source : sources) {
    text += " " + std::string(BaseName(Printable(source)));
  }
  return text;
}

int WriteReport(const PageOptions& options) {
  if (options.output.empty() && isatty(STDOUT_FILENO) == 1) {
    return FailWith("a report is a file for the browser; write it with -o report.html");
  }
  const auto size = SizeOption("--size", options.size);
  if (!size) return FailWith(size.error());
  endpoint::GaugeProcessOptions how;
  if (!options.symbols.no_cache) how.name_cache = DefaultNameCacheDir();
  how.debug_directories = options.symbols.debug_paths;
  how.use_debuginfod = !options.symbols.no_debuginfod;
  // Only what was asked for: a report does not tell about the other processes of a host.
  const auto sources = std::make_shared<endpoint::api::Sources>(endpoint::NoProcesses());
  const Status added = AddSources(options.sources, options.symbols, how, sources.get());
  if (!added) return FailWith(added.error());
  endpoint::ReportPageOptions page;
  page.title =
      (options.title.empty() ? Titles(options.sources) : Printable(options.title)) + " · heapgauge";
  page.command = UiCommand(options.sources);
  page.most_bytes = *size;
  ProgressSink* progress = BeginProgress();
  page.progress = [&](size_t done, size_t all) {
    progress->Report("gathering answers", done, all, "");
  };
  const auto made = endpoint::MakeReportPage(sources, page);
  EndProgress();
  if (!made) return FailWith(made.error());
  for (const std::string& source : options.sources) {
    if (FormatAt(source) != ProfileFormat::kTrace) continue;
    const auto recording = Recording::OpenFile(source);
    if (!recording) continue;
    if (const auto trace = recording->Trace()) TellNotes((*trace)->notes());
  }
  if (!made->failed.empty()) {
    TellNotes({fmt::format("{} answers are not in it: there is no {}", made->failed.size(),
                           made->failed.front())});
  }
  if (options.output.empty() || options.output == "-") return PrintOut(made->html);
  Status written = MayReplace(options.output);
  if (written) written = WriteWholeFile(options.output, made->html);
  if (!written) return FailWith(written.error());
  std::string text =
      fmt::format("wrote {} ({}): {} answers", Printable(options.output),
                  FormatBytes(static_cast<double>(made->html.size())), made->answers);
  if (made->left_out > 0) text += fmt::format(", {} had no room (--size)", made->left_out);
  return PrintOut(text + ". It opens in a browser, from disk.\n");
}

void DescribeReportPage(Command sub, Action* action) {
  auto options = std::make_shared<PageOptions>();
  sub.Footer(R"(
The page of `heapgauge ui` with the answers inside: overview, timeline, flame graphs that zoom and search, tables,
lifetimes; with several sources, what changed from one to the other. It opens from disk, asks nobody, and can be mailed.
Other moments, ranges and filters, and SQL, need the profile itself. The same sources give the same bytes.

Examples:
  heapgauge report -o report.html server.hgt
  heapgauge report -o change.html before.hg after.hg
  heapgauge report --title "release 1.4, 2 h" -o report.html 4242)");
  sub.Add("SOURCE", &options->sources,
          "profiles of any format, traces, PIDs, directories of gauge files, URLs")
      .Required();
  sub.Add("-o,--output", &options->output, "write to this file").NotEmpty();
  sub.Add("--title", &options->title, "of the page; the names of the sources by default");
  sub.Add("--size", &options->size,
          "that the answers may have in all; the most important come first; 10M by default");
  AddSymbolOptions(sub, &options->symbols);
  sub.OnChosen([=] { *action = [=] { return WriteReport(*options); }; });
}

}  // namespace

const CommandEntry kReportCommand = {"report", "the web UI as one HTML file that needs no server",
                                     DescribeReportPage};

}  // namespace heapgauge::cli
