// pprof's filters by labels, which it calls tags: their units, what chooses rows by them, and
// labels as frames (tagroot, tagleaf).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/regex.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::pprof {

// The units of numeric labels. A format tells a unit with each number, or none; pprof takes the
// first that it meets for a key, and the key itself where there is none ("bytes").
using LabelUnits = std::map<std::string, std::string, std::less<>>;

// By key. A line is added to `warnings`, if given, for each key that has several units. Looks at
// each set of labels once.
LabelUnits FindLabelUnits(const Profile& profile, std::vector<std::string>* warnings = nullptr);

// pprof's filters by labels, which it calls tags: tagfocus and tagignore choose rows, tagshow and
// taghide take labels away.
//
// A tag filter is "[KEY=]VALUE". VALUE is a number or a range of numbers with units ("32kb",
// ":64kb", "4mb:", "12kb:64mb", both ends included), or a list of regular expressions separated by
// commas. With a key, one of them must match a text of that key; without, all must match "key:text"
// of some label. Rows share their sets of labels, so each set is decided once.
class TagFilter {
 public:
  // `option` is for messages. That a value was taken for a range is told in `warnings`.
  static Result<TagFilter> Parse(const std::string& option, const std::string& filter,
                                 std::vector<std::string>* warnings);

  bool Matches(const Profile& profile, std::span<const heapgauge::Label> labels,
               const LabelUnits& units) const;

 private:
  struct Range {
    std::string unit;
    std::optional<double> low;
    std::optional<double> high;
  };

  static Result<std::optional<Range>> ParseRange(const std::string& text);
  bool InRange(int64_t value, std::string_view unit) const;
  bool MatchesText(const Profile& profile, std::span<const heapgauge::Label> labels) const;

  std::string key_;  // "" any
  std::optional<Range> range_;
  std::vector<Regex> regexes_;
};

struct TagMatches {
  bool first = false;   // tagfocus, tagshow
  bool second = false;  // tagignore, taghide
};

// Leaves the rows that `focus` matches and `ignore` does not; null means no filter.
TagMatches FilterByTags(const TagFilter* focus, const TagFilter* ignore, const LabelUnits& units,
                        Profile* profile);

// Takes away the labels whose key `show` does not match, or `hide` does; null means no filter.
TagMatches FilterTagNames(const Regex* show, const Regex* hide, Profile* profile);

// tagroot and tagleaf: the values of labels as frames at the outer or inner end of every stack, so
// that reports break figures down by thread, request or size as they do by function.
struct TagFrames {
  std::vector<std::string> root_keys;  // the first becomes the outermost frame
  std::vector<std::string> leaf_keys;  // the last becomes the innermost frame
  std::string unit;                    // that numbers are shown in
};

struct TagFrameMatches {
  bool root = false;  // some row has a label of root_keys
  bool leaf = false;
};

// A row without the label gets a frame with an empty name. Fails if a stack would become deeper
// than a profile can hold.
Result<TagFrameMatches> AddTagFrames(const TagFrames& frames, Profile* profile);

}  // namespace heapgauge::pprof
