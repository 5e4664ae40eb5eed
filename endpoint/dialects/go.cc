// Go's net/http/pprof: paths, parameters, headers, file names and errors as its clients know them.
// Where Go has one profile under two names, heap and allocs, so have we; they differ in what a
// report shows first.
//
// The clients of gperftools that are written in perl cannot read proto, and cannot be told from a
// person with curl. So /debug/pprof/heap is proto for all, and they are sent to /pprof/heap.

#include "endpoint/dialects/go.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/encode.h"
#include "core/base/numbers.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/fold/frames.h"
#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/formats/text/profile_text.h"
#include "core/os/process.h"
#include "core/report/recording_text.h"
#include "endpoint/base/route.h"
#include "endpoint/dialects/gperftools.h"

namespace heapgauge::endpoint {
namespace {

enum class Kind { kHeap, kAllocs };

const char* WordFor(Kind kind) { return kind == Kind::kHeap ? "heap" : "allocs"; }

// As with Go, what is not a number counts as 0.
bool IsSet(const Call& call, std::string_view name) {
  return NumberIn<int64_t>(call.Parameter(name).value_or("0")).value_or(0) != 0;
}

Response Proto(const Profile& named, Kind kind, const std::string& file_name) {
  PprofWriteOptions options;
  if (IsRecorded(named.recording)) {
    options.drop_frames = AllocationFunctionRegex();
    options.empty_stack = "(unknown stack)";
  }
  StringSink sink;
  Status written;
  const size_t wanted =
      named.FindType(kind == Kind::kAllocs ? std::string_view("alloc_space") : "inuse_space");
  if (wanted == named.DefaultType() || wanted == named.sample_types.size()) {
    written = WritePprof(named, options, &sink);
  } else {
    Profile other = named;
    other.default_type = wanted;
    written = WritePprof(other, options, &sink);
  }
  if (!written) return FailureOf(written.error());
  return {200,
          {{"Content-Type", "application/octet-stream"},
           {"Content-Disposition", fmt::format("attachment; filename=\"{}\"", file_name)}},
          sink.Take()};
}

Reply Delta(const Call& call, Kind kind, std::string_view text) {
  const auto seconds = NumberIn<int64_t>(text);
  if (!seconds || *seconds <= 0) {
    return ErrorText(400, "invalid value for \"seconds\" - must be a positive integer");
  }
  if (*seconds > call.limits.seconds) {
    return ErrorText(400, fmt::format("profile duration exceeds the server's limit of {} seconds",
                                      call.limits.seconds));
  }
  if (IsSet(call, "debug")) {
    return ErrorText(400, "seconds and debug params are incompatible");
  }
  const auto engine = call.ChosenEngine();
  if (!engine) return FailureOf(engine.error());
  if (*engine != nullptr) {
    return ErrorText(400, "\"seconds\" is for the native profiler; take two and compare them");
  }
  auto before = call.process->Take(Moment::kNow);
  if (!before) return FailureOf(before.error());
  Reply reply;
  const uint64_t begun = MonotonicNow();
  reply.due_ns = begun + static_cast<uint64_t>(*seconds) * 1'000'000'000;
  reply.later = [process = call.process, first = *std::move(before), kind, begun] {
    const auto after = process->Take(Moment::kNow);
    if (!after) return FailureOf(after.error());
    auto delta = Between(*first, **after);
    if (!delta) return FailureOf(delta.error());
    delta->duration_ns = static_cast<int64_t>(MonotonicNow() - begun);
    process->AddNames(&*delta);
    return Proto(*delta, kind, std::string(WordFor(kind)) + "-delta");
  };
  return reply;
}

Reply Serve(const Call& call, Kind kind) {
  if (const auto seconds = call.Parameter("seconds"); seconds && !seconds->empty()) {
    return Delta(call, kind, *seconds);
  }
  // gc=1 is taken and has nothing to do: a freed block is gone at once.
  const auto profile = TakeNamed(call, Wanted::kHeap);
  if (!profile) return FailureOf(profile.error());
  if (!IsSet(call, "debug")) return Proto(**profile, kind, WordFor(kind));
  auto text = GoText(**profile);
  if (!text) return FailureOf(text.error());
  return PlainText(200, *std::move(text));
}

Reply Heap(const Call& call) { return Serve(call, Kind::kHeap); }
Reply Allocs(const Call& call) { return Serve(call, Kind::kAllocs); }

Reply CommandLinePage(const Call& call) {
  const auto facts = call.process->Facts();
  if (!facts) return FailureOf(facts.error());
  return PlainText(200, CommandLine(*facts, '\0'));
}

struct Listed {
  const char* name;
  const char* text;
  size_t count;
};

Reply Index(const Call& call) {
  if (!call.rest.empty()) {
    if (call.rest == "profile" || call.rest == "trace") {
      return ErrorText(404, "Unknown profile: memory is all there is here, see heap and allocs");
    }
    return ErrorText(404, "Unknown profile");
  }
  const auto profile = call.process->Take(Moment::kNow);
  if (!profile) return FailureOf(profile.error());
  size_t live = 0;
  for (const Row& row : (*profile)->rows) live += row.live_samples != 0 ? 1 : 0;
  const Listed listed[] = {
      {"allocs", "All allocations since the start, sampled; those that were freed count too",
       (*profile)->rows.size()},
      {"cmdline", "The command line of the program", 0},
      {"heap", "Memory in use at this moment, sampled. gc=1 is accepted and does nothing", live},
  };
  std::string page =
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>/debug/pprof/</title>\n"
      "<style>td,th{text-align:left;padding:0 1em 0 0}</style></head>\n<body>\n"
      "<h1>/debug/pprof/</h1>\n<p>Profiles of "
      "process ";
  page += fmt::format(
      "{} ({}). Parameters: debug=1 for text, seconds=N for what changes in N "
      "seconds.</p>\n<table>\n<tr><th>Count</th><th>Profile</th></tr>\n",
      call.process->pid(), EscapeHtml((*profile)->recording.name()));
  for (const Listed& one : listed) {
    page += fmt::format("<tr><td>{}</td><td><a href=\"{}?debug=1\">{}</a></td></tr>\n", one.count,
                        one.name, one.name);
  }
  page += "</table>\n<ul>\n";
  for (const Listed& one : listed) {
    page += fmt::format("<li><b>{}</b>: {}</li>\n", one.name, one.text);
  }
  page += "</ul>\n</body></html>\n";
  return Response{200, {{"Content-Type", "text/html; charset=utf-8"}}, std::move(page)};
}

constexpr Route kGoRoutes[] = {
    {"debug/pprof/", "GET, HEAD", Index, true, "profiles as Go serves them"},
    {"debug/pprof/heap", "GET, HEAD", Heap, true,
     "live heap as gzip profile.proto; debug=1 text; seconds=N difference"},
    {"debug/pprof/allocs", "GET, HEAD", Allocs, true, "the same, allocations shown first"},
    {"debug/pprof/cmdline", "GET, HEAD", CommandLinePage, true, "arguments, NUL in between"},
    {"debug/pprof/symbol", "GET, HEAD, POST", GoSymbol, true, "names of addresses", true},
};

}  // namespace

Result<Profile> Between(const Profile& before, const Profile& after) {
  Profile difference = after;
  if (before.recording.reset_ns == after.recording.reset_ns) {
    std::vector<Profile> both;
    both.push_back(after);
    both.push_back(before);
    ScaleProfile(-1, &both[1]);
    HG_ASSIGN(difference, MergeProfiles(std::move(both)));
  }
  difference.recording = after.recording;
  difference.time_ns = after.time_ns;
  difference.default_type = after.default_type;
  return difference;
}

std::span<const Route> GoRoutes() { return kGoRoutes; }

namespace {

void AppendFigures(CountAndSize in_use, CountAndSize allocated, std::string* text) {
  fmt::format_to(std::back_inserter(*text), "{}: {} [{}: {}] @", in_use.count, in_use.size,
                 allocated.count, allocated.size);
}

// "#<TAB>0x1234<TAB>name<TAB>file:line" for each frame, inlined ones too.
void AppendFrames(const Profile& profile, const std::vector<LocationId>& stack, std::string* text) {
  for (const LocationId id : stack) {
    const Location& location = profile.locations[id];
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const Frame& frame = profile.frames[location.first_frame + i];
      if (frame.function == kNone) continue;
      const Function& function = profile.functions[frame.function];
      fmt::format_to(std::back_inserter(*text), "#\t0x{:x}\t{}", location.address,
                     Printable(function.name));
      if (!function.file.empty()) {
        fmt::format_to(std::back_inserter(*text), "\t{}:{}", Printable(function.file), frame.line);
      }
      *text += '\n';
    }
  }
  *text += '\n';
}

// Go's names for what is known here too.
std::string HeapFiguresText(const Profile& profile) {
  const auto total = [&](size_t type) {
    return static_cast<long long>(std::max(profile.Total(type).value, 0.0));
  };
  std::string text = "\n# runtime.MemStats\n";
  const auto line = [&](const char* name, long long value) {
    text += fmt::format("# {} = {}\n", name, value);
  };
  line("Alloc", total(kInuseSpace));
  line("TotalAlloc", total(kAllocSpace));
  line("Mallocs", total(kAllocObjects));
  line("Frees", std::max(total(kAllocObjects) - total(kInuseObjects), 0LL));
  line("HeapAlloc", total(kInuseSpace));
  line("HeapObjects", total(kInuseObjects));
  if (const uint64_t resident = profile.recording.dump.resident_bytes; resident != 0) {
    line("Sys", static_cast<long long>(resident));
  }
  return text;
}

bool IsHeap(const Profile& profile) {
  const auto types = HeapSampleTypes();
  return profile.sample_types.size() == types.size() &&
         std::equal(types.begin(), types.end(), profile.sample_types.begin(),
                    [](const SampleType& a, const SampleType& b) { return a.name == b.name; });
}

}  // namespace

