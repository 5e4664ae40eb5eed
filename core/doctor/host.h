// The host: is the agent there, does it work, may this user look into processes?
//
// ProbeAgent starts /bin/true with the agent in it; nothing else here starts anything.
// Single-threaded.
#pragma once

#include <cstdint>
#include <string>

#include "core/doctor/finding.h"

namespace heapgauge {

struct AgentProbe {
  std::string program;  // that was run
  bool started = false;
  bool made_gauge = false;
  std::string version;   // of the agent, out of that gauge file
  std::string messages;  // what the program printed on standard error, its first line
  std::string error;     // why it could not be run
};
AgentProbe ProbeAgent(const std::string& agent_path);

// `version` is that of the command.
Findings CheckProbe(const AgentProbe& probe, const std::string& agent_path,
                    const std::string& version);

struct HostFacts {
  uint32_t uid = 0;
  bool may_trace = false;  // CAP_SYS_PTRACE
  int ptrace_scope = 0;    // of Yama; 0 also if there is none
  std::string hide_pid;    // the mount option of /proc, "" if it hides nothing
};
HostFacts ReadHostFacts();
Findings CheckHost(const HostFacts& facts);

}  // namespace heapgauge
