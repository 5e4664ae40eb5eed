#include "endpoint/dialects/gperftools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/base/numbers.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/fold/frames.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/report/recording_text.h"
#include "endpoint/base/route.h"
#include "endpoint/dialects/displays.h"

namespace heapgauge::endpoint {
namespace {

constexpr const char* kHasSymbols = "num_symbols: 1\n";

// One line; the end of a line would begin an answer for another address.
std::string Line(const std::string& name) {
  std::string text = Printable(name);
  return text.empty() ? "?" : text;
}

bool TakesChains(const Request& request) {
  return request.Header("Content-Type").starts_with("application/x-www-form-urlencoded");
}

// Lines for all addresses in `text`.
Reply Names(const Call& call, std::string_view text, std::string opening, char between) {
  const auto addresses = ParseAddresses(text);
  if (!addresses) {
    return ErrorText(413, fmt::format("more than {} addresses; ask in parts", kMostAddresses));
  }
  const bool chains = TakesChains(call.request);
  std::string answer = std::move(opening);
  const auto names = call.process->NamesOf(*addresses);
  for (size_t i = 0; i < addresses->size() && i < names.size(); ++i) {
    if (names[i].empty()) continue;
    fmt::format_to(std::back_inserter(answer), "0x{:x}{}{}\n", (*addresses)[i], between,
                   chains ? ChainText(names[i]) : SingleName(names[i]));
    if (answer.size() > call.limits.response_bytes) {
      return ErrorText(413, "the names are too long for one answer; ask in parts");
    }
  }
  return PlainText(200, std::move(answer));
}

}  // namespace

std::optional<std::vector<uint64_t>> ParseAddresses(std::string_view text) {
  std::vector<uint64_t> addresses;
  constexpr std::string_view kBetween = "+ \t\r\n,'\"";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return addresses;
    std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
    const uint64_t address = NumberIn<uint64_t>(word, 16).value_or(0);
    if (address == 0) continue;
    if (addresses.size() == kMostAddresses) return {};
    addresses.push_back(address);
  }
}

std::string ChainText(const std::vector<std::string>& innermost_first) {
  std::string text;
  for (size_t i = innermost_first.size(); i-- > 0;) {
    std::string name = Line(innermost_first[i]);
    for (size_t at = name.find("--"); at != std::string::npos; at = name.find("--", at)) {
      name.replace(at, 2, "- -");
    }
    // A dash at the end would join those that follow.
    if (i != 0 && name.back() == '-') name += ' ';
    text += name;
    if (i != 0) text += "--";
  }
  return text;
}

std::string SingleName(const std::vector<std::string>& innermost_first) {
  for (const std::string& name : innermost_first) {
    if (!IsAllocationFunction(name)) return Line(name);
  }
  return Line(innermost_first.back());
}

Reply GperftoolsSymbol(const Call& call) {
  if (call.request.method == "POST") return Names(call, call.request.body, "", '\t');
  return PlainText(200, kHasSymbols);
}

Reply GoSymbol(const Call& call) {
  const bool post = call.request.method == "POST";
  return Names(call, post ? call.request.body : call.request.query, kHasSymbols, ' ');
}

