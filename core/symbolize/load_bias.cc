#include "core/symbolize/load_bias.h"

#include <algorithm>

namespace heapgauge {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kTried = 1000;  // addresses are enough to tell

size_t InCode(const ElfFile& file, uint64_t bias, const std::vector<uint64_t>& addresses) {
  size_t count = 0;
  for (size_t i = 0; i < std::min(addresses.size(), kTried); ++i) {
    const uint64_t address = addresses[i] - bias;
    for (const ElfFile::Segment& s : file.segments()) {
      if (s.executable && address - s.address < s.memory_size) {
        ++count;
        break;
      }
    }
  }
  return count;
}

// The code ends where the mapping does.
bool EndsTogether(const ElfFile& file, uint64_t bias, const Module& module) {
  for (const ElfFile::Segment& s : file.segments()) {
    const uint64_t end = (s.address + s.file_size + kPage - 1) / kPage * kPage;
    if (s.executable && end + bias == module.end) return true;
  }
  return false;
}

}  // namespace

uint64_t FindLoadBias(const ElfFile& file, const Module& module,
                      const std::vector<uint64_t>& addresses) {
  std::vector<uint64_t> guesses;
  const auto guess = [&](const ElfFile::Segment& s) {
    guesses.push_back(module.start - (module.offset - s.offset + s.address));
  };
  if (file.is_fixed()) guesses.push_back(0);
  // Code that has the offset in it, pages being mapped whole; then code as such; then the rest.
  const auto holds = [&](const ElfFile::Segment& s) {
    const uint64_t first = s.offset / kPage * kPage;
    const uint64_t size = s.offset - first + s.file_size + kPage - 1;
    return module.offset - first < size / kPage * kPage;
  };
  for (const ElfFile::Segment& s : file.segments()) {
    if (s.executable && holds(s)) guess(s);
  }
  for (const ElfFile::Segment& s : file.segments()) {
    if (!s.executable && holds(s)) guess(s);
  }
  for (const ElfFile::Segment& s : file.segments()) {
    if (s.executable && !holds(s)) guess(s);
  }
  // A mapping without a place in memory: addresses are the file's own.
  if (module.start == 0 || guesses.empty()) guesses.push_back(0);
  uint64_t best = guesses.front();
  size_t most = 0;
  for (const uint64_t bias : guesses) {
    // One address more weighs more than the same end.
    const size_t score =
        2 * InCode(file, bias, addresses) + (EndsTogether(file, bias, module) ? 1 : 0);
    if (score > most) {
      most = score;
      best = bias;
    }
  }
  return best;
}

}  // namespace heapgauge
