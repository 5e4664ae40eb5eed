// The nouns of a profile, defined once. Every format is read into these and written from them.
//
//   module    an executable or shared library that was loaded, at one address range
//   location  one code address in a module; after symbolizing it has one or more frames
//   frame     a function at a source line; a location has several where calls were inlined,
//             the innermost first
//   function  a name (and the file that defines it)
//   node      a location reached from its caller's node: one edge of the trie of stacks
//   stack     a path in the trie, named by its leaf node
//   row       a stack with its figures, one for each sample type
//   label     a key with a text or a number that a row carries ("thread", "bytes")
//   block     one sampled allocation that was not freed: the raw material of a row's live figures
//
// Ids are indexes into the vectors of Profile. Plain data, no threads.
#pragma once

#include <cstdint>
#include <string>

namespace heapgauge {

using ModuleId = uint32_t;
using LocationId = uint32_t;
using FunctionId = uint32_t;
using NodeId = uint32_t;
using RowId = uint32_t;
using StringId = uint32_t;
using LabelSetId = uint32_t;
inline constexpr uint32_t kNone = 0xffffffff;

struct SampleType {
  std::string name;  // "inuse_space"
  std::string unit;  // "bytes"
};

struct Module {
  std::string path;
  std::string build_id;  // hexadecimal, "" unknown
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // in the file, of the byte at `start`
  // Address in memory minus address in the ELF file. Formats that do not tell leave it to the
  // symbolizer, which finds it from `start`, `offset` and the file.
  uint64_t load_bias = 0;
  bool load_bias_known = true;
  bool path_cut = false;  // the path was too long to be recorded whole
  // What its locations are known by. Filled in by the symbolizer, or by formats that carry names.
  bool has_functions = false;
  bool has_files = false;
  bool has_lines = false;
  bool has_inlines = false;
  // Debug information was read: it tells files, lines and inlined calls together.
  void NoteLines(bool found) { has_files = has_lines = has_inlines = has_lines || found; }
  std::string
      no_names_reason;  // why functions or lines are missing, for people; "" if they are not
};

struct Location {
  uint64_t address = 0;     // as found on the stack
  ModuleId module = kNone;  // kNone: no module is known at that address
  bool exact = false;  // the instruction itself; otherwise a return address, just behind a call
  uint32_t first_frame = 0;  // in Profile::frames
  uint32_t frame_count = 0;  // 0: not symbolized
  bool folded = false;       // several functions share this code; the frames name only one

  // The address to look up: inside the call instruction.
  uint64_t lookup_address() const { return exact || address == 0 ? address : address - 1; }
};

struct Function {
  std::string name;         // as people read it
  std::string system_name;  // as the linker knows it, "" if the same
  std::string file;         // source file, "" unknown
  // The name is only that of the module with an offset: nobody knows the function.
  bool placeholder = false;
  int64_t start_line = 0;  // of the definition, 0 unknown
  // The format says that the linker's name is not known, which is not the same as equal to `name`.
  bool no_system_name = false;
};

struct Frame {
  FunctionId function = kNone;
  uint32_t line = 0;     // 0 unknown
  bool inlined = false;  // was inlined into the next frame of the location
  uint32_t column = 0;   // 0 unknown
};

struct Node {
  NodeId parent = kNone;  // the caller's node, always a smaller id; kNone at the outermost frame
  LocationId location = kNone;
};

// A label with a text, or with a number and its unit.
struct Label {
  StringId key = kNone;
  StringId text = kNone;  // kNone: the label is a number
  StringId unit = kNone;  // of the number; kNone: not given
  int64_t number = 0;

  bool is_number() const { return text == kNone; }
  friend bool operator==(const Label&, const Label&) = default;
};

// Labels of a row: a run in Profile::labels, texts before numbers, each sorted by key.
struct LabelSet {
  uint32_t first = 0;
  uint32_t count = 0;
};

// Fields of a message in a foreign file that this program has no use for, kept as they came so that
// writing the same format again does not lose them.
struct UnknownFields {
  enum class Owner : uint8_t { kProfile, kSample, kModule, kLocation, kFunction };
  Owner owner = Owner::kProfile;
  uint32_t id = 0;  // row, module, location or function; 0 for the profile
  std::string bytes;
};

struct SampledBlock {
  RowId row = kNone;
  uint32_t thread = 0;  // kernel thread id, 0 unknown
  uint64_t address = 0;
  uint64_t size = 0;       // as requested
  uint64_t interval = 1;   // mean bytes between samples when it was taken
  uint64_t birth_ns = 0;   // since the recording started
  bool inherited = false;  // from the parent process
};

}  // namespace heapgauge
