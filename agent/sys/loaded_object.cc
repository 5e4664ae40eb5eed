#include "agent/sys/loaded_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>

#include <cstring>

#include "agent/sys/os.h"

namespace heapgauge::agent {

bool ObjectAt(uintptr_t address, LoadedObject* object) {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  object->start = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  object->end = reinterpret_cast<uintptr_t>(found.dlfo_map_end);
  object->eh_frame_hdr = reinterpret_cast<uintptr_t>(found.dlfo_eh_frame);
  object->load_bias = found.dlfo_link_map->l_addr;
  object->path = found.dlfo_link_map->l_name == nullptr ? "" : found.dlfo_link_map->l_name;
  object->main_program = object->path[0] == '\0';
  object->identity = found.dlfo_link_map;
  return true;
}

const void* IdentityAt(uintptr_t address) {
  dl_find_object found;
  const bool there = _dl_find_object(reinterpret_cast<void*>(address), &found) == 0;
  return there ? found.dlfo_link_map : nullptr;
}

ProgramHeaders HeadersOf(const LoadedObject& object) {
  if (object.main_program) {  // its range may not begin with its ELF header, but the kernel knows
    return {reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR)), getauxval(AT_PHNUM)};
  }
  // Others are mapped in one piece, which begins with the ELF header; the program headers
  // stand in its first page.
  constexpr size_t kPage = 4096;
  const auto* elf = reinterpret_cast<const ElfW(Ehdr)*>(object.start);
  if (object.end - object.start < kPage || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phoff > kPage) return {};
  if (elf->e_phnum > (kPage - elf->e_phoff) / sizeof(ElfW(Phdr))) return {};
  return {reinterpret_cast<const ElfW(Phdr)*>(object.start + elf->e_phoff), elf->e_phnum};
}

uintptr_t SegmentEnd(const LoadedObject& object, const ProgramHeaders& headers, uintptr_t address,
                     uint64_t bytes) {
  for (size_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& header = headers.first[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_R) == 0) continue;
    const uint64_t offset = address - (object.load_bias + header.p_vaddr);
    if (offset < header.p_memsz && bytes <= header.p_memsz - offset) {
      return object.load_bias + header.p_vaddr + header.p_memsz;
    }
  }
  return 0;
}

size_t BuildId(const LoadedObject& object, uint8_t* build_id, size_t capacity) {
  const ProgramHeaders headers = HeadersOf(object);
  for (size_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& header = headers.first[i];
    uintptr_t at = object.load_bias + header.p_vaddr;
    const uintptr_t end = at + header.p_memsz;
    // A note that no loaded segment covers is in the file, but not in memory.
    if (header.p_type != PT_NOTE || SegmentEnd(object, headers, at, header.p_memsz) == 0) continue;
    while (end - at >= sizeof(ElfW(Nhdr))) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const uint64_t name_bytes = (uint64_t{note->n_namesz} + 3) & ~uint64_t{3};
      const uint64_t value_bytes = (uint64_t{note->n_descsz} + 3) & ~uint64_t{3};
      const uint64_t note_bytes = sizeof *note + name_bytes + value_bytes;
      if (note_bytes > end - at) break;
      const auto* name = reinterpret_cast<const char*>(note + 1);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
        if (note->n_descsz > capacity) return 0;
        memcpy(build_id, name + name_bytes, note->n_descsz);
        return note->n_descsz;
      }
      at += note_bytes;
    }
  }
  return 0;
}

namespace {

constexpr char kDeleted[] = " (deleted)";
constexpr size_t kDeletedBytes = sizeof kDeleted - 1;

}  // namespace

void MapsSearch::ReadNumber(char c, char end, Part then) {
  if (c == end) {
    const bool is_before = part_ == Part::kStart ? number_ <= address_ : number_ > address_;
    part_ = is_before ? then : Part::kOtherLine;
    number_ = 0;
    return;
  }
  const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
  number_ = number_ * 16 + static_cast<uint64_t>(digit);
}

MapsSearch::Outcome MapsSearch::EndLine() {
  if (length_ > kDeletedBytes &&
      memcmp(path_ + length_ - kDeletedBytes, kDeleted, kDeletedBytes) == 0) {
    length_ -= kDeletedBytes;
  }
  path_[length_] = '\0';
  return length_ > 0 && path_[0] == '/' ? Outcome::kFound : Outcome::kNone;
}

// Start-end, rights, offset, device, inode, all ended by one space or more; then the path, in which
// there may be spaces as well.
MapsSearch::Outcome MapsSearch::Read(const char* text, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const char c = text[i];
    if (c == '\n') {
      if (part_ == Part::kFields || part_ == Part::kPath) return EndLine();
      part_ = Part::kStart;
      number_ = 0;
      continue;
    }
    switch (part_) {
      case Part::kStart:
        ReadNumber(c, '-', Part::kEnd);
        break;
      case Part::kEnd:
        ReadNumber(c, ' ', Part::kFields);
        in_space_ = true;
        spaces_ = 1;
        break;
      case Part::kFields:
        if (c == ' ') {
          spaces_ += in_space_ ? 0 : 1;
          in_space_ = true;
          break;
        }
        in_space_ = false;
        if (spaces_ < 5) break;
        part_ = Part::kPath;
        [[fallthrough]];
      case Part::kPath:
        if (length_ + 1 >= bytes_) return Outcome::kNone;
        path_[length_++] = c;
        break;
      case Part::kOtherLine:
        break;
    }
  }
  return Outcome::kOpen;
}

bool MappedPath(uintptr_t address, char* path, size_t bytes) {
  const int fd = os::OpenForReading("/proc/self/maps");
  if (fd < 0) return false;
  MapsSearch search(address, path, bytes);
  MapsSearch::Outcome outcome = MapsSearch::Outcome::kOpen;
  char text[1024];
  while (outcome == MapsSearch::Outcome::kOpen) {
    const long got = os::Read(fd, text, sizeof text);
    if (got == -EINTR) continue;
    if (got <= 0) break;
    outcome = search.Read(text, static_cast<size_t>(got));
  }
  os::Close(fd);
  return outcome == MapsSearch::Outcome::kFound;
}

}  // namespace heapgauge::agent
