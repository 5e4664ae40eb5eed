#include "cli/report_options.h"

#include <span>

#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

constexpr const char* kGroup = "Options for traces (run --trace)";

struct TextOption {
  const char* name;
  std::string TraceOptions::*value;
  const char* help;
};

constexpr TextOption kPatterns[] = {
    {"--stack", &TraceOptions::stack,
     "blocks whose stack has a function, source file or module that matches (RE2)"},
    {"--not-stack", &TraceOptions::not_stack, "blocks whose stack has none"},
    {"--function", &TraceOptions::function, "blocks with such a function on their stack"},
    {"--not-function", &TraceOptions::not_function, "blocks without"},
    {"--module", &TraceOptions::module, "blocks with such an executable or library on their stack"},
    {"--not-module", &TraceOptions::not_module, "blocks without"},
    {"--source", &TraceOptions::source, "blocks with such a source file on their stack"},
    {"--not-source", &TraceOptions::not_source, "blocks without"},
};

constexpr TextOption kLimits[] = {
    {"--min-size", &TraceOptions::least_size, "blocks of this size and larger"},
    {"--max-size", &TraceOptions::greatest_size, "blocks of this size and smaller"},
    {"--min-lifetime", &TraceOptions::least_lifetime,
     "blocks that lived so long (10ms, 2s); what is never freed lives to the end"},
    {"--max-lifetime", &TraceOptions::greatest_lifetime, "blocks that did not live longer"},
    {"--temporary", &TraceOptions::temporary,
     "blocks that their thread freed within so many allocations of its own; 0: before the next"},
    {"--thread", &TraceOptions::thread, "blocks that this thread allocated: ID or name (RE2)"},
};

void AddFilterOptions(Command sub, TraceOptions* options) {
  for (const TextOption& limit : kLimits) {
    sub.Add(limit.name, &(options->*limit.value), limit.help).NotEmpty().InGroup(kGroup);
  }
  const Option freed =
      sub.Flag("--freed", &options->freed, "blocks that were freed").InGroup(kGroup);
  sub.Flag("--not-freed", &options->not_freed, "blocks that were never freed")
      .Excludes(freed)
      .InGroup(kGroup);
  sub.Flag("--realloc", &options->by_realloc, "blocks that realloc made, or made into another")
      .InGroup(kGroup);
  sub.Flag("--mmap-blocks", &options->with_mappings,
           "ranges that the program mapped count too (run --trace --mmap)")
      .InGroup(kGroup);
  sub.Add("--live-at", &options->live_at,
          "blocks that were live at this moment (may be given several times)")
      .OneEachTime()
      .NotEmpty()
      .InGroup(kGroup);
  for (const TextOption& pattern : kPatterns) {
    sub.Add(pattern.name, &(options->*pattern.value), pattern.help).NotEmpty().InGroup(kGroup);
  }
}

}  // namespace

void AddTraceOptions(Command sub, TraceOptions* options, uint32_t which) {
  if ((which & kMomentOptions) != 0) {
    sub.Add("--at", &options->at,
            "what is live at a moment: 12.3s, 250ms, 2:30, 40%, peak, end, peak-100ms")
        .NotEmpty()
        .InGroup(kGroup);
  }
  if ((which & (kMomentOptions | kRangeOptions)) != 0) {
    sub.Add("--from", &options->from, "a range of time: what happened after this moment")
        .NotEmpty()
        .InGroup(kGroup);
    sub.Add("--to", &options->to, "up to and including this one; the end of the trace by default")
        .NotEmpty()
        .InGroup(kGroup);
  }
  if ((which & kValueOptions) != 0) {
    sub.Add("--value", &options->value,
            "what to count in the range: live (at its end), peak (where most was live in it), "
            "allocated, freed, growth, temporary (freed before the thread allocates again), "
            "lifetime (bytes times seconds), left (allocated in it and live at its end), "
            "never-freed (allocated in it and never freed). Sampled programs and profiles that "
            "count all allocations tell freed as well")
        .NotEmpty()
        .InGroup(kGroup);
    sub.Flag("--blocks", &options->blocks, "count blocks in place of bytes").InGroup(kGroup);
  }
  if ((which & kFilterOptions) != 0) AddFilterOptions(sub, options);
}

std::string FirstFilterOption(const TraceOptions& options) {
  for (const std::span<const TextOption> list :
       {std::span<const TextOption>(kLimits), std::span<const TextOption>(kPatterns)}) {
    for (const TextOption& option : list) {
      const std::string& value = options.*option.value;
      if (!value.empty()) return std::string(option.name) + " " + Printable(value);
    }
  }
  if (!options.live_at.empty()) return "--live-at " + Printable(options.live_at.front());
  return options.freed           ? "--freed"
         : options.not_freed     ? "--not-freed"
         : options.by_realloc    ? "--realloc"
         : options.with_mappings ? "--mmap-blocks"
                                 : "";
}

Result<trace::Question> QuestionOf(const TraceOptions& options, const std::string& kind) {
  HG_ASSIGN(trace::Question question, QuestionOf(options));
  if (kind == "mmap") question.filter.mappings = true;
  return question;
}

}  // namespace heapgauge::cli
