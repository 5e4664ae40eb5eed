#include "service/own_endpoint.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "endpoint/base/gauge_process.h"
#include "service/engines/find_engines.h"
#include "service/runtime.h"

namespace heapgauge::service {
namespace {

class OnlyThis final : public endpoint::Processes {
 public:
  std::vector<std::shared_ptr<endpoint::Process>> List() override { return {Current()}; }
  std::shared_ptr<endpoint::Process> Find(uint32_t pid) override {
    auto process = Current();
    return process->pid() == pid ? process : nullptr;
  }

 private:
  // A program that was given its gauge file late, or another one.
  std::shared_ptr<endpoint::Process> Current() {
    const std::string path = Host().gauge_path();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (process_ == nullptr || path != path_) {
      path_ = path;
      process_ = std::make_shared<endpoint::GaugeProcess>(path, Options());
    }
    return process_;
  }
  endpoint::GaugeProcessOptions Options() {
    if (engines_.empty()) engines_ = engines::FindEngines();
    endpoint::GaugeProcessOptions options;
    options.dump_directory = Host().dump_directory;
    if (options.dump_directory.empty()) options.dump_directory = path_.substr(0, path_.rfind('/'));
    for (const auto& engine : engines_) options.engines.push_back(engine.get());
    options.nudge = Host().follow_control;
    return options;
  }

  std::mutex mutex_;
  std::string path_;
  std::shared_ptr<endpoint::Process> process_;
  std::vector<std::unique_ptr<endpoint::Engine>> engines_;
};

std::atomic<endpoint::Endpoint*> own;
std::mutex making;

}  // namespace

endpoint::Endpoint& OwnEndpoint() {
  if (endpoint::Endpoint* made = own.load(std::memory_order_acquire)) return *made;
  const std::lock_guard<std::mutex> lock(making);
  endpoint::Endpoint* made = own.load();
  if (made == nullptr) {
    made = new endpoint::Endpoint(std::make_shared<OnlyThis>());
    own.store(made, std::memory_order_release);
  }
  return *made;
}

void ForgetOwnEndpoint() {
  own.store(nullptr);
  // Nobody in this process holds it: a call that was under way makes the library unusable anyway.
  new (&making) std::mutex;
}

}  // namespace heapgauge::service
