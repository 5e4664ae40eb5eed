// Compressed parts of ELF files: debug sections (zlib, zstd) and MiniDebugInfo (xz).
//
// What comes out is bounded by the caller, whatever the data claims about itself. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/elf/byte_reader.h"

namespace heapgauge {

// Exactly `size` bytes, or nothing.
std::optional<std::vector<uint8_t>> DecompressZlib(Bytes data, uint64_t size);
std::optional<std::vector<uint8_t>> DecompressZstd(Bytes data, uint64_t size);

// All of it, or nothing if there are more than `limit` bytes.
std::optional<std::vector<uint8_t>> DecompressXz(Bytes data, size_t limit);

}  // namespace heapgauge
