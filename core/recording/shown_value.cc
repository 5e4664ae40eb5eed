#include "core/recording/shown_value.h"

#include <string>

#include "core/fold/freed_figures.h"
#include "core/fold/measures.h"

namespace heapgauge {
namespace {

// kNone, or a number that is none, if the profile does not have it.
size_t TypeOfValue(trace::TraceValue value, bool blocks, const Profile& profile) {
  const Measures m = MeasuresOf(profile);
  switch (value) {
    case trace::TraceValue::kLive:
      return m.name != "live" ? kNone : blocks ? m.objects : m.main;
    case trace::TraceValue::kAllocated:
      if (m.name == "allocated") return blocks ? m.objects : m.main;
      return blocks ? m.allocated_objects : m.allocated;
    case trace::TraceValue::kPeak:
      return profile.FindType(blocks ? "peak_objects" : "peak_space");
    case trace::TraceValue::kTemporary:
      return profile.FindType(blocks ? "temporary_objects" : "temporary_space");
    default:
      return kNone;
  }
}

}  // namespace

bool MayHaveValue(trace::TraceValue value) {
  switch (value) {
    case trace::TraceValue::kLive:
    case trace::TraceValue::kAllocated:
    case trace::TraceValue::kFreed:
    case trace::TraceValue::kPeak:
    case trace::TraceValue::kTemporary:
      return true;
    default:
      return false;
  }
}

Status ShowValue(trace::TraceValue value, bool blocks, Profile* profile) {
  if (value == trace::TraceValue::kFreed) return AddFreed(blocks, profile);
  size_t type = TypeOfValue(value, blocks, *profile);
  if (type >= profile->sample_types.size() && !blocks) {
    // heaptrack counts what is temporary, and does not add up its bytes.
    type = TypeOfValue(value, true, *profile);
  }
  if (type >= profile->sample_types.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "this profile does not tell what was " +
                    std::string(value == trace::TraceValue::kPeak ? "live at its peak"
                                                                  : trace::ValueName(value)) +
                    (blocks ? ", in blocks" : "") +
                    "; a trace does: heapgauge run --trace -o FILE.hgt -- COMMAND");
  }
  profile->default_type = type;
  return {};
}

}  // namespace heapgauge
