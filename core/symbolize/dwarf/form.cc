#include "core/symbolize/dwarf/form.h"

#include <dwarf.h>

namespace heapgauge::dwarf {

int FixedSize(uint64_t form, const UnitFormat& format) {
  switch (form) {
    case DW_FORM_addr:
      return format.address_size;
    case DW_FORM_implicit_const:
    case DW_FORM_flag_present:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_ref_addr:
      return format.version <= 2 ? format.address_size : format.offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return format.offset_size;
    default:
      return -1;
  }
}

Value ReadValue(ByteReader* reader, uint64_t form, int64_t implicit, const UnitFormat& format) {
  using enum ValueKind;
  const auto fixed = [&](ValueKind kind, unsigned size) {
    return Value{kind, reader->Unsigned(size), {}};
  };
  const auto skip = [&](uint64_t size) {
    reader->Skip(size);
    return Value{kOther, 0, {}};
  };
  // Indirect forms could be nested without end.
  for (int depth = 0; form == DW_FORM_indirect; ++depth) {
    if (depth == 4) reader->Fail();
    if (reader->failed()) return {};
    form = reader->Uleb();
  }
  switch (form) {
    case DW_FORM_addr:
      return fixed(kAddress, format.address_size);
    case DW_FORM_data1:
      return fixed(kConstant, 1);
    case DW_FORM_data2:
      return fixed(kConstant, 2);
    case DW_FORM_data4:
      // Before DWARF 4 these were offsets into sections too.
      return fixed(format.version < 4 ? kOffset : kConstant, 4);
    case DW_FORM_data8:
      return fixed(format.version < 4 ? kOffset : kConstant, 8);
    case DW_FORM_udata:
      return {kConstant, reader->Uleb(), {}};
    case DW_FORM_sdata:
      return {kConstant, static_cast<uint64_t>(reader->Sleb()), {}};
    case DW_FORM_implicit_const:
      return {kConstant, static_cast<uint64_t>(implicit), {}};
    case DW_FORM_flag:
      return fixed(kConstant, 1);
    case DW_FORM_flag_present:
      return {kConstant, 1, {}};
    case DW_FORM_data16:
      return skip(16);
    case DW_FORM_string:
      return {kText, 0, reader->CString()};
    case DW_FORM_strp:
      return fixed(kTextOffset, format.offset_size);
    case DW_FORM_line_strp:
      return fixed(kLineTextOffset, format.offset_size);
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index:
      return {kTextIndex, reader->Uleb(), {}};
    case DW_FORM_strx1:
      return fixed(kTextIndex, 1);
    case DW_FORM_strx2:
      return fixed(kTextIndex, 2);
    case DW_FORM_strx3:
      return {kTextIndex, reader->U24(), {}};
    case DW_FORM_strx4:
      return fixed(kTextIndex, 4);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      return fixed(kAltTextOffset, format.offset_size);
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
      return {kAddressIndex, reader->Uleb(), {}};
    case DW_FORM_addrx1:
      return fixed(kAddressIndex, 1);
    case DW_FORM_addrx2:
      return fixed(kAddressIndex, 2);
    case DW_FORM_addrx3:
      return {kAddressIndex, reader->U24(), {}};
    case DW_FORM_addrx4:
      return fixed(kAddressIndex, 4);
    case DW_FORM_sec_offset:
      return fixed(kOffset, format.offset_size);
    case DW_FORM_rnglistx:
      return {kRangeIndex, reader->Uleb(), {}};
    case DW_FORM_loclistx:
      reader->SkipLeb();
      return {kOther, 0, {}};
    case DW_FORM_ref1:
      return fixed(kReference, 1);
    case DW_FORM_ref2:
      return fixed(kReference, 2);
    case DW_FORM_ref4:
      return fixed(kReference, 4);
    case DW_FORM_ref8:
      return fixed(kReference, 8);
    case DW_FORM_ref_udata:
      return {kReference, reader->Uleb(), {}};
    case DW_FORM_ref_addr:
      return fixed(kGlobalReference,
                   format.version <= 2 ? format.address_size : format.offset_size);
    case DW_FORM_GNU_ref_alt:
      return fixed(kAltReference, format.offset_size);
    case DW_FORM_ref_sup4:
      return fixed(kAltReference, 4);
    case DW_FORM_ref_sup8:
      return fixed(kAltReference, 8);
    case DW_FORM_ref_sig8:
      return skip(8);
    case DW_FORM_block1:
      return skip(reader->U8());
    case DW_FORM_block2:
      return skip(reader->U16());
    case DW_FORM_block4:
      return skip(reader->U32());
    case DW_FORM_block:
    case DW_FORM_exprloc:
      return skip(reader->Uleb());
    default:
      reader->Fail();
      return {};
  }
}

}  // namespace heapgauge::dwarf
