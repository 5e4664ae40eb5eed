// A leak check of a running program: takes a picture of it, finds its roots, and scans.
//
// What blocks are known comes from its gauge file (samples), from the trace that is written of it
// if it is traced (all of them, traced_blocks.h), or from whoever asks. The live blocks
// must be those of the instant of the picture: `while_stopped` is called then, to copy what will
// change; the rest, such as stacks, can be read when the program runs again.
//
// Thread-safe for different programs. The program stands still for the time that Check::pause_ns
// tells; core/leaks/capture/picture.h says how that is done and what happens if we are killed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/leaks/capture/agent_copy.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/scan.h"

namespace heapgauge::leaks {

struct CheckOptions {
  // Of the program; it tells which memory is the agent's own, and the sampled blocks.
  std::string gauge_path;

  // Where the blocks come from; both empty: the samples of the gauge file. The first is called
  // while the program stands still, by another thread than the caller's.
  std::function<void()> while_stopped;
  std::function<Result<KnownBlocks>()> known_blocks;

  // Where no copy can be made at all the program stands still while its memory is saved, if that
  // takes no longer than this by estimate; otherwise the check is refused.
  uint64_t may_stop_ns = 100'000'000;

  // A program that may not be traced, or cannot be made to fork from outside, is asked to copy
  // itself; false: it is asked in any case.
  bool may_trace = true;
  AgentCopy::Options agent;

  ScanOptions scan;

  // Called at the end with the memory that was searched, for who wants to know more of it.
  std::function<void(const MemoryImage&, const Check&)> with_memory;
};

Result<Check> CheckProcess(uint32_t pid, const CheckOptions& options);

}  // namespace heapgauge::leaks
