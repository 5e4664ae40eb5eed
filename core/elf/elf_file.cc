#include "core/elf/elf_file.h"

#include <elf.h>
#include <lzma.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/encode.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/threads.h"

namespace heapgauge {
namespace {

// deflate cannot do better than this and real debug sections are far from it, so a larger claim is
// a lie that would cost memory.
constexpr uint64_t kBestRatio = 1032;
constexpr uint64_t kLargest = uint64_t{2} << 30;

bool Believable(uint64_t size, Bytes data) {
  return size <= kLargest && size <= data.size() * kBestRatio + 64;
}

}  // namespace

std::optional<std::vector<uint8_t>> DecompressZlib(Bytes data, uint64_t size) {
  if (!Believable(size, data)) return std::nullopt;
  std::vector<uint8_t> result(static_cast<size_t>(size));
  uLongf length = size;
  uLong used = data.size();
  if (uncompress2(result.data(), &length, data.data(), &used) != Z_OK || length != size) {
    return std::nullopt;
  }
  return result;
}

std::optional<std::vector<uint8_t>> DecompressZstd(Bytes data, uint64_t size) {
  if (!Believable(size, data)) return std::nullopt;
  std::vector<uint8_t> result(static_cast<size_t>(size));
  const size_t length = ZSTD_decompress(result.data(), result.size(), data.data(), data.size());
  if (ZSTD_isError(length) != 0 || length != size) return std::nullopt;
  return result;
}

std::optional<std::vector<uint8_t>> DecompressXz(Bytes data, size_t limit) {
  constexpr uint64_t kDecoderMemory = 128 << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kDecoderMemory, LZMA_CONCATENATED) != LZMA_OK) {
    return std::nullopt;
  }
  std::vector<uint8_t> result;
  stream.next_in = data.data();
  stream.avail_in = data.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    const size_t done = stream.total_out;
    if (done == result.size()) {
      if (done >= limit) break;
      result.resize(std::min(limit, std::max<size_t>(done * 2, 64 << 10)));
    }
    stream.next_out = result.data() + done;
    stream.avail_out = result.size() - done;
    status = lzma_code(&stream, LZMA_FINISH);
  }
  result.resize(stream.total_out);
  lzma_end(&stream);
  if (status != LZMA_STREAM_END) return std::nullopt;
  return result;
}

namespace {

constexpr uint64_t kMaxSections = 1 << 16;
// Of one section, in memory. What is larger is left out, and the report says so.
constexpr uint64_t kLargestSection = uint64_t{2} << 30;
constexpr uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which glibc 2.36's header does not have
constexpr uint64_t kMaxBuildId = 64;
constexpr size_t kHugePage = 2 << 20;

}  // namespace

Result<std::unique_ptr<ElfFile>> ElfFile::Open(const std::string& path) {
  HG_ASSIGN(File file, File::OpenForReading(path));
  std::unique_ptr<ElfFile> result(new ElfFile(std::make_unique<File>(std::move(file)), path));
  HG_TRY(result->ReadHeaders());
  return result;
}

