#include "compat/common/agent_link.h"

#include <dlfcn.h>

namespace heapgauge::compat {
namespace {

template <typename Function>
void Find(const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

AgentLink& AgentLink::Get() {
  static auto* const link = new AgentLink();
  return *link;
}

AgentLink::AgentLink() {
  Find("heapgauge_available", &available_);
  Find("heapgauge_is_active", &is_active_);
  Find("heapgauge_set_active", &set_active_);
  Find("heapgauge_interval", &interval_);
  Find("heapgauge_set_interval", &set_interval_);
  Find("heapgauge_reset", &reset_);
  Find("heapgauge_name_thread", &name_thread_);
  Find("heapgauge_gauge_path", &gauge_path_);
  Find("heapgauge_watch_v1", &watch_);
  Find("heapgauge_exclude_v1", &exclude_);
}

bool AgentLink::available() const { return available_ != nullptr && available_() != 0; }

bool AgentLink::active() const { return is_active_ != nullptr && is_active_() > 0; }

uint64_t AgentLink::interval() const { return interval_ != nullptr ? interval_() : 0; }

void AgentLink::SetActive(bool active) {
  if (set_active_ != nullptr) set_active_(active ? 1 : 0);
}

void AgentLink::SetInterval(uint64_t bytes) {
  if (set_interval_ != nullptr) set_interval_(bytes);
}

void AgentLink::Reset() {
  if (reset_ != nullptr) reset_();
}

void AgentLink::NameThread(const char* name) {
  if (name_thread_ != nullptr) name_thread_(name);
}

void AgentLink::ExcludeThread(bool exclude) {
  if (exclude_ != nullptr) exclude_(exclude ? 1 : 0);
}

wire::Marks AgentLink::Totals() const {
  wire::Marks totals{0, 0, 0};
  if (watch_ != nullptr) watch_(nullptr, nullptr, &totals);
  return totals;
}

void AgentLink::Watch(wire::WatchCallback* callback, const wire::Marks& marks) {
  if (watch_ != nullptr) watch_(callback, &marks, nullptr);
}

Result<Profile> AgentLink::Read(ProfileKind kind) const {
  const std::string path = available() && gauge_path_ != nullptr ? gauge_path_() : "";
  if (path.empty()) {
    return Fail(ErrorCode::kUnavailable,
                "there is no heapgauge agent in this process (LD_PRELOAD=libheapgauge.so)");
  }
  GaugeReadOptions options;
  options.kind = kind;
  return ReadGaugeFile(path, options);
}

}  // namespace heapgauge::compat
