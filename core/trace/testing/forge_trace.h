// Damages traces so that no checksum tells, as somebody would who makes them on purpose. Not for
// use outside of tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/trace/file/chunk.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace::testing {

// The bytes of a good trace of a few segments, with something of everything in it. One that was not
// finished is as its recorder left it when it was killed.
inline std::string TraceToDamage(bool finish = true) {
  MakeTrace made;
  made.finish = finish;
  made.options.segment_events = 300;
  made.Stack({"f", "main"}, made.LabelSet("key", "value"));
  made.Memory(5, 1000);
  made.Mark(6, "here");
  RandomTrace how;
  how.events = 1000;
  how.live = 50;
  how.mappings = 0.2;
  how.cuts = 0.5;
  AddRandomEvents(how, &made);
  const TemporaryTrace file;
  if (!made.Write(file.path())) std::abort();
  return *ReadWholeFile(file.path(), 1 << 20);
}

// The same bytes with the checksums that they should have.
inline std::string WithChecksums(std::string bytes) {
  uint64_t offset = sizeof(FileHeader);
  while (offset + sizeof(ChunkHeader) <= bytes.size()) {
    ChunkHeader header;
    std::memcpy(&header, bytes.data() + offset, sizeof header);
    if (header.magic != kChunkMagic || header.columns > 64 ||
        header.bytes > bytes.size() - offset - sizeof header) {
      break;
    }
    std::vector<ColumnEntry> entries(header.columns);
    const size_t entry_bytes = entries.size() * sizeof(ColumnEntry);
    if (entry_bytes > header.bytes) break;
    std::memcpy(entries.data(), bytes.data() + offset + sizeof header, entry_bytes);
    size_t at = offset + sizeof header + entry_bytes;
    for (ColumnEntry& entry : entries) {
      if (entry.stored > bytes.size() - at) break;
      entry.check = Checksum({reinterpret_cast<const uint8_t*>(bytes.data()) + at, entry.stored});
      at += entry.stored;
    }
    std::memcpy(bytes.data() + offset + sizeof header, entries.data(), entry_bytes);
    header.check = 0;
    const uint32_t first = Checksum({reinterpret_cast<const uint8_t*>(&header), sizeof header});
    header.check = Checksum({reinterpret_cast<const uint8_t*>(entries.data()), entry_bytes}, first);
    std::memcpy(bytes.data() + offset, &header, sizeof header);
    offset += sizeof header + header.bytes;
  }
  return bytes;
}

// Where the bytes of a column are, in the first chunk of that kind which has it; empty if none has.
inline std::span<char> FindColumn(std::string* bytes, ChunkType type, uint16_t id) {
  uint64_t offset = sizeof(FileHeader);
  while (offset + sizeof(ChunkHeader) <= bytes->size()) {
    ChunkHeader header;
    std::memcpy(&header, bytes->data() + offset, sizeof header);
    if (header.magic != kChunkMagic) break;
    size_t entry_at = offset + sizeof header;
    size_t at = entry_at + header.columns * sizeof(ColumnEntry);
    for (; header.type == static_cast<uint16_t>(type) && header.columns > 0; --header.columns) {
      ColumnEntry entry;
      std::memcpy(&entry, bytes->data() + entry_at, sizeof entry);
      if (entry.id == id) return {bytes->data() + at, entry.stored};
      entry_at += sizeof entry;
      at += entry.stored;
    }
    offset += sizeof header + header.bytes;
  }
  return {};
}

}  // namespace heapgauge::trace::testing
