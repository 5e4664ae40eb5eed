#include "core/fold/sort_choice.h"

#include "core/base/text.h"
#include "core/fold/measures.h"

namespace heapgauge {

SortKey SortKeyOf(const std::string& name) {
  if (name == "allocated") return SortKey::kAllocated;
  if (name == "count") return SortKey::kCount;
  if (name == "age") return SortKey::kAge;
  return SortKey::kLive;
}

Result<SortKey> ChooseSort(const std::string& name, const Profile& profile) {
  const Measures m = MeasuresOf(profile);
  if (name.empty()) {
    const size_t type = profile.sample_types.empty() ? kNone : profile.DefaultType();
    if (m.has_allocated() && type == m.allocated) return SortKey::kAllocated;
    if (m.has_objects() && type == m.objects) return SortKey::kCount;
    return SortKey::kLive;
  }
  const SortKey key = SortKeyOf(name);
  const bool known = key == SortKey::kLive || (key == SortKey::kAllocated && m.has_allocated()) ||
                     (key == SortKey::kCount && m.has_objects()) ||
                     (key == SortKey::kAge && !profile.blocks.empty());
  if (key == SortKey::kAge && profile.recording.exact) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "a trace is not sorted by age: heapgauge lifetimes tells how long blocks lived, and "
        "--min-lifetime chooses those that lived long");
  }
  // What a program has not allocated yet is nothing to complain about.
  if (known || (key == SortKey::kAge && profile.recording.pid != 0)) return key;
  std::string types;
  for (const SampleType& type : profile.sample_types) {
    types += (types.empty() ? "" : ", ") + Printable(type.name);
  }
  return Fail(ErrorCode::kInvalidArgument, "this profile cannot be sorted by " + Printable(name) +
                                               ": it has " +
                                               (types.empty() ? "no sample types" : types));
}

size_t TypeOf(const Profile& profile, SortKey sort) {
  const Measures m = MeasuresOf(profile);
  if (sort == SortKey::kAllocated && m.has_allocated()) return m.allocated;
  if (sort == SortKey::kCount && m.has_objects()) return m.objects;
  return m.main;
}

}  // namespace heapgauge
