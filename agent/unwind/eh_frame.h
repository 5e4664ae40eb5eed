// Finds, in the .eh_frame of a loaded object, the description of one function: the FDE with what
// matters from its CIE. This is the only part that knows how these sections are laid out.
//
// Normally a binary search in .eh_frame_hdr; an object whose header carries no table (or one in an
// encoding nobody uses) is scanned from front to back. Every read stays inside the loaded segment
// that holds the section. No state; allocation-free, async-signal-safe, takes no lock.
#pragma once

#include <cstdint>

#include "agent/sys/loaded_object.h"
#include "agent/unwind/byte_reader.h"

namespace heapgauge::agent {

// The bytes from `address` to the end of the readable segment that contains it. Bad if there is
// none.
MappedByteReader SegmentFrom(const LoadedObject& object, uintptr_t address);

struct FrameDescription {
  uintptr_t begin = 0;  // of the code it describes
  uintptr_t end = 0;
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint64_t return_column = 0;
  bool signal_frame = false;
  MappedByteReader initial_program;  // of the CIE
  MappedByteReader program;          // of the FDE
};

// The description whose range contains `pc`. False if there is none or it is damaged.
bool FindFrameDescription(const LoadedObject& object, uintptr_t pc, FrameDescription* found);

}  // namespace heapgauge::agent
