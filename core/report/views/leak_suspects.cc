#include <fmt/format.h>

#include <cmath>

#include "core/base/json.h"
#include "core/base/short_name.h"
#include "core/base/text.h"
#include "core/leaks/verdict/suspect_sentence.h"
#include "core/report/report_json.h"
#include "core/report/views/leak_parts.h"

namespace heapgauge {
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
