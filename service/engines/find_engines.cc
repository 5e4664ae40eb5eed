#include "service/engines/find_engines.h"

#include <string>
#include <utility>

#include "service/engines/gperftools_engine.h"
#include "service/engines/jemalloc_engine.h"
#include "service/engines/process_symbols.h"
#include "service/engines/statistics_engines.h"

namespace heapgauge::engines {

std::vector<std::unique_ptr<endpoint::Engine>> FindEngines() {
  std::vector<std::string> names;
  for (const auto& list : {JemallocEngine::Names(), GperftoolsEngine::Names(),
                           GoogleTcmallocEngine::Names(), MimallocEngine::Names()}) {
    names.insert(names.end(), list.begin(), list.end());
  }
  const ProcessSymbols symbols(names);
  std::vector<std::unique_ptr<endpoint::Engine>> engines;
  const auto add = [&engines](std::unique_ptr<endpoint::Engine> engine) {
    if (engine != nullptr) engines.push_back(std::move(engine));
  };
  add(JemallocEngine::Make(symbols));
  auto tcmalloc = GperftoolsEngine::Make(symbols);
  add(tcmalloc != nullptr ? std::move(tcmalloc) : GoogleTcmallocEngine::Make(symbols));
  add(MimallocEngine::Make(symbols));
  add(GlibcEngine::Make());
  return engines;
}

}  // namespace heapgauge::engines
