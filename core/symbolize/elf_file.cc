#include "core/symbolize/elf_file.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <libelf.h>

#include "core/base/text.h"

namespace heapgauge {

Result<std::unique_ptr<ElfFile>> ElfFile::Open(const std::string& path) {
  HG_ASSIGN(File file, File::OpenForReading(path));
  static const unsigned version = elf_version(EV_CURRENT);
  static_cast<void>(version);
  std::unique_ptr<ElfFile> result(new ElfFile(std::move(file)));
  result->elf_ = elf_begin(result->file_.fd(), ELF_C_READ_MMAP, nullptr);
  if (result->elf_ == nullptr || elf_kind(result->elf_) != ELF_K_ELF) {
    return Fail(ErrorCode::kNotRecognized, "'" + Printable(path) + "' is not an ELF file");
  }
  const void* bytes = nullptr;
  const ssize_t length = dwelf_elf_gnu_build_id(result->elf_, &bytes);
  for (ssize_t i = 0; i < length && i < 64; ++i) {
    result->build_id_ += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  }
  GElf_Word checksum = 0;
  if (const char* link = dwelf_elf_gnu_debuglink(result->elf_, &checksum); link != nullptr) {
    result->debug_link_ = link;
  }
  return result;
}

ElfFile::~ElfFile() {
  if (dwarf_ != nullptr) dwarf_end(dwarf_);
  if (elf_ != nullptr) elf_end(elf_);
}

Dwarf* ElfFile::dwarf() {
  if (!dwarf_tried_) {
    dwarf_tried_ = true;
    dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
  }
  return dwarf_;
}

std::vector<std::string> ElfFile::DebugFileCandidates(
    const std::vector<std::string>& debug_dirs) const {
  std::vector<std::string> candidates;
  if (build_id_.size() > 2) {
    for (const std::string& dir : debug_dirs) {
      candidates.push_back(dir + "/.build-id/" + build_id_.substr(0, 2) + "/" +
                           build_id_.substr(2) + ".debug");
    }
  }
  // A link that is not a plain file name would lead out of the directories below.
  if (!debug_link_.empty() && debug_link_.find('/') == std::string::npos) {
    const std::string& path = file_.path();
    const std::string dir = path.substr(0, path.rfind('/') + 1);
    if (dir + debug_link_ != path) candidates.push_back(dir + debug_link_);
    candidates.push_back(dir + ".debug/" + debug_link_);
    for (const std::string& root : debug_dirs) candidates.push_back(root + dir + debug_link_);
  }
  return candidates;
}

}  // namespace heapgauge
