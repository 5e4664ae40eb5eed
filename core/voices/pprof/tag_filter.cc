#include "core/voices/pprof/tag_filter.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/model/keep_rows.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/rewrite.h"

namespace heapgauge::pprof {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A number with an optional sign and unit, as it stands in a text.
struct Quantity {
  size_t begin = 0;
  size_t end = 0;
  std::string number;
  std::string unit;
};

// The next one at or behind `from`, if any.
std::optional<Quantity> FindQuantity(const std::string& text, size_t from) {
  for (size_t begin = from; begin < text.size(); ++begin) {
    size_t at = begin;
    if (text[at] == '+' || text[at] == '-') ++at;
    const size_t digits = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    if (at == digits) continue;
    Quantity quantity;
    quantity.begin = begin;
    quantity.number = text.substr(begin, at - begin);
    const size_t unit = at;
    while (at < text.size() && IsLetter(text[at])) ++at;
    quantity.unit = text.substr(unit, at - unit);
    quantity.end = at;
    return quantity;
  }
  return std::nullopt;
}

// For pprof, a number without a unit of memory or time is in any unit that is asked for: 17 of
// something are in "16kb:".
Scaled ScaleAnything(int64_t value, std::string_view from, std::string_view to) {
  Scaled scaled = Scale(value, from, to);
  constexpr std::string_view kPlain[] = {"count", "sample", "unit", "minimum", "auto"};
  const bool plain = std::find(std::begin(kPlain), std::end(kPlain), to) != std::end(kPlain);
  if (scaled.unit.empty() && !plain) scaled.unit = to;
  return scaled;
}

Result<int64_t> ParseNumber(const std::string& number) {
  int64_t value = 0;
  const char* begin = number.data() + (number[0] == '+' ? 1 : 0);
  if (std::from_chars(begin, number.data() + number.size(), value).ec != std::errc()) {
    return Fail(ErrorCode::kInvalidArgument,
                "failed to parse int " + number + ": it does not fit into 64 bits");
  }
  return value;
}

}  // namespace

// Not a range is not an error: then it is a regular expression.
Result<std::optional<TagFilter::Range>> TagFilter::ParseRange(const std::string& text) {
  const std::optional<Quantity> first = FindQuantity(text, 0);
  if (!first) return std::nullopt;
  HG_ASSIGN(const int64_t low, ParseNumber(first->number));
  const Scaled scaled = ScaleAnything(low, first->unit, first->unit);
  Range range;
  range.unit = scaled.unit;
  const std::string match = text.substr(first->begin, first->end - first->begin);
  const std::optional<Quantity> second = FindQuantity(text, first->end);
  if (!second) {
    if (text == match || text == match + ":") range.low = scaled.value;
    if (text == match || text == ":" + match) range.high = scaled.value;
    if (!range.low && !range.high) return std::nullopt;
    return range;
  }
  if (text != match + ":" + text.substr(second->begin, second->end - second->begin)) {
    return std::nullopt;
  }
  HG_ASSIGN(const int64_t high, ParseNumber(second->number));
  const Scaled scaled_high = ScaleAnything(high, second->unit, range.unit);
  if (scaled_high.unit != range.unit) return std::nullopt;
  range.low = scaled.value;
  range.high = scaled_high.value;
  return range;
}

Result<TagFilter> TagFilter::Parse(const std::string& option, const std::string& filter,
                                   std::vector<std::string>* warnings) {
  TagFilter result;
  std::string value = filter;
  const size_t equals = filter.find('=');
  if (equals != std::string::npos) {
    result.key_ = filter.substr(0, equals);
    value = filter.substr(equals + 1);
  }
  HG_ASSIGN(result.range_, ParseRange(value));
  if (result.range_) {
    warnings->push_back(option + ":Interpreted '" + value + "' as range, not regexp");
    return result;
  }
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find(',', begin), value.size());
    auto regex = Regex::Compile(value.substr(begin, end - begin));
    if (!regex) {
      return Fail(ErrorCode::kInvalidArgument,
                  "parsing " + option + " regexp: " + regex.error().message);
    }
    result.regexes_.push_back(*std::move(regex));
    begin = end + 1;
  }
  return result;
}

