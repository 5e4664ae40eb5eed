#include "agent/unwind/eh_frame.h"

#include "agent/unwind/arch.h"

namespace heapgauge::agent {
namespace {

namespace pe = pointer_encoding;

// One entry of .eh_frame: a CIE or an FDE.
struct Entry {
  uintptr_t start = 0;     // of the length field
  uintptr_t id_field = 0;  // where the id is; an FDE's id counts back from here
  uint64_t id = 0;         // 0: CIE
  MappedByteReader body;   // behind the id
  bool last = false;       // the terminator
};

// The entry at the front of `section`, which moves past it. False if damaged.
bool ReadEntry(MappedByteReader* section, Entry* entry) {
  entry->start = section->at();
  uint64_t length = section->Fixed<uint32_t>();
  entry->last = length == 0;
  if (entry->last) return section->ok();
  const bool wide = length == 0xffffffff;
  if (wide) length = section->Fixed<uint64_t>();
  entry->body = section->Take(length);
  entry->id_field = entry->body.at();
  entry->id = entry->body.Fixed<uint32_t>();  // in .eh_frame the id has 4 bytes even if `wide`
  return entry->body.ok();
}

struct Cie {
  FrameDescription common;  // without range and program
  bool sized_augmentation = false;
  uint8_t pointer_encoding = pe::kAbsolute;
};

bool ReadAugmentation(const MappedByteReader& letters, MappedByteReader data, Cie* cie) {
  MappedByteReader text = letters;
  text.Skip(1);  // 'z'
  while (const uint8_t letter = text.Fixed<uint8_t>()) {
    switch (letter) {
      case 'R':
        cie->pointer_encoding = data.Fixed<uint8_t>();
        break;
      case 'L':
        data.Skip(1);
        break;
      case 'P': {
        const uint8_t encoding = data.Fixed<uint8_t>();
        data.Pointer(encoding & ~pe::kIndirect, 0);
        break;
      }
      case 'S':
        cie->common.signal_frame = true;
        break;
      default:
        return data.ok();  // an unknown letter hides the data of those behind it
    }
  }
  return data.ok();
}

bool ReadCie(MappedByteReader body, Cie* cie) {
  const uint8_t version = body.Fixed<uint8_t>();
  if (version != 1 && version != 3 && version != 4) return false;
  const MappedByteReader letters = body;
  while (body.Fixed<uint8_t>() != 0) {
  }
  MappedByteReader first = letters;
  const uint8_t first_letter = first.Fixed<uint8_t>();
  if (first_letter == 'e') body.Skip(sizeof(uintptr_t));  // "eh", gcc 2
  if (version == 4) body.Skip(2);                         // sizes of address and segment selector
  cie->common.code_alignment = body.Uleb();
  cie->common.data_alignment = body.Sleb();
  cie->common.return_column = version == 1 ? body.Fixed<uint8_t>() : body.Uleb();
  cie->sized_augmentation = first_letter == 'z';
  if (cie->sized_augmentation) {
    const MappedByteReader data = body.Take(body.Uleb());
    if (!data.ok() || !ReadAugmentation(letters, data, cie)) return false;
  } else if (first_letter != 0 && first_letter != 'e') {
    return false;
  }
  cie->common.initial_program = body;
  return body.ok();
}

// Fills `found` if the entry is an FDE for `pc`.
bool ReadFde(const LoadedObject& object, const Entry& entry, uintptr_t pc,
             FrameDescription* found) {
  if (entry.id == 0) return false;
  MappedByteReader cie_section = SegmentFrom(object, entry.id_field - entry.id);
  Entry cie_entry;
  Cie cie;
  if (!cie_section.ok() || !ReadEntry(&cie_section, &cie_entry) || cie_entry.last ||
      cie_entry.id != 0 || !ReadCie(cie_entry.body, &cie)) {
    return false;
  }
  MappedByteReader body = entry.body;
  const uintptr_t begin = body.Pointer(cie.pointer_encoding, 0);
  const uintptr_t size = body.Pointer(cie.pointer_encoding & pe::kFormatMask, 0);
  if (!body.ok() || pc - begin >= size) return false;
  if (cie.sized_augmentation) body.Skip(body.Uleb());
  *found = cie.common;
  found->begin = begin;
  found->end = begin + size;
  found->program = body;
  return body.ok();
}

bool Scan(const LoadedObject& object, uintptr_t eh_frame, uintptr_t pc, FrameDescription* found) {
  MappedByteReader section = SegmentFrom(object, eh_frame);
  Entry entry;
  while (section.ok() && !section.at_end() && ReadEntry(&section, &entry) && !entry.last) {
    if (ReadFde(object, entry, pc, found)) return true;
  }
  return false;
}

// A row of the search table: both relative to the header.
struct Row {
  int32_t code;
  int32_t fde;
};

bool Search(const LoadedObject& object, uintptr_t table, uint64_t rows, uintptr_t pc,
            FrameDescription* found) {
  const uintptr_t base = object.eh_frame_hdr;
  const auto row_at = [table](uint64_t i) {
    Row row;
    memcpy(&row, reinterpret_cast<const void*>(table + i * sizeof(Row)), sizeof(Row));
    return row;
  };
  const int64_t wanted = static_cast<int64_t>(pc - base);
  uint64_t low = 0,
           high = rows;  // rows before `low` begin at or before pc, those from `high` behind
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (row_at(middle).code <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return false;
  const uintptr_t fde = base + static_cast<uintptr_t>(int64_t{row_at(low - 1).fde});
  MappedByteReader section = SegmentFrom(object, fde);
  Entry entry;
  return section.ok() && ReadEntry(&section, &entry) && !entry.last &&
         ReadFde(object, entry, pc, found);
}

}  // namespace

MappedByteReader SegmentFrom(const LoadedObject& object, uintptr_t address) {
  const ProgramHeaders headers = HeadersOf(object);
  if (headers.count == 0) {  // no linker makes such an object; its whole range has to do
    const bool inside = object.start <= address && address < object.end;
    return inside ? MappedByteReader(address, object.end) : MappedByteReader::Bad();
  }
  const uintptr_t end = SegmentEnd(object, headers, address, 1);
  return end == 0 ? MappedByteReader::Bad() : MappedByteReader(address, end);
}

bool FindFrameDescription(const LoadedObject& object, uintptr_t pc, FrameDescription* found) {
  if (object.eh_frame_hdr == 0) return false;
  MappedByteReader header = SegmentFrom(object, object.eh_frame_hdr);
  const uint8_t version = header.Fixed<uint8_t>();
  const uint8_t pointer_encoding = header.Fixed<uint8_t>();
  const uint8_t count_encoding = header.Fixed<uint8_t>();
  const uint8_t table_encoding = header.Fixed<uint8_t>();
  if (!header.ok() || version != 1 || pointer_encoding == pe::kOmit) return false;
  const uintptr_t eh_frame = header.Pointer(pointer_encoding, object.eh_frame_hdr);
  if (!header.ok()) return false;
  if (count_encoding != pe::kOmit && table_encoding == (pe::kDataRelative | pe::kSdata4)) {
    const uint64_t rows = header.Pointer(count_encoding, object.eh_frame_hdr);
    if (!header.ok() || rows > header.left() / sizeof(Row)) return false;
    return Search(object, header.at(), rows, pc, found);
  }
  return Scan(object, eh_frame, pc, found);
}

}  // namespace heapgauge::agent
