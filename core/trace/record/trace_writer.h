// Writes a trace file: takes what happened, in order of time, and stores it in segments, with the
// names that come along.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/trace/file/block.h"
#include "core/trace/file/trace_facts.h"
#include "wire/gauge_format.h"

namespace heapgauge::trace {

// One function of a code address.
struct FrameName {
  std::string function;
  std::string file;  // "" unknown
  uint32_t line = 0;
};

// Names that come with a trace: functions and lines of code addresses. Kept as gauge files keep
// them (core/gauge/gauge_names.h), so that one format serves both.
//
// One thread.
class FrameNames {
 public:
  // The first frames that an address is given count.
  void Add(uint64_t pc_module, bool exact, const std::vector<FrameName>& frames);
  bool empty() const { return named_.locations.empty(); }
  Result<std::string> Encode() const;

 private:
  FunctionId FunctionOf(const FrameName& frame);

  Profile named_;  // modules have the numbers of the trace
  std::unordered_map<std::string, FunctionId> functions_;
  std::unordered_set<uint64_t> addresses_[2];  // by `exact`
};

// Writes a trace file: takes what happened, in order of time, and stores it in segments.
//
// The caller (the recorder, or an importer) has already matched frees to allocations: it numbers
// blocks and says which one dies. Memory is bounded: one segment at a time, and what it is told
// about live blocks it does not keep. A segment is complete on disk when it is written, so a file
// whose writer was killed is valid up to the last one. Readers can tell that it is being written
// (Facts::being_written) and follow it.
//
// Errors are kept: after the first failed write nothing more is written, and Finish tells. One
// thread; compression may use one more.
class TraceWriter : public EventSink {
 public:
  struct Options {
    uint32_t segment_events = 1 << 19;  // a segment is written when it has so many
  };

  // The file must not exist, unless `replace`. If nothing can be written there is none afterwards.
  static Result<std::unique_ptr<TraceWriter>> Create(const std::string& path, const Facts& facts,
                                                     const Options& options, bool replace = false);
  // Tables. What an event names must have been added before. Stacks, nodes, modules and label sets
  // have the numbers of the gauge file, from 1 (node 0: the root; modules from 0); a later record
  // of the same number replaces the one before.
  virtual void AddModule(uint32_t index, const wire::ModuleRecord& module) = 0;
  virtual void AddNode(uint32_t index, const wire::NodeRecord& node) = 0;
  virtual void AddStack(uint32_t index, uint32_t leaf_node, uint16_t labels, uint16_t flags) = 0;
  virtual void AddLabelSet(uint32_t index, const wire::LabelRecord& record) = 0;
  // Functions and lines of a code address, for traces that come with names: as wire::NodeRecord has
  // the address, innermost frame first. All frames but the last were inlined.
  using FrameName = trace::FrameName;
  virtual void AddFrames(uint64_t pc_module, bool exact, const std::vector<FrameName>& frames) = 0;
  virtual void SetThread(uint32_t index, const Thread& thread) = 0;  // indexes from 0
  virtual void AddMemory(const MemoryPoint& point) = 0;
  virtual void AddMarker(const Marker& marker) = 0;

  // Events as EventSink has them, in order of time, also by blocks that have both ends: of an
  // allocation counts what is known at birth, of a free all.
  void Allocate(const Block& block) { Born(block); }
  void Free(const Block& block) { Died(block, block.death()); }
  // One event: `old` dies (resized_away) and `block` is born with previous = old.number.
  void Reallocate(const Block& old, const Block& block) { Resized(old, old.death(), block); }

  // Writes what is pending as a segment of its own, so that it cannot be lost any more.
  virtual Status Flush() = 0;
  // What is known by now, how long the program has run above all: of a trace that has no end yet
  // readers take the last of these.
  virtual Status TellSoFar(const Facts& facts) = 0;
  // Between the last event and Finish: all blocks that are still live follow, if any, in order of
  // their numbers, so that readers need not go through the trace to find them.
  virtual void BeginSurvivors() = 0;
  virtual void AddSurvivor(const Block& block) = 0;
  // `ended` has the facts that are known only at the end.
  virtual Status Finish(const Facts& ended) = 0;

  virtual uint64_t bytes_written() const = 0;
  // Of all events so far; mappings are left out where it is about what is live.
  struct Totals {
    uint64_t events = 0;
    uint64_t blocks = 0;  // born, also mappings
    uint64_t live_blocks = 0;
    uint64_t live_bytes = 0;
    uint64_t peak_bytes = 0;
    uint64_t peak_ns = 0;
  };
  virtual Totals totals() const = 0;
};

}  // namespace heapgauge::trace
