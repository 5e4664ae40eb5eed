// What MallocExtension answers, for its two faces: the C functions and the C++ class.
//
// Over any allocator this is: what the agent knows (samples, allocations since the start) and what
// glibc's malloc tells. Properties that only tcmalloc has are not understood, as its own interface
// puts it. Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heapgauge::compat::extension {

bool GetProperty(std::string_view name, size_t* value);
bool SetProperty(std::string_view name, size_t value);
std::string Statistics();
void Release();
// The next larger block that the allocator would make; the size itself where nobody knows.
size_t EstimatedSize(size_t size);
size_t SizeOf(const void* block);
bool MemoryStatistics(int* blocks, size_t* total, int* histogram, int histogram_size);

// Live samples in the text format, with their rate; then what was ever allocated, which stands for
// the growth of the heap.
std::string HeapSample();
std::string GrowthStacks();

}  // namespace heapgauge::compat::extension