Result<std::string> GoText(const Profile& named) {
  const TextWriteOptions options;
  HG_ASSIGN(ProfileText source, ProfileText::Make(named, options));
  const TextRow totals = source.Totals();
  std::string text = "heap profile: ";
  AppendFigures(totals.in_use.lines[0], totals.allocated.lines[0], &text);
  text += source.rate() > 1 ? fmt::format(" heap/{}\n", 2 * source.rate()) : " heapprofile\n";
  text = TellApart(std::move(text));
  std::vector<LocationId> stack;
  for (RowId row = 0; row < named.rows.size(); ++row) {
    const TextRow figures = source.Row(row);
    for (size_t i = 0; i < figures.in_use.lines.size(); ++i) {
      const CountAndSize in_use = figures.in_use.lines[i];
      const CountAndSize allocated = figures.allocated.lines[i];
      if (in_use.count == 0 && allocated.count == 0) continue;
      AppendFigures(in_use, allocated, &text);
      source.AppendStack(row, &text);
      text += '\n';
      named.StackOf(row, &stack);
      AppendFrames(named, stack, &text);
    }
  }
  if (IsHeap(named)) text += HeapFiguresText(named);
  // Go has none, since its names are inside; with it, addresses find their modules.
  text += source.Mappings();
  return text;
}

}  // namespace heapgauge::endpoint
