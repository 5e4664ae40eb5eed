#include "bench/profiles/call_graph.h"

#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace heapgauge::bench {
namespace {

[[noreturn]] void Stop(const std::string& path, const char* why) {
  std::fprintf(stderr, "make_profile: %s: %s\n", path.c_str(), why);
  std::exit(2);
}

template <typename T>
T At(const std::string& bytes, uint64_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, &bytes[offset], sizeof value);
  return value;
}

}  // namespace

Program ReadProgram(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (bytes.compare(0, 4, ELFMAG) != 0) Stop(path, "no ELF file");
  const auto header = At<Elf64_Ehdr>(bytes, 0);
  Program program;
  program.path = path;
  const uint64_t bias = header.e_type == ET_DYN ? 0x555555554000 : 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto ph = At<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (ph.p_type != PT_LOAD || (ph.p_flags & PF_X) == 0) continue;
    constexpr uint64_t kPage = 0xfff;
    program.code.push_back({bias + (ph.p_vaddr & ~kPage),
                            bias + ((ph.p_vaddr + ph.p_memsz + kPage) & ~kPage),
                            ph.p_offset & ~kPage});
  }
  const auto section = [&](uint64_t index) {
    return At<Elf64_Shdr>(bytes, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  Elf64_Shdr table{};
  for (int i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    if (s.sh_type == SHT_SYMTAB || (s.sh_type == SHT_DYNSYM && table.sh_type == 0)) table = s;
  }
  const Elf64_Shdr names = section(table.sh_link);
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = At<Elf64_Sym>(bytes, table.sh_offset + at);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size < 16) continue;
    const uint64_t name = names.sh_offset + symbol.st_name;
    if (name >= bytes.size() || symbol.st_shndx == SHN_UNDEF) continue;
    program.functions.push_back({bias + symbol.st_value, symbol.st_size, &bytes[name]});
  }
  std::sort(program.functions.begin(), program.functions.end(),
            [](const Symbol& a, const Symbol& b) {
              return a.address != b.address ? a.address < b.address : a.name < b.name;
            });
  // Several names for one function: the first by name.
  program.functions.erase(
      std::unique(program.functions.begin(), program.functions.end(),
                  [](const Symbol& a, const Symbol& b) { return a.address == b.address; }),
      program.functions.end());
  if (program.functions.size() < 1000 || program.code.empty()) Stop(path, "too few functions");
  return program;
}

CallGraph::CallGraph(const Program& program) {
  Random random(1);
  const size_t count = std::min(kFunctions, program.functions.size());
  const size_t step = program.functions.size() / count;
  for (size_t i = 0; i < count; ++i) functions_.push_back(static_cast<uint32_t>(i * step));
  sites_of_.resize(count);
  for (uint32_t f = 0; f < count; ++f) {
    const Symbol& symbol = program.functions[functions_[f]];
    const uint64_t sites = 1 + random.Below(100) % 4 % 3 + random.Below(2);  // 2.25 on average
    for (uint64_t i = 0; i < sites; ++i) {
      Site site;
      site.function = f;
      site.return_address = symbol.address + 5 + random.Below(symbol.size - 5);
      const auto same = [&](uint32_t other) {
        return sites_[other].return_address == site.return_address;
      };
      if (std::any_of(sites_of_[f].begin(), sites_of_[f].end(), same)) continue;
      const uint64_t callees =
          1 + random.Below(100) % 4 % 3 + random.Below(3) % 2 + random.Below(3) % 2;
      for (uint64_t k = 0; k < callees; ++k) {
        site.callees.push_back(static_cast<uint32_t>(random.Below(count)));
      }
      sites_of_[f].push_back(static_cast<uint32_t>(sites_.size()));
      sites_.push_back(std::move(site));
    }
  }
}

const std::vector<uint32_t>& CallGraph::NextStack() {
  for (;;) {
    stack_.clear();
    // A sum of three is roughly bell-shaped: 2 to 57 frames, 29.5 on average.
    const uint64_t depth = 2 + random_.Below(19) + random_.Below(19) + random_.Below(20);
    auto function = static_cast<uint32_t>(random_.Below(kRoots));
    uint64_t hash = depth;
    for (uint64_t i = 0; i < depth; ++i) {
      const std::vector<uint32_t>& sites = sites_of_[function];
      const uint32_t site = sites[random_.Below(sites.size())];
      stack_.push_back(site);
      hash = Random(hash ^ site).Next();
      function = sites_[site].callees[random_.Below(sites_[site].callees.size())];
    }
    std::reverse(stack_.begin(), stack_.end());
    if (seen_.insert(hash).second) return stack_;
  }
}

}  // namespace heapgauge::bench
