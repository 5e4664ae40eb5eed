#include "core/symbolize/dwarf/line_program.h"

#include <dwarf.h>

#include <algorithm>
#include <array>

namespace heapgauge::dwarf {
namespace {

constexpr size_t kMaxEntries = 1 << 20;  // of directories or files in one program

// The state machine's registers that matter here, and the addresses still to come.
struct State {
  uint64_t address = 0;
  uint64_t file = 1;
  uint64_t line = 1;
};

}  // namespace

LineProgram::LineProgram(const Unit& unit) : unit_(unit), format_(unit.format) {
  if (!unit.line_offset) return;
  ByteReader reader(unit.file->sections().line, *unit.line_offset);
  const uint64_t length = reader.InitialLength(&format_.offset_size);
  if (reader.failed() || length > reader.left()) return;
  const Bytes whole = SliceOf(unit.file->sections().line, 0, reader.offset() + length);
  reader = ByteReader(whole, reader.offset());
  format_.version = reader.U16();
  if (format_.version < 2 || format_.version > 5) return;
  if (format_.version >= 5) {
    format_.address_size = reader.U8();
    reader.U8();  // segment selectors
  }
  const uint64_t header_length = reader.Unsigned(format_.offset_size);
  if (reader.failed() || header_length > reader.left()) return;
  program_ = SliceOf(whole, reader.offset() + header_length);
  minimum_instruction_ = reader.U8();
  if (format_.version >= 4) reader.U8();  // operations per instruction: 1 on x86
  reader.U8();                            // default_is_stmt
  line_base_ = static_cast<int8_t>(reader.U8());
  line_range_ = reader.U8();
  opcode_base_ = reader.U8();
  if (line_range_ == 0 || opcode_base_ == 0) {
    program_ = {};
    return;
  }
  for (unsigned opcode = 1; opcode < opcode_base_; ++opcode) {
    operand_counts_.push_back(reader.U8());
  }
  if (format_.version >= 5) {
    ReadTables(&reader, false);
    ReadTables(&reader, true);
  } else {
    ReadOldTables(&reader);
  }
}

void LineProgram::ReadOldTables(ByteReader* reader) {
  directories_.push_back(unit_.directory);
  while (!reader->at_end() && directories_.size() < kMaxEntries) {
    const std::string_view name = reader->CString();
    if (name.empty()) break;
    directories_.push_back(name);
  }
  files_.push_back({});  // files count from 1
  while (!reader->at_end() && files_.size() < kMaxEntries) {
    const std::string_view name = reader->CString();
    if (name.empty()) break;
    const uint64_t directory = reader->Uleb();
    reader->SkipLeb();  // time
    reader->SkipLeb();  // size
    files_.push_back({name, directory});
  }
}

void LineProgram::ReadTables(ByteReader* reader, bool files) {
  const unsigned format_count = reader->U8();
  std::vector<std::pair<uint64_t, uint64_t>> formats;
  for (unsigned i = 0; i < format_count; ++i) {
    const uint64_t content = reader->Uleb();
    formats.emplace_back(content, reader->Uleb());
  }
  const uint64_t count = reader->Uleb();
  if (formats.empty()) return;
  for (uint64_t i = 0; i < count && i < kMaxEntries && !reader->at_end(); ++i) {
    FileEntry entry{{}, 0};
    for (const auto& [content, form] : formats) {
      const FormValue value = ReadValue(reader, form, 0, format_);
      if (content == DW_LNCT_path) entry.name = unit_.Text(value);
      if (content == DW_LNCT_directory_index) entry.directory = value.number;
    }
    if (reader->failed()) return;
    if (files) {
      files_.push_back(entry);
    } else {
      directories_.push_back(entry.name);
    }
  }
}

std::string LineProgram::FilePath(uint64_t file) const {
  if (file >= files_.size() || files_[file].name.empty()) return "";
  const FileEntry& entry = files_[file];
  std::string path(entry.name);
  if (path.front() == '/') return path;
  if (entry.directory < directories_.size()) {
    const std::string_view directory = directories_[entry.directory];
    if (!directory.empty()) path = std::string(directory) + "/" + path;
  }
  if (path.front() != '/' && !unit_.directory.empty() && entry.directory != 0) {
    path = std::string(unit_.directory) + "/" + path;
  }
  return path;
}

void LineProgram::Run(std::span<const uint64_t> addresses, uint64_t lowest, int64_t* budget,
                      LineRow* rows) {
  ByteReader reader(program_);
  State state;
  bool in_sequence = false;  // a row was given, and the next one ends it
  bool dropped = false;
  size_t next = 0;  // the first address that is not below state.address
  State row;        // the last one given
  // Rows up to this address tell nothing about an address of interest, as long as they come in
  // order.
  uint64_t quiet_to = 0;
  // Inlined, so that the registers of the machine stay in registers of ours.
  const auto seek = [&]() __attribute__((always_inline)) {
    next = static_cast<size_t>(std::lower_bound(addresses.begin(), addresses.end(), state.address) -
                               addresses.begin());
  };
  const auto give_row = [&](bool end) __attribute__((always_inline)) {
    if (!end && state.address <= quiet_to) {
      row = state;
      return;
    }
    if (in_sequence && !dropped && state.address > row.address) {
      for (; next < addresses.size() && addresses[next] < state.address; ++next, --*budget) {
        rows[next] = {static_cast<uint32_t>(row.file), static_cast<uint32_t>(row.line), true};
      }
    }
    if (!in_sequence || state.address < row.address) seek();
    row = state;
    in_sequence = !end;
    quiet_to = end                       ? 0
               : dropped                 ? ~uint64_t{0}
               : next < addresses.size() ? addresses[next]
                                         : ~uint64_t{0};
    if (end) {
      state = State();
      dropped = false;
    }
  };
  seek();
  // What each special opcode adds; the divisions would be half of the work.
  std::array<uint64_t, 256> address_step{};
  std::array<int64_t, 256> line_step{};
  for (unsigned opcode = opcode_base_; opcode < 256; ++opcode) {
    const unsigned adjusted = opcode - opcode_base_;
    address_step[opcode] = uint64_t{minimum_instruction_} * (adjusted / line_range_);
    line_step[opcode] = int64_t{line_base_} + adjusted % line_range_;
  }
  while (!reader.at_end() && *budget > 0) {
    const uint8_t opcode = reader.U8();
    if (opcode >= opcode_base_) {
      state.address += address_step[opcode];
      state.line += static_cast<uint64_t>(line_step[opcode]);
      give_row(false);
      continue;
    }
    switch (opcode) {
      case 0: {
        const uint64_t length = reader.Uleb();
        if (length == 0 || length > reader.left()) return;
        const uint64_t after = reader.offset() + length;
        const uint8_t extended = reader.U8();
        if (extended == DW_LNE_end_sequence) {
          give_row(true);
        } else if (extended == DW_LNE_set_address && length == 9) {
          state.address = reader.U64();
          dropped = state.address < lowest || state.address == 0;
          quiet_to = 0;
        }
        reader.Seek(after);
        break;
      }
      case DW_LNS_copy:
        give_row(false);
        break;
      case DW_LNS_advance_pc:
        state.address += uint64_t{minimum_instruction_} * reader.Uleb();
        break;
      case DW_LNS_advance_line:
        state.line += static_cast<uint64_t>(reader.Sleb());
        break;
      case DW_LNS_set_column:
        reader.SkipLeb();
        break;
      case DW_LNS_negate_stmt:
      case DW_LNS_set_basic_block:
        break;
      case DW_LNS_set_file:
        state.file = reader.Uleb();
        break;
      case DW_LNS_const_add_pc:
        state.address += uint64_t{minimum_instruction_} * ((255u - opcode_base_) / line_range_);
        break;
      case DW_LNS_fixed_advance_pc:
        state.address += reader.U16();
        break;
      default:
        for (unsigned i = 0; i < operand_counts_[opcode - 1u]; ++i) reader.SkipLeb();
    }
    --*budget;
  }
}

}  // namespace heapgauge::dwarf
