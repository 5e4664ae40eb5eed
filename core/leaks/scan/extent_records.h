// jemalloc keeps a record of each run of pages it has handed out, and the record holds the address
// of the block (of the first one, where several share the pages). It is no pointer of the program:
// by it every large block (16 KiB and more) would be reachable for ever.
//
// The records are known by what they say, as jemalloc 5.3 lays them out (edata_t in its edata.h):
// three words at a multiple of 64 bytes, in which the size class and the size agree and bits that
// are always zero are. Records of other versions are taken for memory like any other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapgauge::leaks {

inline constexpr uint64_t kExtentRecordAlignment = 64;
inline constexpr size_t kExtentRecordWords = 3;  // flags, address, size
inline constexpr size_t kExtentRecordAddress = 1;

// Bytes of jemalloc's size class: 8, 16, 32, 48, 64, then four for each doubling.
constexpr uint64_t ExtentClassBytes(uint32_t number) {
  if (number == 0) return 8;
  const uint32_t group = (number - 1) / 4;
  const uint64_t step = (number - 1) % 4 + 1;
  return group == 0 ? 16 * step : (uint64_t{64} + 16 * step) << (group - 1);
}

// Are these the first words of a record of pages in use? REQUIRES: kExtentRecordWords of them.
inline bool IsExtentRecord(const uint64_t* words) {
  constexpr uint64_t kPage = 4096;
  constexpr uint32_t kUsedBits = 45;
  constexpr uint64_t kSlab = uint64_t{1} << 12;
  constexpr uint64_t kState = uint64_t{7} << 17;  // 0: in use
  constexpr uint32_t kClassShift = 20;
  constexpr uint32_t kLastClass = 231;
  const uint64_t flags = words[0];
  const uint64_t address = words[kExtentRecordAddress];
  const uint64_t bytes = words[2] & ~(kPage - 1);  // the rest is a serial number
  if (bytes == 0 || address == 0 || flags >> kUsedBits != 0 || (flags & kState) != 0) return false;
  const auto number = static_cast<uint32_t>(flags >> kClassShift & 0xff);
  if (number > kLastClass) return false;
  const uint64_t block = ExtentClassBytes(number);
  // Small blocks share a slab. A large one has its pages alone, and one more to begin anywhere in.
  if ((flags & kSlab) != 0) return address % kPage == 0 && block < 4 * kPage && bytes >= block;
  return address % kExtentRecordAlignment == 0 && block >= 4 * kPage &&
         (bytes == block || bytes == block + kPage);
}

// Tells `finder` of words that were read from `address`, without those by which records name
// blocks.
template <typename Finder>
void AddWithoutExtentRecords(const uint64_t* words, size_t count, uint64_t address, uint32_t source,
                             Finder* finder) {
  constexpr size_t kStep = kExtentRecordAlignment / 8;
  size_t told = 0;
  size_t at = (kStep - address / 8 % kStep) % kStep;
  for (; at + kExtentRecordWords <= count; at += kStep) {
    if (!IsExtentRecord(words + at)) continue;
    const size_t name = at + kExtentRecordAddress;
    finder->Add(words + told, name - told, address + told * 8, source);
    told = name + 1;
  }
  finder->Add(words + told, count - told, address + told * 8, source);
}

}  // namespace heapgauge::leaks
