// Makes the heap of this process one that a program with large tables lives on for long: memory
// that was freed is kept for the next table rather than given back and asked for again, which costs
// a page fault for each 4 KiB. No large pages: most runs gained by them, but one lost far more,
// probably while the host of the virtual machine had to find the memory.
//
// For a whole process, by its main program; a library has no business with it. REQUIRES: one
// thread.
#pragma once

namespace heapgauge {

void MakeHeapSteady();

}  // namespace heapgauge
