// Pointers that only the kernel holds for a program: those it gave to epoll along with descriptors
// (epoll_event::data), as C servers do with their connections. The kernel tells them in
// /proc/PID/fdinfo.
//
// They are no part of a picture, and to read them takes too long to be done while the program
// stands still. So they are read before it and after it, and all count: what epoll held at the
// instant itself is among them.
//
//   EpollPointers epoll(program);    // before the picture is taken
//   epoll.ReadAgain();               // at once after it
//
// What is read is bounded. A value that is no pointer (most programs give a number) does no harm.
// Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class EpollPointers {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;  // of one reading
  static constexpr uint32_t kMostDescriptors = 1 << 20;

  explicit EpollPointers(uint32_t program, size_t most_bytes = kMostBytes);
  void ReadAgain();

  // Each value once, without its low bits: programs keep marks there.
  const std::vector<RootRegister>& roots() const { return roots_; }
  // What could not be read, for people; "" if all was.
  std::string Note() const;

  // Adds what a file of fdinfo tells of the descriptor.
  void Add(std::string_view text, uint32_t descriptor);

 private:
  uint32_t program_;
  size_t most_bytes_;
  bool unlisted_ = false;
  bool cut_ = false;
  std::unordered_set<uint64_t> seen_;
  std::vector<RootRegister> roots_;
};

}  // namespace heapgauge::leaks
