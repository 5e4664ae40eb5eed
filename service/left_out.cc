// What the library does without inside somebody's service, although it is there on the command
// line: drawing with Graphviz, which forks and loads a dozen libraries, and asking debuginfod,
// which goes to the network. The linker finds these definitions first and leaves the real ones out.
#include "core/report/draw/render.h"
#include "core/symbolize/debuginfod.h"

namespace heapgauge {

Result<std::string> RenderDot(const std::string&, const std::string&, std::vector<std::string>*,
                              const RenderLimits&) {
  return Fail(
      ErrorCode::kUnsupported,
      "pictures are not drawn inside the process; `heapgauge serve` draws them from outside");
}

std::unique_ptr<Debuginfod> Debuginfod::FromEnvironment(uint64_t) { return nullptr; }
Debuginfod::~Debuginfod() = default;
std::string Debuginfod::FindDebugInfo(const std::string&) { return ""; }
std::string Debuginfod::FindSource(const std::string&, const std::string&) { return ""; }

}  // namespace heapgauge
