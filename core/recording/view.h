// What is asked of a recording: which moment or range, which blocks, which figure, and which rows
// of the profile that these make. ViewFields() has each field once: its name, help and words.
// Options of commands, parameters of the API and keys of caches come from it.
//
//   HG_ASSIGN(read.question, QuestionOf(view));
//   const std::string key = KeyOf(view, kProfileFields);
//
// Plain data and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/gauge/gauge_reader.h"
#include "core/trace/answer/trace_question.h"

namespace heapgauge {

struct View {
  bool peak = false;
  Inherited inherited = Inherited::kInclude;
  ProfileKind kind = ProfileKind::kHeap;
  std::string type;  // sample type; "" the profile's own
  // Of a trace, as written, because only the trace can read a moment; "" not given.
  std::string at, from, to;
  std::string value;
  bool blocks = false;
  std::string least_size, greatest_size;
  std::string least_lifetime, greatest_lifetime;
  std::string temporary, thread;
  bool freed = false, not_freed = false;
  bool by_realloc = false;
  bool with_mappings = false;
  std::vector<std::string> live_at;
  // Regular expressions.
  std::string stack, not_stack;
  std::string function, not_function;
  std::string module, not_module;
  std::string source_file, not_source_file;
  // Of the profile that the fields above make.
  std::string focus, ignore;
  std::optional<SortKey> sort;  // none: what the profile is about
  Granularity granularity = Granularity::kFunctions;
  Names names = Names::kShort;
};

// What a field is about.
enum ViewPart : uint32_t {
  kPeakField = 1,
  kGaugeFields = 2,  // inherited, kind
  kTypeField = 4,
  kMomentField = 8,    // at
  kRangeFields = 16,   // from, to
  kValueFields = 32,   // value, blocks
  kBlockFields = 64,   // which blocks: min-size, thread, stack, ...
  kStackFields = 128,  // focus, ignore
  kSortField = 256,
  kGranularityField = 512,
  kNamesField = 1024,
  // Of traces.
  kTraceFields = kMomentField | kRangeFields | kValueFields | kBlockFields,
  // What decides which profile it is, and what decides its rows and their order.
  kProfileFields = kPeakField | kGaugeFields | kTypeField | kTraceFields,
  kRowFields = kStackFields | kSortField | kGranularityField,
};

struct ViewField {
  using Text = std::string View::*;
  using Texts = std::vector<std::string> View::*;  // given once or more
  using Flag = bool View::*;
  // An enum, whose values are the places of its words.
  struct Choice {
    std::span<const char* const> words;
    void (*set)(size_t word, View* view);
    size_t (*word)(const View& view);  // SIZE_MAX: none
  };

  std::string_view name;  // "min-size"
  ViewPart part;
  std::variant<Choice, Text, Texts, Flag> value;
  const char* help;

  // False if the text is none of the words, or of a flag neither 1 nor 0.
  bool Set(std::string_view text, View* view) const;
  // As text; nothing if it is as by default.
  std::vector<std::string> Given(const View& view) const;
};

// In the order in which --help lists them.
std::span<const ViewField> ViewFields();

// The fields of these parts as text; equal texts ask the same. "" all are as by default.
std::string KeyOf(const View& view, uint32_t parts);

// What is asked of a trace, without `peak` and `kind`, which other files have too. Fails with the
// field that cannot be read.
Result<trace::Question> QuestionOf(const View& view);
// Only which blocks.
Result<trace::Question> BlocksOf(const View& view);

}  // namespace heapgauge
