// The file that churn_threads keeps its own truth in: a CountsHeader, then one ThreadCounts for
// each thread. It is mapped shared, so it survives SIGKILL.
//
// A block is counted right after malloc has returned it and uncounted right before free is called.
// So when the program dies between any two instructions, each thread's figures are off by one block
// at most: by `max_block` bytes.
#pragma once

#include <stdint.h>

struct CountsHeader {
  char magic[8];  // "HGCOUNT1"
  uint32_t threads;
  uint32_t running;  // threads that have filled their slots once
  uint64_t max_block;
  uint64_t reserved[5];
};
static_assert(sizeof(CountsHeader) == 64);

struct ThreadCounts {
  uint64_t live_bytes;
  uint64_t live_objects;
  uint64_t allocated_bytes;
  uint64_t allocated_objects;
  uint64_t reserved[4];
};
static_assert(sizeof(ThreadCounts) == 64);
