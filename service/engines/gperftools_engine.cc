#include "service/engines/gperftools_engine.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/base/file.h"

namespace heapgauge::engines {
namespace {

#define HG_STRING_NAME "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
constexpr const char* kInstance = "_ZN15MallocExtension8instanceEv";
constexpr const char* kSample = "_ZN15MallocExtension13GetHeapSampleEP" HG_STRING_NAME;
constexpr const char* kGrowth = "_ZN15MallocExtension19GetHeapGrowthStacksEP" HG_STRING_NAME;

constexpr size_t kMostProfile = size_t{256} << 20;
constexpr int kStatisticsSize = 64 << 10;
// GetHeapProfile cuts what does not fit into its buffer.
constexpr size_t kProfileBuffer = size_t{1} << 20;

bool IsWhole(std::string_view profile) {
  return profile.size() + 1024 < kProfileBuffer &&
         profile.find("MAPPED_LIBRARIES:") != std::string_view::npos;
}

constexpr const char* kNoSampler =
    "tcmalloc's sampler is off; start the program with TCMALLOC_SAMPLE_PARAMETER=524288, or switch "
    "its heap profiler on, which is slow";

}  // namespace

std::vector<std::string> GperftoolsEngine::Names() {
  return {"HeapProfilerStart",
          "HeapProfilerStop",
          "HeapProfilerDump",
          "IsHeapProfilerRunning",
          "GetHeapProfile",
          "MallocExtension_GetNumericProperty",
          "MallocExtension_GetStats",
          "tc_version",
          kInstance,
          kSample,
          kGrowth};
}

std::unique_ptr<endpoint::Engine> GperftoolsEngine::Make(const ProcessSymbols& symbols) {
  Functions f;
  f.start = symbols.FindAs<void(const char*)>("HeapProfilerStart");
  f.stop = symbols.FindAs<void()>("HeapProfilerStop");
  f.dump = symbols.FindAs<void(const char*)>("HeapProfilerDump");
  f.is_running = symbols.FindAs<int()>("IsHeapProfilerRunning");
  f.take = symbols.FindAs<char*()>("GetHeapProfile");
  f.property = symbols.FindAs<int(const char*, size_t*)>("MallocExtension_GetNumericProperty");
  f.statistics = symbols.FindAs<void(char*, int)>("MallocExtension_GetStats");
  f.version = symbols.FindAs<const char*(int*, int*, const char**)>("tc_version");
  f.instance = symbols.FindAs<void*()>(kInstance);
  f.sample = symbols.FindAs<void(void*, std::string*)>(kSample);
  f.growth = symbols.FindAs<void(void*, std::string*)>(kGrowth);
  const bool extension = f.instance != nullptr && (f.sample != nullptr || f.growth != nullptr);
  if (!f.can_profile() && f.property == nullptr && !extension) return nullptr;
  return std::unique_ptr<endpoint::Engine>(new GperftoolsEngine(f));
}

GperftoolsEngine::~GperftoolsEngine() { RemoveDirectory(); }

endpoint::Engine::State GperftoolsEngine::state() {
  State state;
  if (functions_.version != nullptr) {
    const char* patch = nullptr;
    int major = 0;
    int minor = 0;
    const char* text = functions_.version(&major, &minor, &patch);
    state.version = text != nullptr ? text : fmt::format("gperftools {}.{}", major, minor);
  }
  if (running()) {
    state.can_profile = true;
    state.active = true;
    state.interval = 1;
    return state;
  }
  // Zero if it is off; versions before 2.6 do not tell.
  size_t period = 0;
  if (functions_.property != nullptr) {
    functions_.property("tcmalloc.sampling_period_bytes", &period);
  }
  const char* wanted = std::getenv("TCMALLOC_SAMPLE_PARAMETER");
  if (period == 0 && wanted != nullptr) {
    const long long bytes = std::strtoll(wanted, nullptr, 0);
    if (bytes > 0) period = static_cast<size_t>(bytes);
  }
  if (period != 0 && functions_.instance != nullptr && functions_.sample != nullptr) {
    state.can_profile = true;
    state.active = true;
    state.interval = period;
    return state;
  }
  if (functions_.can_profile()) {
    state.can_profile = true;  // after SetActive
    state.why_not = kNoSampler;
  } else {
    state.why_not =
        "this is tcmalloc_minimal, which has no profiler; link with tcmalloc, or use "
        "engine=native";
  }
  return state;
}

Result<std::string> GperftoolsEngine::TakeHeap() {
  if (running()) return TakeExact();
  HG_ASSIGN(std::string text, TakeText(functions_.sample, "samples"));
  // Without a sampler it answers with an empty profile, some versions with advice before it.
  if (text.starts_with("%warn") || text.substr(0, text.find('\n')).ends_with(" heap_v2/0")) {
    return Fail(ErrorCode::kUnavailable, kNoSampler);
  }
  return text;
}

Result<std::string> GperftoolsEngine::TakeGrowth() { return TakeText(functions_.growth, "growth"); }

Result<std::string> GperftoolsEngine::TakeText(void (*function)(void*, std::string*),
                                               const char* what) {
  void* instance = functions_.instance != nullptr ? functions_.instance() : nullptr;
  if (function == nullptr || instance == nullptr) {
    return Fail(ErrorCode::kUnsupported, fmt::format("this tcmalloc cannot tell its {}", what));
  }
  std::string text;
  function(instance, &text);
  if (text.empty()) {
    return Fail(ErrorCode::kUnavailable, fmt::format("tcmalloc gave no {}", what));
  }
  return text;
}

Result<std::string> GperftoolsEngine::TakeExact() {
  char* text = functions_.take();
  if (text == nullptr) return Fail(ErrorCode::kUnavailable, "tcmalloc gave no profile");
  std::string profile(text, strnlen(text, kMostProfile));
  std::free(text);
  if (IsWhole(profile) || directory_.empty() || functions_.dump == nullptr) return profile;
  return TakeFromFile();
}

Result<std::string> GperftoolsEngine::TakeFromFile() {
  std::error_code error;
  const auto clear = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
      std::filesystem::remove(entry.path(), error);
    }
  };
  clear();
  functions_.dump("heapgauge");
  Result<std::string> profile = Fail(ErrorCode::kIo, "tcmalloc wrote no profile");
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    profile = ReadWholeFile(entry.path().string(), kMostProfile);
  }
  clear();
  return profile;
}

