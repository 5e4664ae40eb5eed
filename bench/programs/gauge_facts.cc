// Prints what a gauge file's header says about the agent itself, as JSON: `gauge_facts FILE`
//
// For the benchmarks only; users have `heapgauge top`. It reads the header through the shared
// definition, so that a change of the format cannot make the figures wrong in silence.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "wire/gauge_format.h"

int main(int argc, char** argv) {
  namespace wire = heapgauge::wire;
  if (argc != 2) {
    std::fprintf(stderr, "usage: gauge_facts FILE\n");
    return 2;
  }
  static wire::Header header;
  struct stat status = {};
  const int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) != 0 ||
      pread(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      std::memcmp(header.magic, wire::kMagic, sizeof wire::kMagic) != 0 ||
      header.version != wire::kVersion) {
    std::fprintf(stderr, "gauge_facts: %s is not a gauge file of version %u\n", argv[1],
                 wire::kVersion);
    return 2;
  }
  std::printf(
      "{\"pid\": %u, \"samples\": %lu, \"live_samples\": %lu, \"live_bytes\": %lu, "
      "\"stacks\": %u, \"nodes\": %u, \"file_bytes\": %lu, \"disk_bytes\": %lu, "
      "\"private_bytes\": %lu, \"interval\": %lu, \"interval_in_force\": %lu}\n",
      header.pid, header.totals.samples, header.totals.live_samples, header.totals.live_bytes,
      header.stack_count, header.node_count, static_cast<unsigned long>(status.st_size),
      static_cast<unsigned long>(status.st_blocks) * 512, header.agent_private_bytes,
      header.interval, header.interval_in_force);
  return 0;
}
