// The file that is mapped at an address, by the kernel's own list (/proc/self/maps). The dynamic
// linker knows an object by the words it was asked for: "plugins/a.so" means nothing to somebody in
// another directory, nor here once the program has changed its own.
//
// Allocation-free, async-signal-safe; little stack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapgauge::agent {

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
