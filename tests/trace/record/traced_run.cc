#include "tests/trace/record/traced_run.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/os/process.h"
#include "tests/targets/churn_counts.h"

namespace heapgauge::testing {
namespace {

void AddBirth(const trace::Block& block, TraceSums* sums) {
  ++sums->births;
  sums->born_bytes += block.size;
}

void AddDeath(const trace::Block& block, TraceSums* sums) {
  ++sums->deaths;
  sums->dead_bytes += block.size;
  sums->youngest_death_ns = std::min(sums->youngest_death_ns, block.death_ns - block.birth_ns);
}

}  // namespace

WholeTrace ReadWholeTrace(const std::string& path) {
  WholeTrace whole;
  auto file = trace::TraceFile::Open(path);
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  if (!file) return whole;
  whole.file = *file;
  const auto is_first = [&](const trace::Block& block) {
    return block.thread < whole.file->threads().size() &&
           whole.file->threads()[block.thread].id == whole.file->facts().recording.pid;
  };
  trace::Segment segment;
  uint64_t next_number = 0;
  uint64_t last_ns = 0;
  for (size_t i = 0; i < whole.file->segments().size(); ++i) {
    const Status status = whole.file->ReadSegment(i, trace::kEverything, &segment);
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
    if (!status) return whole;
    for (const trace::Event& event : segment.events) {
      EXPECT_GE(event.time_ns, last_ns);
      last_ns = event.time_ns;
      if (event.died != trace::kNoIndex) {
        const trace::Block& block = segment.blocks.at(event.died);
        EXPECT_LT(block.number, next_number);
        EXPECT_LE(block.birth_ns, block.death_ns);
        AddDeath(block, &whole.all);
        if (!is_first(block)) AddDeath(block, &whole.others);
      }
      if (event.born != trace::kNoIndex) {
        const trace::Block& block = segment.blocks.at(event.born);
        EXPECT_EQ(block.number, next_number++);
        AddBirth(block, &whole.all);
        if (!is_first(block)) AddBirth(block, &whole.others);
      }
      if (::testing::Test::HasFailure()) return whole;
    }
  }
  const Status status = whole.file->ForEachSurvivor([&](const trace::Block& block) {
    ++whole.all.survivors;
    if (!is_first(block)) ++whole.others.survivors;
  });
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
  EXPECT_EQ(whole.all.survivors, whole.all.births - whole.all.deaths);
  return whole;
}

ChurnSums ReadChurn(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  const std::string bytes = text.str();
  ChurnSums sums;
  CountsHeader header;
  if (bytes.size() < sizeof header) return sums;
  std::memcpy(&header, bytes.data(), sizeof header);
  sums.threads = header.threads;
  sums.running = header.running;
  sums.max_block = header.max_block;
  for (uint32_t i = 0; i < header.threads; ++i) {
    ThreadCounts counts;
    const size_t at = sizeof header + i * sizeof counts;
    if (at + sizeof counts > bytes.size()) break;
    std::memcpy(&counts, bytes.data() + at, sizeof counts);
    sums.live_bytes += counts.live_bytes;
    sums.live_objects += counts.live_objects;
    sums.allocated_bytes += counts.allocated_bytes;
    sums.allocated_objects += counts.allocated_objects;
  }
  return sums;
}

pid_t ChildOf(pid_t parent) {
  DIR* const proc = opendir("/proc");
  if (proc == nullptr) return 0;
  pid_t found = 0;
  while (const dirent* entry = readdir(proc)) {
    const long pid = std::strtol(entry->d_name, nullptr, 10);
    if (pid <= 0) continue;
    const auto process = ReadProcess(static_cast<uint32_t>(pid));
    if (process && process->parent == static_cast<uint32_t>(parent)) {
      found = static_cast<pid_t>(pid);
      break;
    }
  }
  closedir(proc);
  return found;
}

}  // namespace heapgauge::testing
