// An exact trace, opened for reading, and whether somebody still writes it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/trace/file/segment.h"
#include "core/trace/file/tables.h"
#include "core/trace/file/trace_facts.h"

namespace heapgauge::trace {

// By the first bytes of a file.
bool IsTrace(std::string_view start);

// An exact trace, opened for reading: its index and tables are in memory, its segments are read
// when they are asked for. Everything that reports need is a fold over segments, or over the sums
// that each segment has per stack, so memory does not grow with the length of the trace.
//
// The file is hostile input: each size and index is checked, damage is an Error that names file and
// byte, a file that ends within a segment (its writer was killed, or still runs) is read up to
// there. Reading is thread-safe: all functions here are const, and segments may be read by several
// threads at once.
class TraceFile {
 public:
  static Result<std::shared_ptr<const TraceFile>> Open(const std::string& path);
  // The same file as it is now; itself if nothing was added that is whole. Of a file that is being
  // written only what is new is read. Those who have the one before may go on with it.
  virtual Result<std::shared_ptr<const TraceFile>> Renew() const = 0;
  virtual ~TraceFile() = default;

  virtual const std::string& path() const = 0;
  virtual const Facts& facts() const = 0;
  virtual const std::vector<SegmentInfo>& segments() const = 0;
  virtual const std::vector<Thread>& threads() const = 0;
  virtual const std::vector<MemoryPoint>& memory() const = 0;
  virtual const std::vector<Marker>& markers() const = 0;
  virtual uint32_t stack_count() const = 0;  // numbers are below
  virtual uint64_t file_bytes() const = 0;
  // What is missing, damaged or left out, one line each: every report and export tells them, here
  // or on standard error.
  virtual const std::vector<std::string>& notes() const = 0;

  uint64_t events() const;  // in all segments
  uint64_t blocks() const;  // ever allocated
  uint64_t end_ns() const;  // of the trace: last event, or the program's end

  virtual Status ReadSegment(size_t index, uint32_t parts, Segment* out) const = 0;
  virtual Status ReadSums(size_t index, std::vector<StackSums>* out) const = 0;
  // Blocks that are live at the end, in order of their numbers. From the file if it has them,
  // otherwise by going through all segments.
  Status ForEachSurvivor(const std::function<void(const Block&)>& visit) const;
  // The same in portions, for those who may stop in between.
  class SurvivorReader {
   public:
    virtual ~SurvivorReader() = default;
    // Replaces the portion, which may be left empty; returns false if there was none left.
    virtual Result<bool> Next(std::vector<Block>* portion) = 0;
  };
  // REQUIRES: the trace outlives the reader.
  virtual std::unique_ptr<SurvivorReader> ReadSurvivors() const = 0;

  using Stacks = TraceStacks;
  virtual Result<std::shared_ptr<const Stacks>> ReadStacks() const = 0;
};

// Whether somebody writes a trace at this moment. Its writer holds a lock on the open file, which
// the kernel takes away however the writer ends; readers only ask, and hold up nobody.
//
// Advisory. On file systems without locks a trace counts as not being written.
//
// Until the descriptor, which is open for writing, and all that were made of it are closed. False
// if there is another writer.
bool LockAsWriter(int fd);

// Any descriptor of the file but the writer's own.
bool HasWriter(int fd);

}  // namespace heapgauge::trace
