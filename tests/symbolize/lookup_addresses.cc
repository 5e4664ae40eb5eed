// Prints what the symbolizer knows of addresses in an ELF file, in the manner of addr2line -i -f:
//
//   lookup_addresses FILE [--demangle] [--debug-path DIR]... < ADDRESSES
//
//   lookup_addresses --sampled GAUGE_FILE
//
// The second form lists what there is to look up in a profile: an address in terms of the ELF file
// and the module's path on each line.
//
// For each address (hexadecimal, one per line): the address, then function and file:line of each
// frame, innermost first. For tests and benchmarks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/formats/gauge/gauge_reader.h"
#include "core/symbolize/debuginfod.h"
#include "core/symbolize/demangle.h"
#include "core/symbolize/elf_file.h"
#include "core/symbolize/module_symbols.h"

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

}  // namespace

int main(int argc, char** argv) {
  using namespace heapgauge;
  if (argc < 2) return 2;
  if (argc == 3 && std::strcmp(argv[1], "--sampled") == 0) return ListSampled(argv[2]);
  SymbolizeOptions options;
  bool demangle = false;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--demangle") == 0) demangle = true;
    if (std::strcmp(argv[i], "--debug-path") == 0 && i + 1 < argc) {
      options.extra_debug_dirs.push_back(argv[++i]);
    }
  }
  const auto debuginfod = Debuginfod::FromEnvironment();
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
  std::vector<uint64_t> asked;
  for (const char* at = input.c_str(); *at != 0;) {
    char* end = nullptr;
    asked.push_back(std::strtoull(at, &end, 16));
    at = end == at ? at + 1 : end;
    while (*at == '\n') ++at;
  }
  std::vector<uint64_t> addresses = asked;
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  const FrameLists found = (*symbols)->LookUp(addresses);
  std::unordered_map<const char*, std::string> readable;  // by where the name is
  std::string output;
  for (const uint64_t address : asked) {
    const auto at = std::lower_bound(addresses.begin(), addresses.end(), address);
    char number[32];
    std::snprintf(number, sizeof number, "0x%llx\n", static_cast<unsigned long long>(address));
    output += number;
    const auto& frames = found[static_cast<size_t>(at - addresses.begin())];
    if (frames.empty()) output += "??\n??:0\n";
    for (const SourceFrame& frame : frames) {
      if (demangle) {
        const auto [it, is_new] = readable.try_emplace(frame.system_name.data());
        if (is_new) it->second = Demangle(std::string(frame.system_name));
        output += it->second;
      } else {
        output += frame.system_name;
      }
      output += '\n';
      output += frame.file;
      output += ':';
      output += std::to_string(frame.line);
      output += '\n';
    }
    if (output.size() > 1 << 20) {
      std::fwrite(output.data(), 1, output.size(), stdout);
      output.clear();
    }
  }
  std::fwrite(output.data(), 1, output.size(), stdout);
  std::fflush(stdout);
  std::_Exit(0);  // the system frees it all faster
}
