#include "core/symbolize/module_files.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

namespace heapgauge {
namespace {

struct Load {
  uint64_t offset;
  uint64_t address;
  uint64_t size;
  bool executable;
};

std::unique_ptr<ElfFile> File(uint16_t type, const std::vector<Load>& loads) {
  std::vector<uint8_t> bytes(sizeof(Elf64_Ehdr) + loads.size() * sizeof(Elf64_Phdr));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = type;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(loads.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  for (size_t i = 0; i < loads.size(); ++i) {
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = loads[i].executable ? PF_R | PF_X : PF_R;
    segment.p_offset = loads[i].offset;
    segment.p_vaddr = loads[i].address;
    segment.p_filesz = segment.p_memsz = loads[i].size;
    std::memcpy(bytes.data() + sizeof header + i * sizeof segment, &segment, sizeof segment);
  }
  return ElfFile::FromBytes(bytes, "test").value();
}

Module Mapped(uint64_t start, uint64_t end, uint64_t offset) {
  Module module;
  module.start = start;
  module.end = end;
  module.offset = offset;
  module.load_bias_known = false;
  return module;
}

constexpr uint64_t kBase = 0x7f0000000000;

TEST(LoadBias, IsZeroForAProgramLinkedForItsPlace) {
  const auto file = File(ET_EXEC, {{0, 0x400000, 0x800, false}, {0x1000, 0x401000, 0x5000, true}});
  EXPECT_EQ(FindLoadBias(*file, Mapped(0x401000, 0x406000, 0x1000), {0x401234}), 0u);
  EXPECT_EQ(FindLoadBias(*file, Mapped(0x400000, 0x406000, 0), {0x401234}), 0u);
}

TEST(LoadBias, ComesFromTheSegmentThatIsMapped) {
  const auto file = File(ET_DYN, {{0, 0, 0x800, false}, {0x1000, 0x1000, 0x5000, true}});
  EXPECT_EQ(FindLoadBias(*file, Mapped(kBase + 0x1000, kBase + 0x6000, 0x1000), {kBase + 0x1234}),
            kBase);
  // Stretched down to the beginning of the file.
  EXPECT_EQ(FindLoadBias(*file, Mapped(kBase, kBase + 0x6000, 0), {kBase + 0x1234}), kBase);
}

TEST(LoadBias, IsRightWhereAddressesRunAheadOfOffsets) {
  // As lld does it: text shares a page of the file with what is before it.
  const auto file = File(ET_DYN, {{0, 0, 0x1840, false}, {0x1840, 0x2840, 0x5000, true}});
  EXPECT_EQ(FindLoadBias(*file, Mapped(kBase + 0x2000, kBase + 0x8000, 0x1000), {kBase + 0x2900}),
            kBase);
  // The mapping of the whole file, and the text's mapping stretched by its offset.
  EXPECT_EQ(FindLoadBias(*file, Mapped(kBase, kBase + 0x8000, 0), {kBase + 0x7000}), kBase);
  EXPECT_EQ(FindLoadBias(*file, Mapped(kBase + 0x1000, kBase + 0x8000, 0), {kBase + 0x7800}),
            kBase);
}

TEST(LoadBias, KnowsPrelinkedLibraries) {
  const auto file = File(ET_DYN, {{0, 0x3000000000, 0x9000, true}});
  EXPECT_EQ(FindLoadBias(*file, Mapped(0x3000000000, 0x3000009000, 0), {0x3000000123}), 0u);
  EXPECT_EQ(FindLoadBias(*file, Mapped(kBase, kBase + 0x9000, 0), {kBase + 0x123}),
            kBase - 0x3000000000);
}

TEST(LoadBias, IsZeroWithoutAPlaceInMemory) {
  const auto file = File(ET_DYN, {{0x1000, 0x1000, 0x5000, true}});
  EXPECT_EQ(FindLoadBias(*file, Mapped(0, ~uint64_t{0}, 0), {0x1234}), 0u);
  EXPECT_EQ(FindLoadBias(*File(ET_DYN, {}), Mapped(0x1000, 0x2000, 0), {0x1234}), 0u);
}

}  // namespace
}  // namespace heapgauge
