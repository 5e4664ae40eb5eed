#include "compat/gperftools/settings.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace heapgauge::compat {
namespace {

HeapProfilerSettings Read(const std::map<std::string, std::string>& variables) {
  return ReadHeapProfilerSettings([&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

TEST(HeapProfilerSettings, DefaultsAreThoseOfGperftools) {
  const HeapProfilerSettings s = Read({});
  EXPECT_EQ(s.prefix, "");
  EXPECT_EQ(s.allocation_interval, 1073741824u);
  EXPECT_EQ(s.deallocation_interval, 0u);
  EXPECT_EQ(s.inuse_interval, 104857600u);
  EXPECT_EQ(s.time_interval, 0u);
  EXPECT_TRUE(s.cleanup);
  EXPECT_FALSE(s.with_mmap || s.only_mmap || s.log_mmap);
  EXPECT_EQ(s.sample_parameter, 0u);
}

TEST(HeapProfilerSettings, ReadsEveryVariable) {
  const HeapProfilerSettings s = Read({{"HEAPPROFILE", "/tmp/x"},
                                       {"HEAPPROFILE_USE_PID", "1"},
                                       {"HEAPPROFILESIGNAL", "12"},
                                       {"HEAP_PROFILE_ALLOCATION_INTERVAL", "5"},
                                       {"HEAP_PROFILE_DEALLOCATION_INTERVAL", "6"},
                                       {"HEAP_PROFILE_INUSE_INTERVAL", "0x100000"},
                                       {"HEAP_PROFILE_TIME_INTERVAL", "7"},
                                       {"HEAP_PROFILE_MMAP", "true"},
                                       {"HEAP_PROFILE_ONLY_MMAP", "Y"},
                                       {"HEAP_PROFILE_MMAP_LOG", ""},
                                       {"HEAP_PROFILE_CLEANUP", "0"},
                                       {"PERFTOOLS_VERBOSE", "-1"},
                                       {"TCMALLOC_SAMPLE_PARAMETER", "524288"}});
  EXPECT_EQ(s.prefix, "/tmp/x");
  EXPECT_TRUE(s.use_pid);
  EXPECT_EQ(s.signal, 12);
  EXPECT_EQ(s.allocation_interval, 5u);
  EXPECT_EQ(s.deallocation_interval, 6u);
  EXPECT_EQ(s.inuse_interval, 1048576u);
  EXPECT_EQ(s.time_interval, 7u);
  EXPECT_TRUE(s.with_mmap && s.only_mmap && s.log_mmap);
  EXPECT_FALSE(s.cleanup);
  EXPECT_EQ(s.verbose, -1);
  EXPECT_EQ(s.sample_parameter, 524288u);
}

TEST(HeapProfilerSettings, NonsenseIsOffAndNegativeToo) {
  const HeapProfilerSettings s = Read({{"HEAP_PROFILE_INUSE_INTERVAL", "lots"},
                                       {"HEAP_PROFILE_ALLOCATION_INTERVAL", "-5"},
                                       {"HEAPPROFILESIGNAL", "1000"},
                                       {"HEAP_PROFILE_MMAP", "no"}});
  EXPECT_EQ(s.inuse_interval, 0u);
  EXPECT_EQ(s.allocation_interval, 0u);
  EXPECT_EQ(s.signal, 0);
  EXPECT_FALSE(s.with_mmap);
}

}  // namespace
}  // namespace heapgauge::compat
