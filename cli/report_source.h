// How SOURCE becomes a profile with names, as a report of ours or pprof's takes it, where the
// result goes, and how reports describe their options to the parser.
//
// Single-threaded.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "cli/report_options.h"
#include "cli/terminal.h"
#include "core/base/sinks.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/recording/recording.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"
#include "core/symbolize/frame_cache.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::cli {

struct Loaded {
  Profile profile;
  std::vector<std::string> sources;  // as they are meant (Recording::spec)
  // What is missing in it (profile.notes), then what stood in the way of names. Output without them
  // leaves it to TellNotes to tell the former.
  std::vector<std::string> notes;
};

// Finds, reads and symbolizes the profile that the options name. With a cache, names that it knows
// are not looked up again, and new ones are added. `opened` is the one SOURCE, if somebody has
// opened it before.
Result<Loaded> Load(const ReportOptions& options, FrameCache* cache = nullptr,
                    Recording* opened = nullptr);

// The error, beginning with the sources that it is about.
Error About(const std::vector<std::string>& sources, Error error);

// Where the report goes to.
Terminal Target(const ReportOptions& options);

// A report may take the place of an older one, never that of a recording: a user who mixes up two
// names must not lose it.
Status MayReplace(const std::string& output);
// Writes a report to where -o says, or to standard output; marks become colour on a terminal.
int Deliver(const ReportOptions& options, const std::string& data);
int Deliver(const ReportOptions& options, const StyledText& text);
// The same for a report that is written piece by piece. A reader that goes away (| head) stops it
// without an error.
int DeliverBy(const ReportOptions& options, const std::function<Status(TextSink*)>& write);

// What is missing in a profile or trace, on standard error: for output that has no place for it.
void TellNotes(const std::vector<std::string>& notes);

// The options that all reports have. One that is about functions of a name takes it before SOURCE:
// `pattern` is what its help calls it. `several`: what becomes of more than one SOURCE.
void DescribeReport(Command sub, Action* action, int (*run)(const ReportOptions&),
                    const char* footer, std::shared_ptr<ReportOptions> options,
                    const char* pattern = nullptr, const char* pattern_help = "",
                    const char* several = "several are added up");
// The options of these fields (ViewPart), and one of them with help of its own and its first
// `words` alone.
void AddViewOptions(Command sub, View* view, uint32_t parts);
void AddViewOption(Command sub, View* view, std::string_view field, const char* help,
                   size_t words = SIZE_MAX);
// --functions, --lines, --files, --modules, --addresses, --names
void AddGranularity(Command sub, View* view);
// --source-path, --trim-path: where sources are looked for.
void AddSourcePaths(Command sub, std::string* source_path, std::string* trim_path);
// --sort, -n, --json: the last one
Option AddTable(Command sub, ReportOptions* options);

// Which figure of a profile a report is about: --type and --sort, for profiles of any kind.
struct Sorted {
  Loaded loaded;
  SortKey sort = SortKey::kLive;

  const Profile& profile() const { return loaded.profile; }
};

// Loads the profile, with the sample type that the options ask for as its default one. Fails if it
// has no such type, or nothing to sort by as asked. The rest is as in Load.
Result<Sorted> LoadSorted(const ReportOptions& options, FrameCache* cache = nullptr,
                          Recording* opened = nullptr);

// The same with the rows that --focus and --ignore leave.
struct Selected : Sorted {
  Granularity granularity = Granularity::kFunctions;
  std::vector<bool> rows;
};
Result<Selected> LoadSelected(const ReportOptions& options, Recording* opened = nullptr);

// For formats that have no place for less than nothing: says on standard error how much the stacks
// lost that they leave out, those of a change that shrank. Nothing if there are none.
void TellShrunk(const Profile& profile, const std::vector<bool>& rows, size_t type);

// --csv
void AddCsv(Command sub, Option json, ReportOptions* options);

// Loads the profile and prepares a report that is made of pprof's call graph, under our own
// options: pictures, callgrind, raw, list. Which frames are left out and what functions are called
// is as in all other native reports.
Result<pprof::ReportInput> PrepareReport(const ReportOptions& options, pprof::ReportKind kind);

// -n, --functions and its kin without modules, --cum, --names
void AddGraphOptions(Command sub, ReportOptions* options);

}  // namespace heapgauge::cli
