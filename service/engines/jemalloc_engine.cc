#include "service/engines/jemalloc_engine.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "core/base/file.h"

namespace heapgauge::engines {
namespace {

constexpr const char* kPrefixes[] = {"", "je_", "_rjem_"};
constexpr size_t kMostProfile = size_t{256} << 20;
constexpr size_t kMostStatistics = size_t{16} << 20;

std::string ErrorName(int error) { return std::strerror(error); }

void Append(void* text, const char* more) noexcept {
  auto* out = static_cast<std::string*>(text);
  const size_t room = kMostStatistics - std::min(out->size(), kMostStatistics);
  out->append(more, strnlen(more, room));
}

}  // namespace

std::vector<std::string> JemallocEngine::Names() {
  std::vector<std::string> names;
  for (const std::string prefix : kPrefixes) {
    names.push_back(prefix + "mallctl");
    names.push_back(prefix + "malloc_stats_print");
  }
  return names;
}

std::unique_ptr<endpoint::Engine> JemallocEngine::Make(const ProcessSymbols& symbols) {
  for (const std::string prefix : kPrefixes) {
    auto* control = symbols.FindAs<Control>(prefix + "mallctl");
    if (control == nullptr) continue;
    return std::unique_ptr<endpoint::Engine>(new JemallocEngine(
        prefix, control, symbols.FindAs<PrintStatistics>(prefix + "malloc_stats_print")));
  }
  return nullptr;
}

template <typename Value>
bool JemallocEngine::Read(const char* name, Value* value) const {
  size_t size = sizeof(*value);
  return control_(name, value, &size, nullptr, 0) == 0 && size == sizeof(*value);
}

// What is missing for a profile; "" if nothing is.
std::string JemallocEngine::WhyNot() const {
  bool built = false;
  if (!Read("config.prof", &built) || !built) {
    return "this jemalloc was built without its profiler (configure --enable-prof)";
  }
  bool wanted = false;
  if (!Read("opt.prof", &wanted) || !wanted) {
    std::string variable = prefix_;
    std::transform(variable.begin(), variable.end(), variable.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format("jemalloc's profiler is off; start the program with {}MALLOC_CONF=prof:true",
                       variable);
  }
  return "";
}

Status JemallocEngine::Need() const {
  std::string why_not = WhyNot();
  if (!why_not.empty()) return Fail(ErrorCode::kUnavailable, std::move(why_not));
  return {};
}

endpoint::Engine::State JemallocEngine::state() {
  State state;
  state.why_not = WhyNot();
  state.can_profile = state.why_not.empty();
  const char* version = nullptr;
  if (Read("version", &version) && version != nullptr) state.version = version;
  if (!state.can_profile) return state;
  Read("prof.active", &state.active);
  size_t lg_sample = 0;
  if (Read("prof.lg_sample", &lg_sample) && lg_sample < 64) state.interval = 1ull << lg_sample;
  return state;
}

Result<std::string> JemallocEngine::TakeHeap() {
  HG_TRY(Need());
  const int fd = memfd_create("heapgauge", MFD_CLOEXEC);
  if (fd < 0) return tl::unexpected(SystemError("cannot make a file in memory", errno));
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  const char* path_text = path.c_str();
  const int error = control_("prof.dump", nullptr, nullptr, &path_text, sizeof(path_text));
  Result<std::string> profile =
      error == 0 ? ReadWholeFile(path, kMostProfile)
                 : Fail(ErrorCode::kIo, "jemalloc refused to dump: " + ErrorName(error));
  close(fd);
  if (profile && profile->empty()) {
    return Fail(ErrorCode::kIo, "jemalloc wrote an empty profile");
  }
  return profile;
}

Result<std::string> JemallocEngine::TakeGrowth() {
  HG_TRY(Need());
  bool accumulates = false;
  if (!Read("opt.prof_accum", &accumulates) || !accumulates) {
    return Fail(ErrorCode::kUnavailable,
                "jemalloc keeps what was ever allocated only with MALLOC_CONF=prof_accum:true");
  }
  return TakeHeap();
}

Status JemallocEngine::SetActive(bool active) {
  HG_TRY(Need());
  const int error = control_("prof.active", nullptr, nullptr, &active, sizeof(active));
  if (error != 0) {
    return Fail(ErrorCode::kUnavailable, "jemalloc refused prof.active: " + ErrorName(error));
  }
  return {};
}

Status JemallocEngine::SetInterval(uint64_t bytes) {
  HG_TRY(Need());
  if (bytes == 0 || bytes > (uint64_t{1} << 62)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} bytes between samples make no sense", bytes));
  }
  const auto lg_sample = static_cast<size_t>(std::lround(std::log2(static_cast<double>(bytes))));
  return ResetTo(&lg_sample);
}

Status JemallocEngine::Reset() {
  HG_TRY(Need());
  return ResetTo(nullptr);
}

Status JemallocEngine::ResetTo(const size_t* lg_sample) {
  size_t value = lg_sample == nullptr ? 0 : *lg_sample;
  const int error = lg_sample == nullptr
                        ? control_("prof.reset", nullptr, nullptr, nullptr, 0)
                        : control_("prof.reset", nullptr, nullptr, &value, sizeof(value));
  if (error != 0) {
    return Fail(ErrorCode::kUnavailable, "jemalloc refused prof.reset: " + ErrorName(error));
  }
  return {};
}

Result<std::string> JemallocEngine::Statistics(const std::string& options) {
  if (print_ == nullptr) {
    return Fail(ErrorCode::kUnsupported, "this jemalloc has no malloc_stats_print");
  }
  std::string text;
  print_(Append, &text, options.c_str());
  return text;
}

std::vector<std::pair<std::string, uint64_t>> JemallocEngine::Figures() {
  uint64_t epoch = 1;  // any write takes fresh ones
  control_("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  std::vector<std::pair<std::string, uint64_t>> figures;
  size_t allocated = 0;
  size_t active = 0;
  const auto add = [&](const char* name, size_t* value) {
    const std::string full = std::string("stats.") + name;
    if (Read(full.c_str(), value)) figures.emplace_back(name, *value);
  };
  size_t other = 0;
  add("allocated", &allocated);
  add("active", &active);
  add("resident", &other);
  add("metadata", &other);
  add("mapped", &other);
  add("retained", &other);
  if (active > allocated && !figures.empty()) {
    figures.emplace_back("fragmentation", active - allocated);
  }
  return figures;
}

}  // namespace heapgauge::engines
