// An ELF file opened for symbolizing: the module itself or its separate debug file, found by
// build-id or debug link. A file whose build-id is not the recorded one is refused: no name is
// better than a wrong one.
//
// Owned by one thread. Files are read through libelf; only regular files are opened.
#ifndef HEAPGAUGE_CORE_SYMBOLIZE_ELF_FILE_H_
#define HEAPGAUGE_CORE_SYMBOLIZE_ELF_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"

struct Elf;
struct Dwarf;

namespace heapgauge {

class ElfFile {
 public:
  static Result<std::unique_ptr<ElfFile>> Open(const std::string& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  Elf* elf() const { return elf_; }
  const std::string& path() const { return file_.path(); }
  const std::string& build_id() const { return build_id_; }  // hexadecimal, "" if it has none
  // DWARF data; null if the file has none. Opened at the first call.
  Dwarf* dwarf();

  // Where a separate debug file for this one may be, best first.
  std::vector<std::string> DebugFileCandidates(const std::vector<std::string>& debug_dirs) const;

 private:
  explicit ElfFile(File file) : file_(std::move(file)) {}

  File file_;
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
  bool dwarf_tried_ = false;
  std::string build_id_;
  std::string debug_link_;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_SYMBOLIZE_ELF_FILE_H_
