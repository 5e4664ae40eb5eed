// Gives the known blocks of a check their verdicts: finds the roots in a picture of the program,
// with what the picture lacks, scans, and notes what could not be read. All checks that look at
// memory go through here.
//
// The program may run. One thread.
#pragma once

#include <functional>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/result.h"
#include "core/leaks/capture/epoll_pointers.h"
#include "core/leaks/capture/process_roots.h"
#include "core/leaks/capture/uncopied_memory.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/scan.h"

namespace heapgauge::leaks {

struct MemorySearch {
  const MemoryImage& image;
  // Of the program, made before the picture; what is missing in a copy has been read.
  UncopiedMemory& uncopied;
  // Of the program, read before the picture and after it.
  const EpollPointers& epoll;
  RootsInput roots;  // but for `blocks` and `in_kernel`
  ScanOptions scan;
  // All may be empty. What can be read at all, told before the scan;
  std::function<void(std::vector<AddressRange>)> tell_readable;
  // the roots, to be changed before it;
  std::function<void(Roots*)> adjust;
  // and the memory with what the picture lacks, once there are verdicts.
  std::function<void(const MemoryImage&, const Check&)> with_memory;
};

// REQUIRES: check->known. Sets roots, verdicts, what was scanned, and adds notes.
Status SearchMemory(const MemorySearch& search, Check* check);

}  // namespace heapgauge::leaks
