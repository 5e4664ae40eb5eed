#include "core/trace/answer/trace_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/function_name.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/trace/answer/trace_moment.h"
#include "wire/gauge_format.h"

namespace heapgauge::trace {
namespace {

// What a pattern may be found in.
enum Where : uint32_t { kFunctions = 1, kSources = 2, kModules = 4 };

// Which locations a pattern means.
std::vector<bool> MatchLocations(const Profile& profile, const Regex& regex, uint32_t where) {
  std::vector<bool> functions(profile.functions.size());
  for (size_t i = 0; i < functions.size(); ++i) {
    const Function& function = profile.functions[i];
    functions[i] = ((where & kFunctions) != 0 && MatchesFunction(regex, function.name)) ||
                   ((where & kSources) != 0 && regex.Matches(function.file));
  }
  std::vector<bool> modules(profile.modules.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    modules[i] = (where & kModules) != 0 && regex.Matches(profile.modules[i].path);
  }
  std::vector<bool> locations(profile.locations.size());
  for (size_t i = 0; i < locations.size(); ++i) {
    const Location& location = profile.locations[i];
    locations[i] = location.module != kNone && modules[location.module];
    for (uint32_t f = 0; f < location.frame_count && !locations[i]; ++f) {
      const FunctionId function = profile.frames[location.first_frame + f].function;
      locations[i] = function != kNone && functions[function];
    }
  }
  return locations;
}

// Clears the stacks that have such a frame, or those that do not.
Status Require(const TraceFile::Stacks& stacks, const std::string& pattern, uint32_t where,
               bool present, std::vector<bool>* keep) {
  if (pattern.empty()) return {};
  HG_ASSIGN(const Regex regex, Regex::CompileTyped(pattern));
  const std::vector<bool> locations = MatchLocations(stacks.profile, regex, where);
  // Callers have smaller numbers, so one pass tells for each path whether a frame of it matches.
  const std::vector<Node>& nodes = stacks.profile.nodes;
  std::vector<bool> paths(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    paths[i] = (nodes[i].parent != kNone && paths[nodes[i].parent]) ||
               (nodes[i].location != kNone && locations[nodes[i].location]);
  }
  for (size_t i = 0; i < keep->size(); ++i) {
    const NodeId leaf = i < stacks.stacks.size() ? stacks.stacks[i].leaf : kNone;
    if ((leaf != kNone && paths[leaf]) != present) (*keep)[i] = false;
  }
  return {};
}

// One line for each pattern of a filter.
struct Pattern {
  const char* name;
  std::string BlockFilter::*text;
  uint32_t where;
  bool present;
};
constexpr Pattern kPatterns[] = {
    {"stack", &BlockFilter::stack, kFunctions | kSources | kModules, true},
    {"stack", &BlockFilter::not_stack, kFunctions | kSources | kModules, false},
    {"function", &BlockFilter::function, kFunctions, true},
    {"function", &BlockFilter::not_function, kFunctions, false},
    {"module", &BlockFilter::module, kModules, true},
    {"module", &BlockFilter::not_module, kModules, false},
    {"source", &BlockFilter::source, kSources, true},
    {"source", &BlockFilter::not_source, kSources, false},
};

std::string BirthText(const TraceRange& range) {
  const std::string from = FormatMoment(range.from);
  const std::string to = FormatMoment(range.to);
  if (range.from.is_start()) return "allocated up to " + to;
  if (range.to.is_end()) return "allocated after " + from;
  return fmt::format("allocated after {}, up to {}", from, to);
}

// The call tells more than the links: what a block was made of may have been left out of the trace.
bool IsOfRealloc(const Block& block) {
  return block.previous != kNoBlock || block.resized_away ||
         block.function == static_cast<uint8_t>(wire::AllocationFunction::kRealloc);
}

}  // namespace

bool BlockFilter::asks_about_stacks() const {
  return std::any_of(std::begin(kPatterns), std::end(kPatterns),
                     [this](const Pattern& pattern) { return !(this->*pattern.text).empty(); });
}

bool BlockFilter::asks_about_times() const { return !born.is_whole() || !live_at.empty(); }

bool BlockFilter::asks_about_fate() const {
  return !live_at.empty() || least_lifetime_ns != 0 || greatest_lifetime_ns != UINT64_MAX ||
         freed || temporary_within || by_realloc;
}

bool BlockFilter::only_time_and_stacks() const {
  return least_size == 0 && greatest_size == UINT64_MAX && least_lifetime_ns == 0 &&
         greatest_lifetime_ns == UINT64_MAX && !freed && !temporary_within && !by_realloc &&
         threads.empty() && thread_name.empty();
}

std::string BlockFilter::Text() const {
  std::vector<std::string> parts;
  const auto bytes = [](uint64_t size) { return FormatBytes(static_cast<double>(size)); };
  if (!mappings) parts.emplace_back("heap blocks and mappings");
  if (mappings && *mappings) parts.emplace_back("mappings");
  if (least_size != 0) parts.push_back("at least " + bytes(least_size));
  if (greatest_size != UINT64_MAX) parts.push_back("at most " + bytes(greatest_size));
  if (least_lifetime_ns != 0) {
    parts.push_back("lived at least " + FormatMoment(least_lifetime_ns));
  }
  if (greatest_lifetime_ns != UINT64_MAX) {
    parts.push_back("lived at most " + FormatMoment(greatest_lifetime_ns));
  }
  if (!born.is_whole()) parts.push_back(BirthText(born));
  for (const TraceMoment& at : live_at) parts.push_back("live at " + FormatMoment(at));
  if (freed) parts.emplace_back(*freed ? "freed" : "never freed");
  if (temporary_within) {
    parts.push_back(*temporary_within == 0
                        ? "freed before the thread's next allocation"
                        : fmt::format("freed within {} allocations of the thread",
                                      FormatCount(static_cast<double>(*temporary_within))));
  }
  if (by_realloc) parts.emplace_back(*by_realloc ? "by realloc" : "not by realloc");
  if (!threads.empty()) parts.push_back(fmt::format("thread {}", fmt::join(threads, ", ")));
  if (!thread_name.empty()) parts.push_back("thread ~ " + Printable(thread_name));
  for (const Pattern& pattern : kPatterns) {
    const std::string& text = this->*pattern.text;
    if (text.empty()) continue;
    parts.push_back(
        fmt::format("{}{} ~ {}", pattern.present ? "" : "no ", pattern.name, Printable(text)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> NotesOn(const BlockFilter& filter, const TraceFile& trace) {
  std::vector<std::string> notes;
  if (trace.facts().records_mappings && filter.mappings != std::optional<bool>(false)) {
    notes.emplace_back(
        "what is left of a mapping that was cut, or moved by mremap, counts as a new one: what was "
        "allocated, freed and temporary may be more than the program mapped; live figures are "
        "right");
  }
  if (!trace.facts().records_mappings && filter.mappings == std::optional<bool>(true)) {
    notes.emplace_back("what the program mapped was not recorded: run --trace --mmap does that");
  }
  if (filter.thread_name.empty()) return notes;
  const auto& threads = trace.threads();
  const auto unnamed = std::count_if(threads.begin(), threads.end(), [](const Thread& thread) {
    return thread.id != 0 && thread.name.empty();
  });
  if (unnamed == 0) return notes;
  notes.push_back(fmt::format(
      "{} {} no known name: --thread leaves {} out", FormatCount(static_cast<double>(unnamed)),
      unnamed == 1 ? "thread has" : "threads have", unnamed == 1 ? "it" : "them"));
  return notes;
}

Result<Matcher> Matcher::Compile(const BlockFilter& filter, const TraceFile& trace,
                                 const TraceFile::Stacks& symbolized) {
  Matcher matcher;
  matcher.filter_ = filter;
  matcher.end_ns_ = trace.end_ns();
  if (!filter.born.from.is_start()) {
    HG_ASSIGN(matcher.born_after_, ExactMoment::Find(trace, filter.born.from));
  }
  if (!filter.born.to.is_end()) {
    HG_ASSIGN(matcher.born_by_, ExactMoment::Find(trace, filter.born.to));
  }
  for (const TraceMoment& at : filter.live_at) {
    HG_ASSIGN(ExactMoment exact, ExactMoment::Find(trace, at));
    matcher.live_at_.push_back(std::move(exact));
  }
  if (filter.asks_about_stacks()) {
    matcher.stacks_.assign(std::max<size_t>(trace.stack_count(), 1), true);
    for (const Pattern& pattern : kPatterns) {
      HG_TRY(Require(symbolized, filter.*pattern.text, pattern.where, pattern.present,
                     &matcher.stacks_));
    }
  }
  if (filter.threads.empty() && filter.thread_name.empty()) return matcher;
  const std::vector<Thread>& threads = trace.threads();
  // One more, so that a trace without threads is not taken for one without a condition.
  matcher.threads_.assign(threads.size() + 1, true);
  matcher.threads_.back() = false;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (!filter.threads.empty() && std::find(filter.threads.begin(), filter.threads.end(),
                                             threads[i].id) == filter.threads.end()) {
      matcher.threads_[i] = false;
    }
  }
  if (!filter.thread_name.empty()) {
    HG_ASSIGN(const Regex regex, Regex::CompileTyped(filter.thread_name));
    for (size_t i = 0; i < threads.size(); ++i) {
      if (!regex.Matches(threads[i].name)) matcher.threads_[i] = false;
    }
  }
  return matcher;
}

bool Matcher::MatchesRest(const Block& block) const {
  const BlockFilter& f = filter_;
  if (!CountsIn(block, f.mappings)) return false;
  if (block.size < f.least_size || block.size > f.greatest_size) return false;
  if (born_after_ && born_after_->HasBegun(block)) return false;
  if (born_by_ && !born_by_->HasBegun(block)) return false;
  if (f.freed && *f.freed == block.is_live()) return false;
  if (f.temporary_within && (block.distance == kForeign || block.distance > *f.temporary_within)) {
    return false;
  }
  if (f.by_realloc && *f.by_realloc != IsOfRealloc(block)) return false;
  const uint64_t lifetime = block.lifetime_ns(end_ns_);
  if (lifetime < f.least_lifetime_ns || lifetime > f.greatest_lifetime_ns) return false;
  return std::all_of(live_at_.begin(), live_at_.end(), [&](const ExactMoment& at) {
    return at.HasBegun(block) && !at.HasEnded(block);
  });
}

}  // namespace heapgauge::trace
