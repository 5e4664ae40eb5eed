// Where the agent is, and how it gets into a program that is started.
#ifndef HEAPGAUGE_CLI_AGENT_PATH_H_
#define HEAPGAUGE_CLI_AGENT_PATH_H_

#include <string>

#include "core/base/result.h"

namespace heapgauge::cli {

// $HEAPGAUGE_AGENT, the agent beside our own executable, or where it was installed.
Result<std::string> FindAgent();

// What LD_PRELOAD is to be: the agent before anything that is there already.
Result<std::string> PreloadValue(const std::string& agent);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_AGENT_PATH_H_
