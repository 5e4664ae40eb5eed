// Stands in for the agent in tests of `run`: makes an empty gauge file where the agent would, and
// does nothing else. No C++ library: it is preloaded into whatever a test runs.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wire/gauge_format.h"

namespace {

using namespace heapgauge;

uint64_t Now(clockid_t clock) {
  timespec ts;
  clock_gettime(clock, &ts);
  return static_cast<uint64_t>(ts.tv_sec) * 1000000000u + static_cast<uint64_t>(ts.tv_nsec);
}

__attribute__((constructor)) void MakeGaugeFile() {
  char path[4096];
  const char* out = getenv("HEAPGAUGE_OUT");
  const char* out_pid = getenv("HEAPGAUGE_OUT_PID");
  const char* dir = getenv("HEAPGAUGE_DIR");
  if (out != nullptr && out_pid != nullptr) {
    if (atoi(out_pid) == getpid()) {
      snprintf(path, sizeof path, "%s", out);
    } else {
      snprintf(path, sizeof path, "%s.%d", out, getpid());
    }
  } else if (dir != nullptr) {
    snprintf(path, sizeof path, "%s/fake.%d.hg", dir, getpid());
  } else {
    return;
  }
  const int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return;
  static wire::Header h;
  memcpy(h.magic, wire::kMagic, sizeof h.magic);
  wire::DescribeLayout(&h);
  h.pid = static_cast<uint32_t>(getpid());
  h.start_realtime_ns = Now(CLOCK_REALTIME);
  h.start_monotonic_ns = Now(CLOCK_MONOTONIC);
  h.segment_count = 2;
  h.interval = h.interval_in_force = wire::kDefaultIntervalBytes;
  strcpy(h.exe, "/fake");
  const uint32_t directory[2] = {wire::DirectoryWord(wire::SegmentKind::kHeader, 0),
                                 wire::DirectoryWord(wire::SegmentKind::kTimeline, 0)};
  if (ftruncate(fd, 2 * wire::kSegmentBytes) == 0 &&
      pwrite(fd, directory, sizeof directory, wire::kHeaderBytes) > 0) {
    static_cast<void>(!pwrite(fd, &h, sizeof h, 0));
  }
  close(fd);
}

}  // namespace
