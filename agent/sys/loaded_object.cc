#include "agent/sys/loaded_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>

#include <cstring>

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

}  // namespace heapgauge::agent
