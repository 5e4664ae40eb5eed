// The doctor's rounds: gathers what there is to know about a host, a command, a process, a gauge
// file or a trace, and lets the checks speak. The one place where they are put together; `doctor`,
// `ps` and the last line of `run` all come here.
//
// Single-threaded. Reads only, but for ProbeAgent (host.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/doctor/finding.h"

namespace heapgauge {

struct DoctorOptions {
  std::string agent;        // path of the agent; "" if it was not found
  std::string agent_error;  // why not
  std::string version;      // of this command
  bool probe = true;        // try the agent in a small program
};

struct Examination {
  std::string subject;  // "redis-server (pid 42)"
  Findings findings;    // the most important first
};

Examination ExamineHost(const DoctorOptions& options);
// Does not run the command.
Examination ExamineCommand(const DoctorOptions& options, const std::vector<std::string>& command);
Examination ExamineProcess(const DoctorOptions& options, uint32_t pid);
Examination ExamineGauge(const DoctorOptions& options, const std::string& path);
// A file of `run --trace`.
Examination ExamineTrace(const std::string& path);

// Why a command that was run with the agent left no gauge file, or one without samples: one
// sentence; "" if no reason is known. `directory` is where its file should have been, "" for the
// usual places.
std::string WhyNoGauge(const std::vector<std::string>& command, const std::string& directory);
std::string WhyNoSamples(const std::vector<std::string>& command);

// For people: findings with what to do; plain text.
std::string DoctorText(const Examination& examination);
std::string DoctorJson(const Examination& examination);

}  // namespace heapgauge
