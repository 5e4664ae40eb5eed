#include "compat/gperftools/settings.h"

#include <cstdlib>
#include <cstring>

namespace heapgauge::compat {
namespace {

using Value = std::function<const char*(const char*)>;

int64_t Number(const Value& value, const char* name, int64_t otherwise) {
  const char* text = value(name);
  return text != nullptr ? std::strtoll(text, nullptr, 0) : otherwise;
}

// Below zero is off.
uint64_t Amount(const Value& value, const char* name, uint64_t otherwise) {
  const int64_t number = Number(value, name, static_cast<int64_t>(otherwise));
  return number > 0 ? static_cast<uint64_t>(number) : 0;
}

bool Flag(const Value& value, const char* name, bool otherwise) {
  const char* text = value(name);
  if (text == nullptr) return otherwise;
  return text[0] == '\0' || std::strchr("tTyY1", text[0]) != nullptr;
}

}  // namespace

HeapProfilerSettings ReadHeapProfilerSettings(const Value& value) {
  HeapProfilerSettings s;
  if (const char* prefix = value("HEAPPROFILE")) s.prefix = prefix;
  const char* use_pid = value("HEAPPROFILE_USE_PID");
  s.use_pid = use_pid != nullptr && use_pid[0] != '\0';
  const int64_t signal = Number(value, "HEAPPROFILESIGNAL", 0);
  s.signal = signal > 0 && signal < 65 ? static_cast<int>(signal) : 0;
  s.allocation_interval = Amount(value, "HEAP_PROFILE_ALLOCATION_INTERVAL", s.allocation_interval);
  s.deallocation_interval =
      Amount(value, "HEAP_PROFILE_DEALLOCATION_INTERVAL", s.deallocation_interval);
  s.inuse_interval = Amount(value, "HEAP_PROFILE_INUSE_INTERVAL", s.inuse_interval);
  s.time_interval = Amount(value, "HEAP_PROFILE_TIME_INTERVAL", 0);
  s.with_mmap = Flag(value, "HEAP_PROFILE_MMAP", false);
  s.only_mmap = Flag(value, "HEAP_PROFILE_ONLY_MMAP", false);
  s.log_mmap = Flag(value, "HEAP_PROFILE_MMAP_LOG", false);
  s.cleanup = Flag(value, "HEAP_PROFILE_CLEANUP", true);
  s.verbose = Number(value, "PERFTOOLS_VERBOSE", 0);
  s.sample_parameter = Amount(value, "TCMALLOC_SAMPLE_PARAMETER", 0);
  return s;
}

}  // namespace heapgauge::compat
