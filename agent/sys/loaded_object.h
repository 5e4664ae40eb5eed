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

// The file that is mapped at an address, by the kernel's own list (/proc/self/maps). The dynamic
// linker knows an object by the words it was asked for: "plugins/a.so" means nothing to somebody in
// another directory, nor here once the program has changed its own.
//
// Allocation-free, async-signal-safe; little stack.

// Absolute and ended with NUL, that of a deleted file as it was. False if there is none, or it does
// not fit.
bool MappedPath(uintptr_t address, char* path, size_t bytes);

// Finds the path in the text of such a list, which comes in pieces of any length.
class MapsSearch {
 public:
  MapsSearch(uintptr_t address, char* path, size_t bytes)
      : address_(address), path_(path), bytes_(bytes) {}

  enum class Outcome : uint8_t { kOpen, kFound, kNone };
  // REQUIRES: the outcome is open.
  Outcome Read(const char* text, size_t bytes);

 private:
  enum class Part : uint8_t { kStart, kEnd, kFields, kPath, kOtherLine };

  void ReadNumber(char c, char end, Part then);
  Outcome EndLine();

  uintptr_t address_;
  char* path_;
  size_t bytes_;
  size_t length_ = 0;    // of the path so far
  uint64_t number_ = 0;  // that is being read
  int spaces_ = 0;       // passed on this line, runs of them as one
  bool in_space_ = false;
  Part part_ = Part::kStart;
};

}  // namespace heapgauge::agent
