// Compresses columns while a program is being traced, so quickly rather than small. Of most columns
// the savings are in sequences of bytes that repeat; but some, as times, have none, and there to
// look for them is most of the work. So each column is remembered by what it gained: where that was
// little, only the frequencies of its bytes are made use of for a while, which takes half as long.
//
// One thread. Both are plain zstd to whoever reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;

namespace heapgauge::trace {

class ColumnPacker {
 public:
  ColumnPacker();
  ~ColumnPacker();

  // There was no memory.
  bool failed() const { return by_repeats_ == nullptr || by_frequency_ == nullptr; }
  // The most bytes that Pack may write.
  static size_t Bound(size_t bytes);
  // Packs `bytes` into `out`, of Bound() bytes; how many were written, 0 if they would not be
  // fewer. `column` is any small number, the same for what is alike. REQUIRES: not failed().
  size_t Pack(uint32_t column, std::span<const uint8_t> bytes, uint8_t* out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  using Context = std::unique_ptr<ZSTD_CCtx_s, Free>;

  Context by_repeats_;
  Context by_frequency_;
  // Of each column, how often it is to be packed by frequency before repeats are looked for again.
  std::vector<uint8_t> not_looked_for_;
};

}  // namespace heapgauge::trace
