// A gauge file: is there enough in it, and if not, what would help? The same checks give `doctor`
// its findings and `ps` its word of health.
//
// Facts take two reads of the file; the checks are pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/doctor/finding.h"
#include "core/gauge/gauge_facts.h"
#include "core/model/profile.h"

namespace heapgauge {

struct GaugeFacts {
  std::string path;
  std::string control_name;  // how ctl is told which file: the pid, or the path
  GaugeSummary summary;
  std::string agent_version;
  bool change_pending = false;  // ctl asked for something that the program has not taken up
  bool asked_active = true;     // what ctl asked for last
  double allocated_bytes = 0;   // estimate, since the start or the last reset
  // Over the last minute, and the last ten seconds, where the file knows it; else the whole time.
  double allocated_per_second = 0;
  double growth_per_second = 0;  // of live bytes; negative if they shrink

  const RecordingFacts& recording() const { return summary.recording; }
};

// `running_as`, if not 0, is a process that is known to have mapped the file: in another pid
// namespace the number in the file means somebody else.
Result<GaugeFacts> ReadGaugeFacts(const std::string& path, uint32_t running_as = 0);

// `command_version` is that of the command; "" to leave it out.
Findings CheckGauge(const GaugeFacts& facts, const std::string& command_version);

// A word or two for a list: "ok", "few samples", "off", ...
std::string HealthOf(const Findings& findings);

// The interval that would make the live figure as sure as one wants (about ±6 %), a power of two;
// never above the one in force. It also keeps below the cap on samples per second.
uint64_t BetterInterval(const GaugeFacts& facts);

// "64K", "2M": as ctl takes it.
std::string SizeArgument(uint64_t bytes);

// Modules that hold a good part of the live memory and have no names. `notes` are what the
// symbolizer had to say. REQUIRES: symbolized.
Findings CheckSymbols(const Profile& profile, const std::vector<std::string>& notes);

}  // namespace heapgauge
