#include "core/report/views/leak_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/json.h"
#include "core/base/short_name.h"
#include "core/base/text.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/suspects.h"
#include "core/report/report_json.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

std::string Signed(double change) {
  return (change < 0 ? "-" : "+") + WithCommas(std::abs(change));
}

// "1,234 (+34)"
std::string Figure(double value, const double* change) {
  std::string text = WithCommas(value);
  if (change != nullptr && *change != 0) text += " (" + Signed(*change) + ")";
  return text;
}

}  // namespace

std::string WithCommas(double count) {
  std::string digits = fmt::format("{:.0f}", std::isfinite(count) ? std::max(count, 0.0) : 0);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string LeakWords::Bytes(const Estimate& bytes, const double* change) const {
  if (exact || bytes.value == 0) return Figure(bytes.value, change) + " bytes";
  std::string text = about() + leaks::EstimateText(bytes, layout.utf8);
  if (change != nullptr && *change != 0) text += " (" + FormatChange(*change, "bytes") + ")";
  return text;
}

std::string LeakWords::Blocks(const Estimate& blocks, const double* change) const {
  if (exact || blocks.value == 0) return Figure(blocks.value, change) + " blocks";
  std::string text = about() + FormatCount(std::round(blocks.value));
  if (change != nullptr && std::round(*change) != 0) {
    text += fmt::format(" ({}{})", *change < 0 ? "-" : "+", FormatCount(std::abs(*change)));
  }
  return text + " blocks";
}

std::string LeakWords::Both(const leaks::Amount& amount, const leaks::LossChange* change) const {
  return Bytes(amount.bytes, change != nullptr ? &change->bytes : nullptr) + " in " +
         Blocks(amount.blocks, change != nullptr ? &change->blocks : nullptr);
}

std::string LeakWords::Lost(const leaks::LossRecord& record,
                            const leaks::LossChange* change) const {
  if (record.indirect.known == 0) return Both(record.own, change);
  const std::string blocks =
      Blocks(record.own.blocks, change != nullptr ? &change->blocks : nullptr);
  Estimate total = record.own.bytes;
  total.Add(record.indirect.bytes);
  const double sum = change != nullptr ? change->bytes + change->indirect_bytes : 0;
  if (!exact) return Bytes(total, change != nullptr ? &sum : nullptr) + " in " + blocks;
  return fmt::format(
      "{} ({} direct, {} indirect) bytes in {}",
      Figure(total.value, change != nullptr ? &sum : nullptr),
      Figure(record.own.bytes.value, change != nullptr ? &change->bytes : nullptr),
      Figure(record.indirect.bytes.value, change != nullptr ? &change->indirect_bytes : nullptr),
      blocks);
}

std::string LeakWords::Roughly(const Estimate& bytes) const {
  return exact ? FormatBytes(bytes.value) : "about " + leaks::EstimateText(bytes, layout.utf8);
}

namespace {

using leaks::StackFrame;

// "(session_store.cc:16)", "(in libfoo.so)"; as memcheck has it with whole paths of modules.
std::string PlaceOfFrame(const Profile& profile, const StackFrame& frame, bool named, bool whole) {
  const Function* function = FunctionOf(profile, frame);
  const Module* module = ModuleOf(profile, frame);
  const uint64_t address = profile.locations[frame.location].lookup_address();
  if (named && !function->file.empty()) {
    const uint32_t line = profile.frames[frame.frame].line;
    const std::string file = Printable(BaseName(function->file));
    return line != 0 ? fmt::format("({}:{})", file, line) : "(" + file + ")";
  }
  if (module == nullptr || module->path.empty()) {
    return named ? "" : fmt::format("(0x{:x})", address);
  }
  if (whole) return "(in " + Printable(module->path) + ")";
  const std::string file = Printable(BaseName(module->path));
  if (named) return "(in " + file + ")";
  return fmt::format("(in {}+0x{:x})", file, address - module->load_bias);
}

void AddFrame(const Profile& profile, const StackFrame& frame, const std::string& lead,
              const LeaksOptions& options, StyledText* text) {
  const Function* function = FunctionOf(profile, frame);
  const bool named = function != nullptr && !function->placeholder;
  const bool brief = options.names == Names::kShort && !options.valgrind_style;
  std::string name = named ? Printable(function->name) : "???";
  if (named && brief) {
    ShortNameOptions form;
    form.ellipsis = options.layout.ellipsis();
    name = ShortName(name, form);
  }
  const std::string place = PlaceOfFrame(profile, frame, named, options.valgrind_style);
  *text += lead;
  if (options.valgrind_style) {
    *text += fmt::format("0x{:X}: ", profile.locations[frame.location].address);
  }
  if (brief) {
    const size_t width = std::max<size_t>(options.layout.width, 40) - DisplayWidth(lead);
    const size_t taken = DisplayWidth(place) + 1;
    if (DisplayWidth(name) + taken > width) {
      name = TrimName(name, width > taken + 16 ? width - taken : 16, options.layout.ellipsis());
    }
  }
  *text += name;
  if (!place.empty()) text->Add(" " + place, Style::kDim);
  *text += "\n";
}

}  // namespace

void AddLeakStack(const Profile& profile, NodeId leaf, const std::string& indent,
                  const LeaksOptions& options, leaks::AllocationFrames* allocation,
                  StyledText* text) {
  const std::vector<StackFrame> stack = leaks::FramesOf(profile, leaf);
  if (stack.empty()) {
    *text += indent + "at (unknown stack)\n";
    return;
  }
  // memcheck shows malloc itself; people look for what is behind it.
  const size_t first = options.valgrind_style ? 0 : allocation->Count(stack);
  const size_t all = leaks::FramesUpToMain(profile, stack);
  const size_t end = options.frames == 0 ? all : std::min(all, first + options.frames);
  for (size_t i = first; i < end; ++i) {
    AddFrame(profile, stack[i], indent + (i == first ? "at " : "by "), options, text);
  }
  if (end < all && !options.valgrind_style) {
    text->Add(fmt::format("{}{} more (--frames 0 shows all)\n", indent, all - end), Style::kDim);
  }
}

namespace {

using leaks::Suspect;

constexpr size_t kSuspects = 10;
constexpr size_t kOthers = 3;

// Lines of whole words in `width` columns, each `indent` columns from the left but for the first.
void AddWrapped(std::string_view text, size_t indent, size_t at, size_t width, Style style,
                StyledText* out) {
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    const size_t columns = DisplayWidth(word);
    if (at > indent && at + 1 + columns > width) {
      out->Add("\n" + std::string(indent, ' '));
      at = indent;
    } else if (at > indent) {
      out->Add(" ");
      ++at;
    }
    out->Add(word, style);
    at += columns;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  out->Add("\n");
}

void AddSuspect(const Suspect& suspect, const std::string& lead, const Layout& layout, bool dim,
                StyledText* out) {
  const std::string name =
      TrimName(Printable(suspect.function), layout.width / 2 + 16, layout.ellipsis());
  out->Add(lead, Style::kDim);
  out->Add(name, dim ? Style::kDim : suspect.lost ? Style::kWarning : Style::kGrowth);
  AddWrapped(Printable(suspect.sentence), DisplayWidth(lead),
             DisplayWidth(lead) + DisplayWidth(name), std::max<size_t>(layout.width, 40),
             dim ? Style::kDim : Style::kPlain, out);
}

Json Numbers(const std::vector<uint64_t>& values) {
  Json list = Json::Array();
  for (const uint64_t value : values) list.Add(value);
  return list;
}

Json Whole(const std::vector<double>& values) {
  Json list = Json::Array();
  for (const double value : values) list.Add(static_cast<long long>(std::llround(value)));
  return list;
}

Json AgesJson(const leaks::Suspects& all, const Suspect& suspect, bool looked) {
  Json json = {{"step_ns", all.run_ns / leaks::kAgeParts}, {"bytes", Whole(suspect.born_bytes)}};
  if (looked) json["lost_bytes"] = Whole(suspect.born_lost_bytes);
  return json;
}

void AddMore(size_t all, size_t shown, StyledText* text) {
  if (all <= shown) return;
  text->Add(fmt::format("     {} more (-n 0 shows all)\n", all - shown), Style::kDim);
}

}  // namespace

StyledText LeakSuspectsText(const LeaksSubject& subject, const LeaksOptions& options) {
  StyledText text;
  // What a program that ends has lost is told by the records, and it will not grow any more.
  if (subject.suspects == nullptr || subject.check->at_exit) return text;
  const leaks::Suspects& all = *subject.suspects;
  if (all.suspects.empty() && all.others.empty()) return text;
  if (!all.suspects.empty()) {
    text.Add("SUSPECTS:\n", Style::kHeading);
    const size_t shown = options.limit == 0 ? all.suspects.size() : kSuspects;
    for (size_t i = 0; i < all.suspects.size() && i < shown; ++i) {
      AddSuspect(all.suspects[i], fmt::format("{:>3}  ", i + 1), options.layout, false, &text);
    }
    AddMore(all.suspects.size(), shown, &text);
    text += "\n";
  }
  if (!all.others.empty()) {
    text.Add(all.suspects.empty() ? "NOT SUSPECTED, the largest:\n" : "NOT SUSPECTED:\n",
             Style::kHeading);
    const size_t shown = options.limit == 0 ? all.others.size() : kOthers;
    for (size_t i = 0; i < all.others.size() && i < shown; ++i) {
      AddSuspect(all.others[i], "     ", options.layout, true, &text);
    }
    AddMore(all.others.size(), shown, &text);
    text += "\n";
  }
  if (!all.whole_sentence.empty()) {
    AddWrapped(Printable(all.whole_sentence) + ".", 0, 0, options.layout.width, Style::kPlain,
               &text);
    text += "\n";
  }
  return text;
}

Json LeakSuspectJson(const LeaksSubject& subject, const Suspect& suspect) {
  const bool looked = subject.check->look != leaks::Look::kNone;
  Json json = {{"function", suspect.function},
               {"sentence", suspect.sentence},
               {"lost", suspect.lost},
               {"grows", suspect.grows},
               {"live_bytes", EstimateJson(suspect.live_bytes)},
               {"live_blocks_known", suspect.live_blocks}};
  if (looked) {
    json["lost_bytes"] = EstimateJson(suspect.lost_bytes);
    json["lost_blocks_known"] = suspect.lost_blocks;
    json["possible_blocks_known"] = suspect.possible_blocks;
    json["lost_share"] = Json{{"low", suspect.lost_share.low}, {"high", suspect.lost_share.high}};
    json["oldest_lost_age_ns"] = suspect.oldest_lost_ns;
  }
  const leaks::GrowthEvidence& growth = suspect.growth;
  json["trend"] = leaks::TrendName(growth.trend);
  json["p"] = growth.p;
  if (suspect.grows) {
    json["bytes_per_second"] = Json{{"value", growth.bytes_per_second},
                                    {"low", growth.bytes_per_second_95.low},
                                    {"high", growth.bytes_per_second_95.high}};
  }
  if (growth.freed_share >= 0) json["freed_share"] = growth.freed_share;
  json["oldest_age_ns"] = growth.oldest_ns;
  json["median_age_ns"] = growth.median_age_ns;
  json["ages"] = AgesJson(*subject.suspects, suspect, looked);
  if (!suspect.least_live.empty()) json["least_live_bytes"] = Numbers(suspect.least_live);
  return json;
}

Json LeakSuspectsJson(const LeaksSubject& subject) {
  Json suspects = Json::Array();
  for (const Suspect& suspect : subject.suspects->suspects) {
    suspects.Add(LeakSuspectJson(subject, suspect));
  }
  Json others = Json::Array();
  for (const Suspect& suspect : subject.suspects->others) {
    others.Add(LeakSuspectJson(subject, suspect));
  }
  return {{"suspected", std::move(suspects)},
          {"not_suspected", std::move(others)},
          {"whole", subject.suspects->whole_sentence}};
}

std::string LeakGrowthVerdict(const LeaksSubject& subject) {
  if (subject.suspects == nullptr || subject.check->at_exit) return "";
  for (const Suspect& suspect : subject.suspects->suspects) {
    if (!suspect.grows) continue;
    return fmt::format("{} holds {} and grows {}", Printable(suspect.function),
                       FormatBytes(suspect.live_bytes.value),
                       leaks::FormatRate(suspect.growth.bytes_per_second));
  }
  return "";
}

}  // namespace heapgauge