Status GperftoolsEngine::SetActive(bool active) {
  if (!functions_.can_profile()) {
    return Fail(ErrorCode::kUnsupported, "this tcmalloc has no heap profiler");
  }
  if (active == running()) return {};
  if (!active) {
    functions_.stop();
    RemoveDirectory();
    return {};
  }
  std::error_code error;
  std::string pattern = std::filesystem::temp_directory_path(error).string();
  if (error) pattern = "/tmp";
  pattern += "/heapgauge-tcmalloc-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return tl::unexpected(SystemError("cannot make a directory for tcmalloc's files", errno));
  }
  directory_ = pattern;
  functions_.start((directory_ + "/heap").c_str());
  if (!running()) {
    RemoveDirectory();
    return Fail(ErrorCode::kUnavailable, "tcmalloc's heap profiler did not start");
  }
  return {};
}

Status GperftoolsEngine::SetInterval(uint64_t) {
  return Fail(ErrorCode::kUnsupported,
              "tcmalloc's rate is set before the program starts, by TCMALLOC_SAMPLE_PARAMETER");
}

Status GperftoolsEngine::Reset() {
  if (!running()) {
    return Fail(ErrorCode::kUnsupported,
                "tcmalloc's sampler cannot be reset; only its heap profiler can, which is off");
  }
  if (directory_.empty()) {
    return Fail(ErrorCode::kUnavailable,
                "the program itself started tcmalloc's heap profiler; only it can start it anew");
  }
  HG_TRY(SetActive(false));
  return SetActive(true);
}

Result<std::string> GperftoolsEngine::Statistics(const std::string&) {
  if (functions_.statistics == nullptr) {
    return Fail(ErrorCode::kUnsupported, "this tcmalloc cannot tell its statistics");
  }
  std::string text(kStatisticsSize, '\0');
  functions_.statistics(text.data(), kStatisticsSize);
  text.resize(strnlen(text.data(), text.size()));
  return text;
}

std::vector<std::pair<std::string, uint64_t>> GperftoolsEngine::Figures() {
  std::vector<std::pair<std::string, uint64_t>> figures;
  if (functions_.property == nullptr) return figures;
  const auto read = [this](const char* name, size_t* value) {
    return functions_.property(name, value) != 0;
  };
  size_t allocated = 0;
  size_t heap = 0;
  size_t page_free = 0;
  size_t unmapped = 0;
  if (!read("generic.current_allocated_bytes", &allocated)) return figures;
  figures.emplace_back("allocated", allocated);
  const bool pages =
      read("generic.heap_size", &heap) && read("tcmalloc.pageheap_free_bytes", &page_free) &&
      read("tcmalloc.pageheap_unmapped_bytes", &unmapped) && heap >= page_free + unmapped;
  // In spans that are in use; what is not allocated of these lies in the caches.
  if (pages) figures.emplace_back("active", heap - page_free - unmapped);
  size_t value = 0;
  if (read("generic.total_physical_bytes", &value)) figures.emplace_back("resident", value);
  if (pages) {
    figures.emplace_back("mapped", heap);
    figures.emplace_back("retained", unmapped);
    figures.emplace_back("free pages", page_free);
  }
  uint64_t cached = 0;
  bool has_caches = false;
  for (const char* name :
       {"tcmalloc.central_cache_free_bytes", "tcmalloc.transfer_cache_free_bytes",
        "tcmalloc.thread_cache_free_bytes"}) {
    if (!read(name, &value)) continue;
    cached += value;
    has_caches = true;
  }
  if (has_caches) figures.emplace_back("cached", cached);
  if (pages && heap - page_free - unmapped >= allocated) {
    figures.emplace_back("fragmentation", heap - page_free - unmapped - allocated);
  }
  return figures;
}

void GperftoolsEngine::RemoveDirectory() {
  if (directory_.empty()) return;
  std::error_code error;
  std::filesystem::remove_all(directory_, error);
  directory_.clear();
}

}  // namespace heapgauge::engines
