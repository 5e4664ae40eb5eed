#include "core/formats/shown_value.h"

#include <string>

#include "core/fold/freed_figures.h"
#include "core/fold/measures.h"

namespace heapgauge {
namespace {

// kNone, or a number that is none, if the profile does not have it.
size_t TypeOfValue(trace::Value value, bool blocks, const Profile& profile) {
  const Measures m = MeasuresOf(profile);
  switch (value) {
    case trace::Value::kLive:
      return m.name != "live" ? kNone : blocks ? m.objects : m.main;
    case trace::Value::kAllocated:
      if (m.name == "allocated") return blocks ? m.objects : m.main;
      return blocks ? m.allocated_objects : m.allocated;
    case trace::Value::kPeak:
      return profile.FindType(blocks ? "peak_objects" : "peak_space");
    case trace::Value::kTemporary:
      return profile.FindType(blocks ? "temporary_objects" : "temporary_space");
    default:
      return kNone;
  }
}

}  // namespace

bool MayHaveValue(trace::Value value) {
  switch (value) {
    case trace::Value::kLive:
    case trace::Value::kAllocated:
    case trace::Value::kFreed:
    case trace::Value::kPeak:
    case trace::Value::kTemporary:
      return true;
    default:
      return false;
  }
}

Status ShowValue(trace::Value value, bool blocks, Profile* profile) {
  if (value == trace::Value::kFreed) return AddFreed(blocks, profile);
  size_t type = TypeOfValue(value, blocks, *profile);
  if (type >= profile->sample_types.size() && !blocks) {
    // heaptrack counts what is temporary, and does not add up its bytes.
    type = TypeOfValue(value, true, *profile);
  }
  if (type >= profile->sample_types.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "this profile does not tell what was " +
                    std::string(value == trace::Value::kPeak ? "live at its peak"
                                                             : trace::ValueName(value)) +
                    (blocks ? ", in blocks" : "") +
                    "; a trace does: heapgauge run --trace -o FILE.hgt -- COMMAND");
  }
  profile->default_type = type;
  return {};
}

}  // namespace heapgauge
