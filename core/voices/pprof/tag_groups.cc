#include "core/voices/pprof/tag_groups.h"

#include <cmath>

#include "core/voices/pprof/measure.h"

namespace heapgauge::pprof {
namespace {

// Of `other` to `tag`, in the unit of `tag`.
double Distance(const Tag& tag, const Tag& other) {
  return std::abs(Scale(other.value, other.unit, tag.unit).value - static_cast<double>(tag.value));
}

Tag Joined(const std::vector<const Tag*>& group) {
  Tag joined;
  const Tag* min = group[0];
  const Tag* max = group[0];
  Tag sum;
  for (const Tag* tag : group) {
    if (ToInt64(Scale(tag->value, tag->unit, min->unit).value) < min->value) min = tag;
    if (ToInt64(Scale(tag->value, tag->unit, max->unit).value) > max->value) max = tag;
    sum.flat = WrapAdd(sum.flat, tag->flat);
    sum.flat_div = WrapAdd(sum.flat_div, tag->flat_div);
    sum.cum = WrapAdd(sum.cum, tag->cum);
    sum.cum_div = WrapAdd(sum.cum_div, tag->cum_div);
  }
  joined.name = Label(min->value, min->unit);
  if (group.size() > 1) joined.name += ".." + Label(max->value, max->unit);
  joined.flat = sum.flat_value();
  joined.cum = sum.cum_value();
  return joined;
}

}  // namespace

std::vector<Tag> GroupNumbers(std::vector<Tag> tags, size_t count, bool flat) {
  SortTags(flat, &tags);
  if (tags.size() <= count) return tags;
  std::vector<std::vector<const Tag*>> groups;
  for (size_t i = 0; i < count; ++i) groups.push_back({&tags[i]});
  for (size_t i = count; i < tags.size(); ++i) {
    size_t nearest = 0;
    for (size_t g = 1; g < count; ++g) {
      if (Distance(tags[i], *groups[g][0]) < Distance(tags[i], *groups[nearest][0])) nearest = g;
    }
    groups[nearest].push_back(&tags[i]);
  }
  std::vector<Tag> joined;
  for (const std::vector<const Tag*>& group : groups) joined.push_back(Joined(group));
  SortTags(flat, &joined);
  return joined;
}

}  // namespace heapgauge::pprof
