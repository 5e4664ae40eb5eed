// A byte for each block, zero at first. Bytes that nobody asks for take no memory and no time.
//
// Owned by one thread. Throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace heapgauge::leaks {

class ZeroedBytes {
 public:
  explicit ZeroedBytes(size_t count) : bytes_(static_cast<uint8_t*>(std::calloc(count + 1, 1))) {
    if (bytes_ == nullptr) throw std::bad_alloc();
  }
  uint8_t& operator[](size_t i) { return bytes_.get()[i]; }
  uint8_t operator[](size_t i) const { return bytes_.get()[i]; }

 private:
  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> bytes_;
};

}  // namespace heapgauge::leaks
