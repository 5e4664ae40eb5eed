#include "cli/pprof/run_perl.h"

#include <unistd.h>

#include <optional>

#include "cli/cli.h"
#include "cli/line_reader.h"
#include "cli/pprof/deliver.h"
#include "cli/pprof/load.h"
#include "cli/pprof/perl_shell.h"
#include "cli/report_options.h"
#include "core/base/file.h"
#include "core/base/sinks.h"
#include "core/fetch/remote_names.h"
#include "core/fold/merge.h"
#include "core/recording/recording.h"
#include "core/report/draw/render.h"
#include "core/voices/perl/report.h"

namespace heapgauge::cli {
namespace {

constexpr size_t kStartBytes = 4096;  // tell the format

std::string StartOf(const std::string& path) {
  const auto file = File::OpenForReading(path);
  if (!file) return "";
  std::string start(kStartBytes, '\0');
  start.resize(file->ReadAt(0, start.data(), start.size()));
  return start;
}

// Which of the two tools, if that was not said: jemalloc's profiles are jeprof's.
perl::Tool ToolFor(const PprofCommandLine& line) {
  if (line.dialect == Dialect::kJeprof) return perl::Tool::kJeprof;
  if (line.dialect == Dialect::kGooglePprof) return perl::Tool::kGooglePprof;
  for (const std::string& source : line.source.sources) {
    const std::string start = StartOf(source);
    const bool jemalloc = DetectFormat(start) == ProfileFormat::kJemalloc ||
                          start.find("\nheap_v2/") != std::string::npos;
    if (jemalloc) return perl::Tool::kJeprof;
  }
  return perl::Tool::kGooglePprof;
}

// What the tools say about a local file.
void Announce(const std::string& path, bool is_profile, const Say& say) {
  const std::string start = StartOf(path);
  if (start.empty()) return;
  say("Using local file " + path + ".");
  if (!is_profile) return;
  const std::string told = perl::Announcement(start.substr(0, start.find('\n')));
  if (!told.empty()) say(told.back() == '\n' ? told.substr(0, told.size() - 1) : told);
}

Result<Profile> ReadAll(const std::vector<std::string>& sources, const OpenOptions& open,
                        const ReadOptions& read, const Say& say, ModuleSources* servers) {
  std::vector<Profile> profiles;
  bool remote = false;
  const auto take = [&](Result<Recording> opened) -> Status {
    HG_ASSIGN(Recording recording, std::move(opened));
    HG_ASSIGN(Profile profile, recording.ReadProfile(read));
    CoverAddresses(&profile);
    if (recording.url()) {
      AddModuleSources(profile, *recording.url(), servers);
      remote = true;
    }
    profiles.push_back(std::move(profile));
    return {};
  };
  Status taken;
  Recording::OpenEach(sources, open, [&](Result<Recording> opened) {
    if (taken) taken = take(std::move(opened));
  });
  HG_TRY(taken);
  if (profiles.size() == 1) {
    if (remote) KeepCopy(profiles.front(), say);
    return std::move(profiles.front());
  }
  HG_ASSIGN(Profile merged, MergeProfiles(std::move(profiles)));
  if (remote) KeepCopy(merged, say);
  return merged;
}

// Asks the server for names and for the program, as the tools do when there is no program here.
void AskServer(const PprofCommandLine& line, const ModuleSources& servers, const Say& say,
               perl::Options* options, Profile* profile) {
  HttpOptions http = OpenOptionsOf(line.source, nullptr).http;
  const AskForNames ask = [&http](const Url& url, const std::string& addresses) {
    return HttpPost(url, addresses, http);
  };
  if (const Status named = NameByServers(servers, false, ask, profile); !named) {
    say(named.error().message);
  }
  if (servers.empty() || servers.begin()->second.empty()) return;
  Url url = SymbolUrlOf(servers.begin()->second.front().url);
  url.path = url.path.substr(0, url.path.rfind('/')) + "/cmdline";
  const auto command = HttpGet(url, http);
  if (command)
    options->program = command->substr(0, command->find_first_of(std::string("\0\n", 2)));
}

struct Way {
  pprof::Delivery delivery = pprof::Delivery::kText;
  const char* picture = nullptr;
  const char* viewer = "";
};

Way WayOf(perl::Report report) {
  switch (report) {
    case perl::Report::kPs:
      return {pprof::Delivery::kText, "ps", ""};
    case perl::Report::kPdf:
      return {pprof::Delivery::kText, "pdf", ""};
    case perl::Report::kSvg:
      return {pprof::Delivery::kText, "svg", ""};
    case perl::Report::kGif:
      return {pprof::Delivery::kText, "gif", ""};
    case perl::Report::kGv:
      return {pprof::Delivery::kViewer, "ps", "gv --noantialias"};
    case perl::Report::kEvince:
      return {pprof::Delivery::kViewer, "pdf", "evince"};
    case perl::Report::kWeb:
      return {pprof::Delivery::kViewer, "svg", "browser"};
    case perl::Report::kWeblist:
      return {pprof::Delivery::kViewer, nullptr, "browser"};
    default:
      return {};
  }
}

// Runs `write` with the two sinks, then brings what it wrote to its place.
template <typename Write>
Status Produce(perl::Report report, bool in_shell, const std::string& output, const Say& say,
               const Write& write) {
  StringSink told;
  const Way way = WayOf(report);
  Status status;
  if (way.picture == nullptr && way.delivery == pprof::Delivery::kText && output.empty()) {
    DescriptorSink out(STDOUT_FILENO, "standard output");
    status = write(&out, &told);
    const Status finished = out.Finish();
    if (status && !finished) status = finished;
    if (out.closed()) status = {};
  } else {
    StringSink text;
    status = write(&text, &told);
    std::string data = text.Take();
    if (status && way.picture != nullptr) {
      std::vector<std::string> notes;
      HG_ASSIGN(data, RenderDot(data, way.picture, &notes));
      for (const std::string& note : notes) say(note);
    }
    if (status) {
      const char* extension = way.picture != nullptr ? way.picture : "html";
      status = DeliverText(data, way.delivery, extension, way.viewer, {output, in_shell, say});
    }
  }
  std::string lines = told.Take();
  if (!lines.empty() && lines.back() == '\n') lines.pop_back();
  if (!lines.empty()) say(lines);
  return status;
}

int RunSymbols(const perl::Options& options, const Say& say) {
  const auto input = ReadWholeFile("/dev/stdin", size_t{64} << 20);
  if (!input) return FailWith(input.error());
  const SymbolizeOptions symbolize;
  const Status status = Produce(options.report, false, "", say, [&](TextSink* out, TextSink* err) {
    return perl::WriteSymbols(*input, options, symbolize, out, err);
  });
  return status ? kDone : FailWith(status.error());
}

int RunShell(perl::Session session, const perl::Options& options, const Say& say) {
  const bool jeprof = options.tool == perl::Tool::kJeprof;
  say(std::string("Welcome to ") + (jeprof ? "jeprof" : "pprof") + "!  For help, type 'help'.");
  PromptReader reader(
      jeprof ? "(jeprof) " : "(pprof) ",
      [](const std::string& line) { return PerlCompletions(line); }, STDERR_FILENO);
  while (const auto line = reader.Read()) {
    const PerlStep step = ParsePerlLine(*line, options);
    if (step.quit) break;
    for (const std::string& message : step.messages) say(message);
    if (!step.report) continue;
    const Status status = Produce(
        step.report->report, true, step.output, say,
        [&](TextSink* out, TextSink* err) { return session.Write(*step.report, out, err); });
    if (!status) say(status.error().message);
  }
  return kDone;
}

}  // namespace

int RunAsPerlTool(const PprofCommandLine& line, const Say& say) {
  perl::Options options = line.perl;
  options.tool = ToolFor(line);
  if (options.report == perl::Report::kSymbols) return RunSymbols(options, say);
  if (!line.source.program.empty()) Announce(line.source.program, false, say);
  for (const std::string& source : line.source.sources) Announce(source, true, say);

  OpenOptions open = OpenOptionsOf(line.source, say);
  open.default_path = "/pprof/profile";
  ReadOptions read;
  read.text.dialect =
      options.tool == perl::Tool::kJeprof ? TextDialect::kJeprof : TextDialect::kGooglePprof;
  if (!options.thread.empty()) read.text.thread = "*";
  ModuleSources servers;
  auto profile = ReadAll(line.source.sources, open, read, say, &servers);
  if (!profile) return FailWith(profile.error());
  std::optional<Profile> base;
  if (!line.source.bases.empty()) {
    auto bases = ReadAll(line.source.bases, open, read, say, &servers);
    if (!bases) return FailWith(bases.error());
    base = *std::move(bases);
  }
  for (const std::string& note : profile->notes) say(note);
  if (!servers.empty() && options.program.empty()) {
    AskServer(line, servers, say, &options, &*profile);
  }

  const SymbolizeOptions symbolize;
  perl::Session session(*std::move(profile), std::move(base), options, symbolize);
  const bool shell =
      line.perl_interactive || (!line.perl_report_given && isatty(STDOUT_FILENO) == 1);
  if (shell) return RunShell(std::move(session), options, say);
  const Status status = Produce(options.report, false, "", say, [&](TextSink* out, TextSink* err) {
    return session.Write(options, out, err);
  });
  return status ? kDone : FailWith(status.error());
}

}  // namespace heapgauge::cli
