// A few page-sized blocks of glibc's, kept to stand in for small samples.
//
// A sample has to begin at a page so that `free` can tell it by its address. glibc would cut each
// such block out of the heap with memalign and leave gaps around it; a program whose blocks came
// from the top of the heap until then would get them from those gaps from then on, at several times
// the instructions. So sixteen blocks are asked for at once, at the very start, where they disturb
// nothing, and are used again and again. Once they are all in use, samples are plain blocks.
//
// Other allocators keep pages of one size together anyway and need none of this.
//
// The blocks are glibc's own: one that the program frees past our hooks is simply gone from here,
// and one that comes back is kept only if glibc says that it is still a page-sized block.
// Lock-free, async-signal-safe but for Fill. Zeroed memory is an empty set.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapgauge::agent {

class PageBlocks {
 public:
  // The most that fits behind glibc's header without spoiling the next page.
  static constexpr size_t kBlockBytes = 4096 - 16;

  // Asks the allocator for all blocks. REQUIRES: the real functions are known and glibc's.
  void Fill();

  // A block at a page with room for kBlockBytes; 0 if none is left.
  uintptr_t Take();
  // Does glibc say that this is a page-sized block at a page?
  static bool IsOne(uintptr_t block);
  // Keeps a block that is being freed; false if the caller has to free it.
  bool Keep(uintptr_t block);

 private:
  static constexpr size_t kBlocks = 16;
  std::atomic<uintptr_t> blocks_[kBlocks];
};

extern PageBlocks page_blocks;

}  // namespace heapgauge::agent