Result<std::unique_ptr<ElfFile>> ElfFile::FromBytes(std::vector<uint8_t> bytes,
                                                    const std::string& path) {
  auto source = std::make_unique<MemorySource>(
      std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::unique_ptr<ElfFile> result(new ElfFile(std::move(source), path));
  result->memory_ = std::move(bytes);  // the data stays where it is
  HG_TRY(result->ReadHeaders());
  return result;
}

Status ElfFile::ReadHeaders() {
  Elf64_Ehdr header{};
  if (source_->ReadAt(0, &header, sizeof header) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return Fail(ErrorCode::kNotRecognized, "'" + Printable(path_) + "' is not an ELF file");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Fail(ErrorCode::kUnsupported, "'" + Printable(path_) + "' is not a 64-bit ELF file");
  }
  is_fixed_ = header.e_type == ET_EXEC;
  if (header.e_phentsize == sizeof(Elf64_Phdr)) {
    const Bytes table = Load(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
    lowest_code_ = ~uint64_t{0};
    for (size_t i = 0; (i + 1) * sizeof(Elf64_Phdr) <= table.size(); ++i) {
      Elf64_Phdr segment;
      std::memcpy(&segment, table.data() + i * sizeof segment, sizeof segment);
      if (segment.p_type == PT_LOAD) {
        segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz, segment.p_memsz,
                             (segment.p_flags & PF_X) != 0});
      }
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
        lowest_code_ = std::min(lowest_code_, segment.p_vaddr);
      }
      if (segment.p_type == PT_NOTE && build_id_.empty()) {
        ReadBuildId(segment.p_offset, segment.p_filesz);
      }
    }
    if (lowest_code_ == ~uint64_t{0}) lowest_code_ = 0;
  }
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  uint64_t count = header.e_shnum;
  uint32_t names = header.e_shstrndx;
  Elf64_Shdr first{};
  if (source_->ReadAt(header.e_shoff, &first, sizeof first) != sizeof first) return {};
  if (count == 0) count = first.sh_size;
  if (names == SHN_XINDEX) names = first.sh_link;
  count = std::min(count, kMaxSections);
  const Bytes table = Load(header.e_shoff, count * sizeof(Elf64_Shdr));
  count = table.size() / sizeof(Elf64_Shdr);
  if (names >= count) return {};
  std::vector<Elf64_Shdr> headers(static_cast<size_t>(count));
  std::memcpy(headers.data(), table.data(), headers.size() * sizeof(Elf64_Shdr));
  const Bytes text = Load(headers[names].sh_offset, headers[names].sh_size);
  for (const Elf64_Shdr& section : headers) {
    SectionHeader copy;
    copy.name = TextAt(text, section.sh_name);
    copy.type = section.sh_type;
    copy.link = section.sh_link;
    copy.flags = section.sh_flags;
    copy.address = section.sh_addr;
    copy.offset = section.sh_offset;
    copy.size = section.sh_size;
    copy.entry_size = section.sh_entsize;
    sections_.push_back(std::move(copy));
  }
  // Debug files have notes as sections, but their segments may point nowhere.
  const SectionHeader* note = Find(".note.gnu.build-id");
  if (note != nullptr) ReadBuildId(note->offset, note->size);
  const Bytes link = Section(".gnu_debuglink");
  debug_link_ = TextAt(link, 0);
  debug_link_checksum_ = ByteReader(link, (debug_link_.size() + 4) & ~size_t{3}).U32();
  return {};
}

void ElfFile::ReadBuildId(uint64_t offset, uint64_t size) {
  ByteReader notes(Load(offset, std::min<uint64_t>(size, 64 << 10)));
  while (notes.left() >= 12) {
    const uint32_t name_size = notes.U32();
    const uint32_t value_size = notes.U32();
    const uint32_t type = notes.U32();
    const uint8_t* name = notes.position();
    notes.Skip((uint64_t{name_size} + 3) & ~uint64_t{3});
    const uint8_t* value = notes.position();
    notes.Skip((uint64_t{value_size} + 3) & ~uint64_t{3});
    if (notes.failed()) return;
    if (type == NT_GNU_BUILD_ID && name_size == 4 && std::memcmp(name, "GNU", 4) == 0) {
      build_id_ = HexText({value, std::min<size_t>(value_size, kMaxBuildId)});
      return;
    }
  }
}

std::optional<ElfFile::AltLink> ElfFile::AltDebugLink() {
  const Bytes section = Section(".gnu_debugaltlink");
  AltLink link;
  link.path = TextAt(section, 0);
  if (link.path.empty()) return std::nullopt;
  link.build_id = HexText(SliceOf(section, link.path.size() + 1, kMaxBuildId));
  return link;
}

const ElfFile::SectionHeader* ElfFile::Find(std::string_view name) const {
  for (const SectionHeader& section : sections_) {
    if (section.name == name && section.type != SHT_NOBITS && section.size != 0) return &section;
  }
  return nullptr;
}

const ElfFile::SectionHeader* ElfFile::FindType(uint32_t type) const {
  const auto found = std::find_if(
      sections_.begin(), sections_.end(),
      [type](const SectionHeader& section) { return section.type == type && section.size != 0; });
  return found == sections_.end() ? nullptr : &*found;
}

Bytes ElfFile::Section(std::string_view name) {
  if (const SectionHeader* section = Find(name); section != nullptr) return Contents(*section);
  if (name.substr(0, 7) != ".debug_") return {};
  // ".zdebug_x": "ZLIB", the size as 8 bytes, big-endian, then the data.
  const SectionHeader* old = Find(".z" + std::string(name.substr(1)));
  if (old == nullptr) return {};
  const Bytes data = Contents(*old);
  if (data.size() < 12 || std::memcmp(data.data(), "ZLIB", 4) != 0) return {};
  uint64_t size = 0;
  for (size_t i = 4; i < 12; ++i) size = size << 8 | data[i];
  auto plain = DecompressZlib(data.subspan(12), size);
  return plain ? Keep(std::move(*plain)) : Bytes();
}

