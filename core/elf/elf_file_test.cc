#include "core/elf/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace heapgauge {
namespace {

constexpr char kNames[] = "\0.debug_info\0.shstrtab";

// A file with one section of that size, which takes no room on the disk; "" if there is no room.
std::string MakeSparseFile(const std::string& name, uint64_t section_size) {
  const std::string path = testing::TempDir() + name;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return "";
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr sections[3]{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = 4096;
  sections[1].sh_size = section_size;
  sections[2].sh_name = 13;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sizeof header + sizeof sections;
  sections[2].sh_size = sizeof kNames;
  bool ok = pwrite(fd, &header, sizeof header, 0) == sizeof header;
  ok = ok && pwrite(fd, sections, sizeof sections, sizeof header) == sizeof sections;
  ok = ok && pwrite(fd, kNames, sizeof kNames, sizeof header + sizeof sections) == sizeof kNames;
  ok = ok && ftruncate(fd, static_cast<off_t>(4096 + section_size)) == 0;
  close(fd);
  return ok ? path : "";
}

TEST(ElfFile, AFileThatIsCutShortLaterIsNoHarm) {
  // Larger than what was ever mapped instead of read.
  constexpr uint64_t kSize = 272 << 20;
  const std::string path = MakeSparseFile("cut_short", kSize);
  if (path.empty()) GTEST_SKIP() << "no room for a sparse file in " << testing::TempDir();
  const auto file = ElfFile::Open(path);
  ASSERT_TRUE(file);
  const Bytes section = (*file)->Section(".debug_info");
  ASSERT_EQ(section.size(), kSize);
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_EQ(section[kSize / 2], 0);
  EXPECT_EQ(section.back(), 0);
  EXPECT_FALSE((*file)->has_too_large());
  std::filesystem::remove(path);
}

TEST(ElfFile, AFileThatIsCutShortBeforeItIsReadHasNoSection) {
  const std::string path = MakeSparseFile("cut_early", 1 << 20);
  ASSERT_NE(path, "");
  const auto file = ElfFile::Open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(truncate(path.c_str(), 8192), 0);
  EXPECT_TRUE((*file)->Section(".debug_info").empty());
  std::filesystem::remove(path);
}

TEST(ElfFile, ASectionThatIsTooLargeIsLeftOutAndRemembered) {
  const std::string path = MakeSparseFile("too_large", uint64_t{3} << 30);
  if (path.empty()) GTEST_SKIP() << "no room for a sparse file in " << testing::TempDir();
  const auto file = ElfFile::Open(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->has_dwarf());
  EXPECT_TRUE((*file)->Section(".debug_info").empty());
  EXPECT_TRUE((*file)->has_too_large());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace heapgauge
