// The object (program or shared library) that holds an address, as the dynamic linker sees it.
//
// Lock-free, allocation-free, async-signal-safe: by _dl_find_object alone (glibc 2.35 or later).
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace heapgauge::agent {

struct LoadedObject {
  uintptr_t start =
      0;  // mapped range; of a main program with holes only the part around the address
  uintptr_t end = 0;
  uintptr_t eh_frame_hdr = 0;  // 0: has none
  uintptr_t load_bias = 0;
  bool main_program = false;
  const char* path = "";           // the dynamic linker's; empty for the main program
  const void* identity = nullptr;  // differs for two objects that are loaded at the same time
};

// The object that holds `address`; false if none does.
bool ObjectAt(uintptr_t address, LoadedObject* object);

// Its LoadedObject::identity alone, nullptr if there is none: reads nothing of the object, so that
// another thread may unload it meanwhile.
const void* IdentityAt(uintptr_t address);

struct ProgramHeaders {
  const ElfW(Phdr) * first = nullptr;
  size_t count = 0;
};

// The program headers of an object, in its own memory; count is 0 if they cannot be found.
ProgramHeaders HeadersOf(const LoadedObject& object);

// The loaded segment that holds `bytes` from `address`: its end, or 0 if no segment does.
uintptr_t SegmentEnd(const LoadedObject& object, const ProgramHeaders& headers, uintptr_t address,
                     uint64_t bytes);

// Copies the build-id of an object that is loaded now; 0 if it has none or it does not fit.
size_t BuildId(const LoadedObject& object, uint8_t* build_id, size_t capacity);

}  // namespace heapgauge::agent
