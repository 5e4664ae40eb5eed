// Prints what the symbolizer knows of addresses in an ELF file, in the manner of addr2line -i -f:
//
//   lookup_addresses FILE [--demangle] [--debug-path DIR]... [--debuginfod-seconds N] < ADDRESSES
//
//   lookup_addresses --sampled GAUGE_FILE
//
// The second form lists what there is to look up in a profile: an address in terms of the ELF file
// and the module's path on each line.
//
// For each address (hexadecimal, one per line): the address, then function and file:line of each
// frame, innermost first. For tests and benchmarks.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/lookup_tables.h"
#include "core/base/threads.h"
#include "core/elf/demangle.h"
#include "core/elf/elf_file.h"
#include "core/gauge/gauge_reader.h"
#include "core/symbolize/debuginfod.h"
#include "core/symbolize/module_names.h"

namespace {

int ListSampled(const char* path) {
  using namespace heapgauge;
  const auto profile = ReadGaugeFile(path, {});
  if (!profile) {
    std::cerr << profile.error().message << "\n";
    return 2;
  }
  for (const Location& location : profile->locations) {
    if (location.module == kNone) continue;
    const Module& module = profile->modules[location.module];
    std::printf("0x%llx %s\n",
                static_cast<unsigned long long>(location.lookup_address() - module.load_bias),
                module.path.c_str());
  }
  return 0;
}

// The name to print for each frame, every different one demangled once.
class ShownNames {
 public:
  ShownNames(const heapgauge::FrameLists& found, bool demangle) {
    first_.reserve(found.size());
    size_t count = 0;
    for (const auto& frames : found) count += frames.size();
    names_.reserve(count);
    std::vector<Name*> different;
    for (const auto& frames : found) {
      first_.push_back(names_.size());
      for (const heapgauge::SourceFrame& frame : frames) {
        bool is_new = false;
        // By where the name is: the same one is in the file once.
        const bool whole = demangle && !frame.name.empty();
        Name* name = known_.Get((whole ? frame.name : frame.system_name).data(), &is_new);
        if (is_new) {
          name->text = whole ? frame.name : frame.system_name;
          if (demangle && !whole) different.push_back(name);
        }
        names_.push_back(name);
      }
    }
    const auto work = [&different](size_t from) {
      for (size_t i = from; i < different.size(); i += 2) {
        Name& name = *different[i];
        name.readable = heapgauge::Demangle(std::string(name.text));
        name.text = name.readable;
      }
    };
    std::thread second = different.size() > 1000 ? heapgauge::TryThread(work, 1) : std::thread();
    work(0);
    second.joinable() ? second.join() : work(1);
  }

  struct Name {
    std::string_view text;
    std::string readable;
  };
  // Of the frames of one answer, in order.
  const Name* const* of(size_t answer) const { return names_.data() + first_[answer]; }
  void Prefetch(size_t answer, size_t count) const {
    for (size_t i = 0; i < count; ++i) __builtin_prefetch(of(answer)[i]->text.data());
  }

