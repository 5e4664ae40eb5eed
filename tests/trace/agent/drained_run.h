// Runs a program under the agent with HEAPGAUGE_TRACE=1 and empties its buffers meanwhile, as a
// recorder does, but as simply as can be: all events are kept in memory and put in order at the
// end. Goes by wire/trace_buffer.h alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "wire/gauge_format.h"

namespace heapgauge::trace_test {

struct Event {
  uint64_t time;
  wire::TraceEventKind kind;
  uint64_t address;
  uint64_t size;
  uint64_t token;
  uint32_t thread;
  uint32_t stack;
  uint16_t slack;
  uint8_t function;
  uint8_t alignment_log2;
};

// What was seen of one process.
struct Process {
  uint32_t pid = 0;
  bool forked = false;
  wire::TraceControl control{};  // at its end
  uint32_t buffers = 0;
  uint64_t rounds = 0;
  std::vector<Event> events;              // in order of time, as far as stamps tell that
  std::vector<wire::StackRecord> stacks;  // by number
  std::vector<std::string> broken;        // rules of the format that were not kept
};

struct Outcome {
  int status = -1;  // as waitpid has it
  std::string out;
  std::vector<Process> processes;  // the program's own first, then others by pid
};

struct Options {
  std::string preload;  // an allocator
  std::vector<std::string> environment;
  std::string clock = "tsc";
  bool agent = true;  // otherwise the program runs as it is
  bool drain = true;
  int drain_for_ms = -1;  // afterwards the recorder is dead
  int pause_us = 200;     // between two looks at the buffers
};

Outcome RunDrained(const std::vector<std::string>& command, const Options& options = {});

// The events of a process one after the other.
struct Account {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t resizes = 0;
  uint64_t unknown_frees = 0;    // of blocks that were not there
  uint64_t twice_allocated = 0;  // an address that was still in use
  uint64_t unmatched_ends = 0;   // of a resize that was not begun
  uint64_t live_blocks = 0;
  uint64_t live_bytes = 0;
  struct Thread {
    uint64_t allocations = 0;
    uint64_t allocated_bytes = 0;
    int64_t live_blocks = 0;
    int64_t live_bytes = 0;
  };
  std::map<uint64_t, Thread> threads;  // by token; blocks count for who allocated them
};
Account Follow(const std::vector<Event>& events);

}  // namespace heapgauge::trace_test
