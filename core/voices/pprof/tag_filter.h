// pprof's filters by labels, which it calls tags: tagfocus and tagignore choose rows, tagshow and
// taghide take labels away.
//
// A tag filter is "[KEY=]VALUE". VALUE is a number or a range of numbers with units ("32kb",
// ":64kb", "4mb:", "12kb:64mb", both ends included), or a list of regular expressions separated by
// commas. With a key, one of them must match a text of that key; without, all must match "key:text"
// of some label. Rows share their sets of labels, so each set is decided once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/regex.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/voices/pprof/label_units.h"

namespace heapgauge::pprof {

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

}  // namespace heapgauge::pprof