 private:
  heapgauge::PointerMap<Name> known_;
  std::vector<const Name*> names_;
  std::vector<size_t> first_;
};

void Print(uint64_t address, const std::vector<heapgauge::SourceFrame>& frames,
           const ShownNames::Name* const* names, std::string* output) {
  char number[32];
  const auto append = [&](uint64_t value, int base) {
    output->append(number, std::to_chars(number, number + sizeof number, value, base).ptr);
  };
  *output += "0x";
  append(address, 16);
  *output += '\n';
  if (frames.empty()) *output += "??\n??:0\n";
  for (const heapgauge::SourceFrame& frame : frames) {
    *output += (*names++)->text;
    *output += '\n';
    *output += frame.file;
    *output += ':';
    append(frame.line, 10);
    *output += '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace heapgauge;
  if (argc < 2) return 2;
  if (argc == 3 && std::strcmp(argv[1], "--sampled") == 0) return ListSampled(argv[2]);
  SymbolizeOptions options;
  bool demangle = false;
  uint64_t debuginfod_seconds = 30;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--demangle") == 0) demangle = true;
    if (std::strcmp(argv[i], "--debug-path") == 0 && i + 1 < argc) {
      options.extra_debug_dirs.push_back(argv[++i]);
    } else if (std::strcmp(argv[i], "--debuginfod-seconds") == 0 && i + 1 < argc) {
      debuginfod_seconds = std::strtoull(argv[++i], nullptr, 10);
    }
  }
  const auto debuginfod = Debuginfod::FromEnvironment(debuginfod_seconds);
  options.debuginfod = debuginfod.get();
  auto elf = ElfFile::Open(argv[1]);
  if (!elf) {
    std::cerr << elf.error().message << "\n";
    return 2;
  }
  Module module;
  module.path = std::filesystem::absolute(argv[1]).string();
  module.build_id = (*elf)->build_id();
  elf->reset();
  StampList stamps;
  auto symbols = ModuleSymbols::Open(module, options, &stamps);
  if (!symbols) {
    std::cerr << symbols.error().message << "\n";
    return 2;
  }
  std::string input;
  char part[1 << 16];
  for (size_t n = 0; (n = std::fread(part, 1, sizeof part, stdin)) > 0;) input.append(part, n);
  if (debuginfod != nullptr && !debuginfod->trouble().empty()) {
    std::cerr << debuginfod->trouble() << "\n";
  }
  std::vector<uint64_t> asked;
  for (const char* at = input.c_str(); *at != 0;) {
    char* end = nullptr;
    asked.push_back(std::strtoull(at, &end, 16));
    at = end == at ? at + 1 : end;
    while (*at == '\n') ++at;
  }
  // Each place in the input, by address.
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const uint64_t address : asked) {
    order.emplace_back(address, static_cast<uint32_t>(order.size()));
  }
  std::sort(order.begin(), order.end());
  std::vector<uint64_t> addresses;
  std::vector<uint32_t> answer_of(asked.size());
  for (const auto& [address, place] : order) {
    if (addresses.empty() || addresses.back() != address) addresses.push_back(address);
    answer_of[place] = static_cast<uint32_t>(addresses.size() - 1);
  }
  const FrameLists found = (*symbols)->LookUp(addresses);
  const ShownNames names(found, demangle);
  // Two threads write blocks of the answer in turn.
  constexpr size_t kBlock = 256;
  const size_t blocks = (asked.size() + kBlock - 1) / kBlock;
  std::atomic<size_t> turn{0};
  const auto write = [&](size_t first, size_t threads) {
    std::string text;
    for (size_t block = first; block < blocks; block += threads) {
      const size_t end = std::min(asked.size(), (block + 1) * kBlock);
      text.clear();
      for (size_t i = block * kBlock; i < end; ++i) {
        // The answers are all over the memory: those that come next are asked for in time.
        if (i + 8 < end) __builtin_prefetch(&found[answer_of[i + 8]]);
        if (i + 4 < end) {
          __builtin_prefetch(found[answer_of[i + 4]].data());
          __builtin_prefetch(names.of(answer_of[i + 4]));
        }
        if (i + 2 < end) names.Prefetch(answer_of[i + 2], found[answer_of[i + 2]].size());
        Print(asked[i], found[answer_of[i]], names.of(answer_of[i]), &text);
      }
      for (size_t now = turn; now != block; now = turn) turn.wait(now);
      std::fwrite(text.data(), 1, text.size(), stdout);
      turn = block + 1;
      turn.notify_all();
    }
  };
  std::thread second = blocks > 4 ? TryThread(write, 1, 2) : std::thread();
  write(0, second.joinable() ? 2 : 1);
  if (second.joinable()) second.join();
  std::fflush(stdout);
  std::_Exit(0);  // the system frees it all faster
}
