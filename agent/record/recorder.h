// The parts that record this process, put together: they are the process's only ones. And what
// concerns several of them at once: start and end, the start anew in a forked child, and getting
// ready for what the program may soon forbid itself.
//
// Threads: all of them, also signal handlers, but for the start and the end. Allocation-free;
// usable before any constructor ran.
#pragma once

#include "agent/record/control.h"
#include "agent/record/labels.h"
#include "agent/record/mappings.h"
#include "agent/record/samples.h"
#include "agent/record/session.h"
#include "agent/record/settings.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

extern Session session;
extern Samples samples;
extern ControlFollower control;
extern ProgramLabels labels;
extern Mappings mappings;

struct AllocatorIdentity {
  wire::Allocator kind = wire::Allocator::kUnknown;
  const char* path = "";
};

// Makes the gauge file. False if there is nowhere to put it: the agent then stays out of the way.
bool StartRecording(const Settings& settings, const AllocatorIdentity& allocator);
// After that: from now on every call is traced, and no sample is taken. False if there is no
// memory.
bool StartTracing(const TraceSettings& settings);

// The program ends in good order. And: by _exit, where no destructor runs, and no dump is written.
void EndRecording();
void EndRecordingAtOnce();

// Where a sample might have been, but none was due.
inline void Poll() {
  control.Follow();
  samples.ConsiderDump();
}

// The header through which this process asks for a leak check; nullptr if nobody is to be asked.
inline wire::Header* LeakQuestions() { return session.LeakQuestions(); }
bool CanAskForCheck();

// Before system calls may become deadly, and if `strict` also the processor's clock.
void PrepareForSeccomp(bool strict);
// Before the process becomes another user or gets another root directory, and cannot open its
// file any more: makes room in it. A forked child that has none yet makes it now, if it may not
// be able to later. Any thread, also a child that shares our memory (vfork).
void PrepareForOtherRights(bool other_root);

}  // namespace heapgauge::agent
