#include "cli/agent_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/doctor/command.h"
#include "core/doctor/executable.h"
#include "core/os/process.h"

namespace heapgauge::cli {

// The agent beside our own executable, or where it was installed.
Result<std::string> FindAgent() {
  if (const char* agent = std::getenv("HEAPGAUGE_AGENT"); agent != nullptr && *agent != 0) {
    if (access(agent, R_OK) == 0) return std::filesystem::absolute(agent).string();
    return Fail(ErrorCode::kNotFound, std::string("HEAPGAUGE_AGENT names '") + agent +
                                          "', which cannot be read: " + std::strerror(errno));
  }
  const std::string self = ProcessExecutable(static_cast<uint32_t>(getpid()));
  const std::filesystem::path bin = std::filesystem::path(self).parent_path();
  const std::string candidates[] = {(bin / "../lib/libheapgauge.so").lexically_normal().string(),
                                    std::string(HEAPGAUGE_LIBDIR) + "/libheapgauge.so"};
  for (const std::string& candidate : candidates) {
    if (access(candidate.c_str(), R_OK) == 0) return candidate;
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("the agent libheapgauge.so is not there (looked for {} and {}); set "
                          "HEAPGAUGE_AGENT to its path",
                          candidates[0], candidates[1]));
}

Status PreloadAgent(const std::string& agent, LaunchSpec* spec) {
  if (agent.find_first_of(" :") != std::string::npos) {
    return Fail(ErrorCode::kInvalidArgument, "the path of the agent, '" + agent +
                                                 "', has a space or colon in it, which LD_PRELOAD "
                                                 "cannot express; move it or set HEAPGAUGE_AGENT");
  }
  const std::string path = FindCommand(spec->command.at(0));
  if (!path.empty() && RefusesAgent(ReadExecutable(path, "", false))) return {};
  const char* before = std::getenv("LD_PRELOAD");
  spec->environment.emplace_back("LD_PRELOAD",
                                 before != nullptr && *before != 0 ? agent + ":" + before : agent);
  return {};
}

}  // namespace heapgauge::cli