namespace {

std::string Comments(const Profile& profile) {
  const RecordingFacts& recording = profile.recording;
  if (!IsRecorded(recording)) return {};
  return fmt::format("# {} pid {} {}: 1 sample in {}, {} samples, {} live, {} lost\n",
                     Printable(recording.name()), recording.pid, StateText(recording),
                     FormatBytes(static_cast<double>(recording.interval_in_force)),
                     recording.samples, recording.live_samples, recording.lost_samples());
}

void InsertBehindFirstLine(const std::string& lines, std::string* text) {
  const size_t end = text->find('\n');
  if (end != std::string::npos) text->insert(end + 1, lines);
}

// Names are not needed: clients ask for them by address.
Result<std::shared_ptr<const Profile>> TakePlain(const Call& call, Wanted wanted) {
  HG_ASSIGN(Engine* const engine, call.ChosenEngine());
  if (engine != nullptr) return TakeNamed(call, wanted);
  return call.process->Take(Moment::kNow);
}

Reply TextReply(const Call& call, Wanted wanted, Result<std::string> (*write)(const Profile&)) {
  const auto profile = TakePlain(call, wanted);
  if (!profile) return FailureOf(profile.error());
  auto text = write(**profile);
  if (!text) return FailureOf(text.error());
  return PlainText(200, *std::move(text));
}

Reply GperftoolsHeap(const Call& call) {
  if (call.Parameter("display")) return DisplayHeap(call);
  return TextReply(call, Wanted::kHeap, HeapPage);
}

Reply Growth(const Call& call) { return TextReply(call, Wanted::kGrowth, GrowthPage); }

Reply GperftoolsCommandLine(const Call& call) {
  const auto facts = call.process->Facts();
  if (!facts) return FailureOf(facts.error());
  return PlainText(200, CommandLine(*facts, '\n') + "\n");
}

constexpr Route kGperftoolsRoutes[] = {
    {"pprof/heap", "GET, HEAD", GperftoolsHeap, true,
     "live heap as text, for jeprof, google-pprof and go tool pprof"},
    {"pprof/growth", "GET, HEAD", Growth, true, "all allocations as text, frees not subtracted"},
    {"pprof/cmdline", "GET, HEAD", GperftoolsCommandLine, true, "arguments, one in a line"},
    {"pprof/symbol", "GET, HEAD, POST", GperftoolsSymbol, true, "names of addresses (POST)", true},
    {"symbolz", "GET, HEAD, POST", GperftoolsSymbol, true, "", true},
};

}  // namespace

std::string TellApart(std::string text) {
  long long objects = 0;
  long long bytes = 0;
  long long all_objects = 0;
  long long all_bytes = 0;
  int behind = 0;
  const int read = std::sscanf(text.c_str(), "heap profile: %lld: %lld [%lld: %lld]%n", &objects,
                               &bytes, &all_objects, &all_bytes, &behind);
  if (read != 4 || behind == 0) return text;
  if ((all_objects != objects || all_bytes != bytes) && all_objects != 0 && all_bytes != 0) {
    return text;
  }
  return fmt::format("heap profile: {:6}: {:8} [{:6}: {:8}]{}", objects, bytes,
                     std::max(objects, all_objects) + 1, std::max(bytes, all_bytes) + 1,
                     std::string_view(text).substr(static_cast<size_t>(behind)));
}

Result<std::string> HeapPage(const Profile& profile) {
  StringSink sink;
  HG_TRY(WriteHeapText(profile, {}, &sink));
  std::string text = TellApart(sink.Take());
  InsertBehindFirstLine(Comments(profile), &text);
  return text;
}

Result<std::string> GrowthPage(const Profile& profile) {
  const size_t types = profile.sample_types.size();
  size_t objects = profile.FindType("alloc_objects");
  size_t space = profile.FindType("alloc_space");
  // tcmalloc's own growth is told in these alone.
  if (objects == types) objects = profile.FindType("objects");
  if (space == types) space = profile.FindType("space");
  if (objects == types || space == types) {
    return Fail(ErrorCode::kUnsupported,
                "this profile does not tell what was allocated, only what is in use");
  }
  // A heap that never frees: its blocks in use are all that were allocated.
  Profile grown = profile;
  grown.sample_types = {{"inuse_objects", "count"}, {"inuse_space", "bytes"}};
  grown.values.resize(profile.rows.size() * 2);
  grown.estimates.clear();
  grown.blocks.clear();
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    grown.value(row, 0) = profile.value(row, objects);
    grown.value(row, 1) = profile.value(row, space);
  }
  StringSink sink;
  TextWriteOptions exact;
  exact.rate = 1;
  HG_TRY(WriteHeapText(grown, exact, &sink));
  std::string text = sink.Take();
  constexpr std::string_view kKind = "@ heapprofile\n";
  if (const size_t at = text.find(kKind); at < text.find('\n')) {
    text.replace(at, kKind.size(), "@ growth\n");
  }
  InsertBehindFirstLine(Comments(profile), &text);
  return text;
}

std::string CommandLine(const RecordingFacts& recording, char between) {
  std::string text = Join(recording.command_line, {&between, 1});
  if (text.empty()) text = recording.program;
  return text.empty() ? "unknown" : text;
}

std::span<const Route> GperftoolsRoutes() { return kGperftoolsRoutes; }

}  // namespace heapgauge::endpoint
