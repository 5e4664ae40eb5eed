// An ELF file as the symbolizer needs it: sections by name, decompressed; build-id; links to
// separate debug files. Only 64-bit little-endian files are read.
//
// Sections are read into memory when they are asked for and not mapped: a file may be cut short by
// its owner at any moment, which a mapping answers with SIGBUS. Sections over 2 GB are left out.
// Everything in the file is untrusted; a damaged one has fewer sections or none.
//
// Section() may be called from one thread at a time; the bytes stay valid as long as the ElfFile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/elf/byte_reader.h"

namespace heapgauge {

// Compressed parts of ELF files: debug sections (zlib, zstd) and MiniDebugInfo (xz).
//
// What comes out is bounded by the caller, whatever the data claims about itself. Pure functions.

// Exactly `size` bytes, or nothing.
std::optional<std::vector<uint8_t>> DecompressZlib(Bytes data, uint64_t size);
std::optional<std::vector<uint8_t>> DecompressZstd(Bytes data, uint64_t size);

// All of it, or nothing if there are more than `limit` bytes.
std::optional<std::vector<uint8_t>> DecompressXz(Bytes data, size_t limit);

class ElfFile {
 public:
  struct SectionHeader {
    std::string name;
    uint32_t type = 0;
    uint32_t link = 0;
    uint64_t flags = 0;
    uint64_t address = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t entry_size = 0;
  };
  // A part of the file that is loaded into memory.
  struct Segment {
    uint64_t address = 0;
    uint64_t offset = 0;
    uint64_t file_size = 0;
    uint64_t memory_size = 0;
    bool executable = false;
  };
  // A name and the build-id of the file it means.
  struct AltLink {
    std::string path;
    std::string build_id;
  };

  static Result<std::unique_ptr<ElfFile>> Open(const std::string& path);
  // A file in memory: the vDSO, MiniDebugInfo, tests. `path` is for messages.
  static Result<std::unique_ptr<ElfFile>> FromBytes(std::vector<uint8_t> bytes,
                                                    const std::string& path);
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }      // hexadecimal, "" if it has none
  const std::string& debug_link() const { return debug_link_; }  // "" if it has none
  uint32_t debug_link_checksum() const { return debug_link_checksum_; }
  std::optional<AltLink> AltDebugLink();
  bool has_dwarf() const {
    return Find(".debug_info") != nullptr || Find(".zdebug_info") != nullptr;
  }
  // The file is loaded at the addresses it was linked for: a program that is not
  // position-independent.
  bool is_fixed() const { return is_fixed_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // The lowest address of code; ranges below it belong to functions that the linker dropped.
  uint64_t lowest_code() const { return lowest_code_; }

  const std::vector<SectionHeader>& sections() const { return sections_; }
  // The section with contents in this file (a debug file has empty ones too), or null.
  const SectionHeader* Find(std::string_view name) const;
  // The first section of a type that has any size, or null.
  const SectionHeader* FindType(uint32_t type) const;
  // Contents of the section, decompressed; empty if there is none or it is damaged. Old names of
  // compressed sections (.zdebug_info) are found too.
  Bytes Section(std::string_view name);
  Bytes Contents(const SectionHeader& section);
  // Whether a section that was asked for was left out because of its size.
  bool has_too_large() const { return has_too_large_; }

 private:
  struct FreeDeleter {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  ElfFile(std::unique_ptr<ByteSource> source, std::string path)
      : source_(std::move(source)), path_(std::move(path)) {}
  Status ReadHeaders();
  void ReadBuildId(uint64_t offset, uint64_t size);
  Bytes Load(uint64_t offset, uint64_t size);
  Bytes Keep(std::vector<uint8_t> bytes);

  std::vector<uint8_t> memory_;  // of FromBytes
  std::unique_ptr<ByteSource> source_;
  std::string path_;
  std::string build_id_;
  std::string debug_link_;
  uint32_t debug_link_checksum_ = 0;
  uint64_t lowest_code_ = 0;
  bool is_fixed_ = false;
  std::vector<Segment> segments_;
  std::vector<SectionHeader> sections_;
  std::unordered_map<uint64_t, Bytes> loaded_;  // by offset in the file
  std::vector<std::vector<uint8_t>> buffers_;
  std::vector<std::unique_ptr<uint8_t[], FreeDeleter>> copies_;
  bool has_too_large_ = false;
};

// What the program headers of an ELF file tell about its place in memory once it is loaded.
//
// Two reads of the file, for those who need nothing else of it. The file is treated as hostile: one
// that makes no sense has no headers, and the number of segments is bounded.
struct ElfImage {
  uint64_t lowest_page = 0;         // address of the first page that is loaded, as linked
  uint64_t extent = 0;              // from there on, in whole pages; 0 if that makes no sense
  uint64_t thread_local_bytes = 0;  // of each thread, with what alignment takes
};
std::optional<ElfImage> ReadElfImage(const std::string& path);

}  // namespace heapgauge