bool TagFilter::InRange(int64_t value, std::string_view unit) const {
  const Scaled scaled = ScaleAnything(value, unit, range_->unit);
  return scaled.unit == range_->unit && (!range_->low || scaled.value >= *range_->low) &&
         (!range_->high || scaled.value <= *range_->high);
}

bool TagFilter::MatchesText(const Profile& profile,
                            std::span<const heapgauge::Label> labels) const {
  const auto matches = [&](const Regex& regex) {
    return std::any_of(labels.begin(), labels.end(), [&](const heapgauge::Label& label) {
      if (label.is_number()) return false;
      const std::string& key = profile.strings[label.key];
      const std::string& text = profile.strings[label.text];
      if (key_.empty()) return regex.Matches(key + ":" + text);
      return key == key_ && regex.Matches(text);
    });
  };
  if (key_.empty()) return std::all_of(regexes_.begin(), regexes_.end(), matches);
  return std::any_of(regexes_.begin(), regexes_.end(), matches);
}

bool TagFilter::Matches(const Profile& profile, std::span<const heapgauge::Label> labels,
                        const LabelUnits& units) const {
  if (!range_) return MatchesText(profile, labels);
  return std::any_of(labels.begin(), labels.end(), [&](const heapgauge::Label& label) {
    if (!label.is_number()) return false;
    const std::string& key = profile.strings[label.key];
    if (!key_.empty() && key != key_) return false;
    const auto unit = units.find(key);
    return InRange(label.number, unit == units.end() ? "" : std::string_view(unit->second));
  });
}

TagMatches FilterByTags(const TagFilter* focus, const TagFilter* ignore, const LabelUnits& units,
                        Profile* profile) {
  enum Answer : uint8_t { kKnown = 1, kFocused = 2, kIgnored = 4 };
  TagMatches matches;
  // By set of labels; the last one stands for no labels.
  std::vector<uint8_t> answers(profile->label_sets.size() + 1);
  std::vector<bool> keep(profile->rows.size());
  for (RowId row = 0; row < keep.size(); ++row) {
    uint8_t& answer = answers[std::min<size_t>(profile->rows[row].labels, answers.size() - 1)];
    if (answer == 0) {
      const auto labels = profile->LabelsOf(row);
      answer = kKnown;
      if (focus == nullptr || focus->Matches(*profile, labels, units)) answer |= kFocused;
      if (ignore != nullptr && ignore->Matches(*profile, labels, units)) answer |= kIgnored;
    }
    matches.first |= (answer & kFocused) != 0;
    matches.second |= (answer & kIgnored) != 0;
    keep[row] = answer == (kKnown | kFocused);
  }
  KeepRows(keep, profile);
  return matches;
}

TagMatches FilterTagNames(const Regex* show, const Regex* hide, Profile* profile) {
  enum Answer : uint8_t { kKnown = 1, kShown = 2, kHidden = 4 };
  TagMatches matches;
  std::vector<uint8_t> answers(profile->strings.size());
  const auto removed = [&](const heapgauge::Label& label) {
    uint8_t& answer = answers[label.key];
    if (answer == 0) {
      const std::string& key = profile->strings[label.key];
      answer = kKnown;
      if (show == nullptr || show->Matches(key)) answer |= kShown;
      if (hide != nullptr && hide->Matches(key)) answer |= kHidden;
    }
    matches.first |= (answer & kShown) != 0;
    matches.second |= (answer & kHidden) != 0;
    return answer != (kKnown | kShown);
  };
  std::vector<uint8_t> done(profile->label_sets.size());
  for (const Row& row : profile->rows) {
    if (row.labels == kNone || done[row.labels] != 0) continue;
    done[row.labels] = 1;
    LabelSet& set = profile->label_sets[row.labels];
    // The run may belong to other sets as well, so what is left goes to the end.
    LabelSet left{static_cast<uint32_t>(profile->labels.size()), 0};
    for (uint32_t i = 0; i < set.count; ++i) {
      const heapgauge::Label label = profile->labels[set.first + i];
      if (removed(label)) continue;
      profile->labels.push_back(label);
      ++left.count;
    }
    if (left.count == set.count) {
      profile->labels.resize(left.first);
    } else {
      set = left;
    }
  }
  return matches;
}

}  // namespace heapgauge::pprof