Bytes ElfFile::Contents(const SectionHeader& section) {
  if (section.type == SHT_NOBITS || section.size == 0) return {};
  const auto known = loaded_.find(section.offset);
  if (known != loaded_.end()) return known->second;
  Bytes data = Load(section.offset, section.size);
  if ((section.flags & SHF_COMPRESSED) != 0) {
    ByteReader header(data);
    const uint32_t type = header.U32();
    header.U32();
    const uint64_t size = header.U64();
    header.U64();
    if (header.failed()) return {};
    const Bytes packed = data.subspan(static_cast<size_t>(header.offset()));
    std::optional<std::vector<uint8_t>> plain;
    if (type == ELFCOMPRESS_ZLIB) plain = DecompressZlib(packed, size);
    if (type == kZstd) plain = DecompressZstd(packed, size);
    data = plain ? Keep(std::move(*plain)) : Bytes();
  }
  loaded_.emplace(section.offset, data);
  return data;
}

Bytes ElfFile::Keep(std::vector<uint8_t> bytes) {
  buffers_.push_back(std::move(bytes));
  return buffers_.back();
}

Bytes ElfFile::Load(uint64_t offset, uint64_t size) {
  const uint64_t total = source_->Size();
  if (size == 0 || offset >= total || size > total - offset) return {};
  if (size > kLargestSection) {
    has_too_large_ = true;
    return {};
  }
  if (!memory_.empty()) return SliceOf(memory_, offset, size);
  // Large copies in huge pages where the system has them: one page fault for 2 MB.
  const size_t whole = (static_cast<size_t>(size) + kHugePage - 1) / kHugePage * kHugePage;
  const bool huge = size >= 2 * kHugePage;
  std::unique_ptr<uint8_t[], FreeDeleter> copy(static_cast<uint8_t*>(
      huge ? std::aligned_alloc(kHugePage, whole) : std::malloc(static_cast<size_t>(size))));
  if (copy == nullptr) return {};
  if (huge) madvise(copy.get(), whole, MADV_HUGEPAGE);
  // The copying costs as much as looking things up later does, so two threads share it.
  const size_t first = huge && std::thread::hardware_concurrency() > 1
                           ? static_cast<size_t>(size) / 2 / kHugePage * kHugePage
                           : static_cast<size_t>(size);
  const size_t rest = static_cast<size_t>(size) - first;
  size_t rest_read = 0;
  const auto read_rest = [&] {
    rest_read = source_->ReadAt(offset + first, copy.get() + first, rest);
  };
  std::thread second = rest == 0 ? std::thread() : TryThread(read_rest);
  const size_t first_read = source_->ReadAt(offset, copy.get(), first);
  second.joinable() ? second.join() : read_rest();
  if (first_read != first || rest_read != rest) return {};
  copies_.push_back(std::move(copy));
  return {copies_.back().get(), static_cast<size_t>(size)};
}

namespace {

constexpr uint64_t kLoadPage = 4096;

std::optional<std::vector<Elf64_Phdr>> ReadProgramHeaders(const std::string& path) {
  constexpr uint32_t kMaxSegments = 256;
  const auto file = File::OpenForReading(path);
  if (!file) return std::nullopt;
  Elf64_Ehdr header{};
  if (file->ReadAt(0, &header, sizeof header) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return std::nullopt;
  }
  std::vector<Elf64_Phdr> segments(std::min<uint32_t>(header.e_phnum, kMaxSegments));
  const size_t bytes = segments.size() * sizeof(Elf64_Phdr);
  if (file->ReadAt(header.e_phoff, segments.data(), bytes) != bytes) return std::nullopt;
  return segments;
}

}  // namespace

std::optional<ElfImage> ReadElfImage(const std::string& path) {
  constexpr uint64_t kMaxThreadLocal = 64 << 20;
  const auto segments = ReadProgramHeaders(path);
  if (!segments) return std::nullopt;
  ElfImage object;
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
  bool makes_sense = true;
  for (const Elf64_Phdr& segment : *segments) {
    if (segment.p_type == PT_LOAD) {
      low = std::min(low, segment.p_vaddr / kLoadPage * kLoadPage);
      high = std::max(high, segment.p_vaddr + segment.p_memsz);
      makes_sense = makes_sense && segment.p_memsz <= uint64_t{1} << 46 &&
                    segment.p_vaddr <= uint64_t{1} << 47;
    }
    if (segment.p_type == PT_TLS && segment.p_memsz <= kMaxThreadLocal &&
        segment.p_align <= kLoadPage) {
      object.thread_local_bytes = segment.p_memsz + segment.p_align;
    }
  }
  if (low == ~uint64_t{0}) return std::nullopt;
  object.lowest_page = low;
  if (makes_sense && high > low) {
    object.extent = (high - low + kLoadPage - 1) / kLoadPage * kLoadPage;
  }
  return object;
}

}  // namespace heapgauge
