#include "core/voices/pprof/tag_filter.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "core/base/text.h"
#include "core/model/profile.h"
#include "core/model/stacks.h"
#include "core/voices/pprof/frame_filter.h"
#include "core/voices/pprof/measure.h"

namespace heapgauge::pprof {

LabelUnits FindLabelUnits(const Profile& profile, std::vector<std::string>* warnings) {
  struct Units {
    StringId used = kNone;
    std::set<std::string> others;
  };
  std::map<std::string, Units, std::less<>> found;
  std::vector<uint8_t> seen(profile.label_sets.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const LabelSetId set = profile.rows[row].labels;
    if (set == kNone || seen[set] != 0) continue;
    seen[set] = 1;
    for (const heapgauge::Label& label : profile.LabelsOf(row)) {
      if (!label.is_number()) continue;
      Units& units = found[profile.strings[label.key]];
      if (label.unit == kNone || profile.strings[label.unit].empty()) continue;
      if (units.used == kNone) {
        units.used = label.unit;
      } else if (profile.strings[units.used] != profile.strings[label.unit]) {
        units.others.insert(profile.strings[label.unit]);
      }
    }
  }

  LabelUnits result;
  for (const auto& [key, units] : found) {
    std::string& unit = result[key];
    if (units.used != kNone) {
      unit = profile.strings[units.used];
    } else {
      unit = key == "alignment" || key == "request" ? "bytes" : key;
    }
    if (units.others.empty() || warnings == nullptr) continue;
    std::string others;
    for (const std::string& other : units.others) others += (others.empty() ? "" : ", ") + other;
    warnings->push_back("For tag " + key + " used unit " + unit + ", also encountered unit(s) " +
                        others);
  }
  return result;
}

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
  if (const auto value = GoNumber<int64_t>(number)) return *value;
  return Fail(ErrorCode::kInvalidArgument,
              "failed to parse int " + number + ": it does not fit into 64 bits");
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
  for (const std::string_view piece : PiecesOf(value, ',')) {
    auto regex = Regex::Compile(std::string(piece));
    if (!regex) {
      return Fail(ErrorCode::kInvalidArgument,
                  "parsing " + option + " regexp: " + regex.error().message);
    }
    result.regexes_.push_back(*std::move(regex));
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

namespace {

// The locations that stand for labels, made when they are first needed.
class TagLocations {
 public:
  TagLocations(std::string unit, Profile* profile) : unit_(std::move(unit)), profile_(profile) {}

  // Those of one row, innermost first. Sets `*match` if the row has one of the labels.
  std::vector<LocationId> Of(std::span<const heapgauge::Label> labels,
                             const std::vector<std::string>& keys, bool* match) {
    std::vector<LocationId> result;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      bool any = false;
      std::string name = Values(labels, *key, &any);
      *match |= any;
      result.push_back(Find(std::move(name), *key));
    }
    return result;
  }

 private:
  std::string Values(std::span<const heapgauge::Label> labels, const std::string& key, bool* any) {
    bool units = false;
    for (const heapgauge::Label& label : labels) {
      units |= label.unit != kNone && profile_->strings[label.key] == key;
    }
    std::string result;
    for (const heapgauge::Label& label : labels) {
      if (profile_->strings[label.key] != key) continue;
      if (*any) result += ',';
      *any = true;
      if (!label.is_number()) {
        result += profile_->strings[label.text];
      } else if (units) {
        const bool own = label.unit != kNone;
        result += ScaledLabel(label.number, own ? profile_->strings[label.unit] : "", unit_);
      } else {
        result += ScaledLabel(label.number, "", "");
      }
    }
    return result;
  }

  LocationId Find(std::string name, const std::string& key) {
    const auto [at, added] = known_.try_emplace({std::move(name), key}, kNone);
    if (!added) return at->second;
    Function function;
    function.name = at->first.first;
    function.file = key;
    function.no_system_name = !function.name.empty();  // no linker knows it
    Frame frame;
    frame.function = static_cast<FunctionId>(profile_->functions.size());
    Location location;
    location.exact = true;
    location.first_frame = static_cast<uint32_t>(profile_->frames.size());
    location.frame_count = 1;
    at->second = static_cast<LocationId>(profile_->locations.size());
    profile_->functions.push_back(std::move(function));
    profile_->frames.push_back(frame);
    profile_->locations.push_back(location);
    return at->second;
  }

  std::string unit_;
  Profile* profile_;
  std::map<std::pair<std::string, std::string>, LocationId> known_;
};

struct Ends {
  bool known = false;
  std::vector<LocationId> roots;
  std::vector<LocationId> leaves;
};

}  // namespace

Result<TagFrameMatches> AddTagFrames(const TagFrames& frames, Profile* profile) {
  TagFrameMatches matches;
  if (frames.root_keys.empty() && frames.leaf_keys.empty()) return matches;
  TagLocations locations(frames.unit, profile);
  // By set of labels; the last one stands for no labels.
  std::vector<Ends> ends(profile->label_sets.size() + 1);
  const std::vector<Node> nodes = std::exchange(profile->nodes, {});
  StackBuilder builder(profile);
  std::vector<LocationId> stack;
  for (RowId id = 0; id < profile->rows.size(); ++id) {
    Row& row = profile->rows[id];
    Ends& end = ends[std::min<size_t>(row.labels, ends.size() - 1)];
    if (!end.known) {
      end.known = true;
      end.roots = locations.Of(profile->LabelsOf(id), frames.root_keys, &matches.root);
      end.leaves = locations.Of(profile->LabelsOf(id), frames.leaf_keys, &matches.leaf);
    }
    stack = end.leaves;
    for (NodeId node = row.leaf; node != kNone; node = nodes[node].parent) {
      stack.push_back(nodes[node].location);
    }
    stack.insert(stack.end(), end.roots.begin(), end.roots.end());
    if (stack.size() > Profile::kMaxDepth) {
      return Fail(ErrorCode::kUnsupported, "tagroot, tagleaf: a stack would become deeper than " +
                                               std::to_string(Profile::kMaxDepth) +
                                               " frames; name fewer labels");
    }
    row.leaf = builder.Leaf(stack);
  }
  return matches;
}

}  // namespace heapgauge::pprof
