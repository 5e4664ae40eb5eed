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
//   block     one sampled allocation that was not freed: the raw material of a row's live figures
//
// Ids are indexes into the vectors of Profile. Plain data, no threads.
#ifndef HEAPGAUGE_CORE_MODEL_TYPES_H_
#define HEAPGAUGE_CORE_MODEL_TYPES_H_

#include <cstdint>
#include <string>

namespace heapgauge {

using ModuleId = uint32_t;
using LocationId = uint32_t;
using FunctionId = uint32_t;
using NodeId = uint32_t;
using RowId = uint32_t;
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
  uint64_t load_bias = 0;  // address in memory minus address in the ELF file
  bool path_cut = false;   // the path was too long to be recorded whole
  // Filled in by the symbolizer.
  bool has_functions = false;
  bool has_lines = false;
  std::string
      no_names_reason;  // why functions or lines are missing, for people; "" if they are not
};

struct Location {
  uint64_t address = 0;     // as found on the stack
  ModuleId module = kNone;  // kNone: no module is known at that address
  bool exact = false;  // the instruction itself; otherwise a return address, just behind a call
  uint32_t first_frame = 0;  // in Profile::frames
  uint32_t frame_count = 0;  // 0: not symbolized

  // The address to look up: inside the call instruction.
  uint64_t lookup_address() const { return exact || address == 0 ? address : address - 1; }
};

struct Function {
  std::string name;         // as people read it
  std::string system_name;  // as the linker knows it, "" if the same
  std::string file;         // source file, "" unknown
  // The name is only that of the module with an offset: nobody knows the function.
  bool placeholder = false;
};

struct Frame {
  FunctionId function = kNone;
  uint32_t line = 0;     // 0 unknown
  bool inlined = false;  // was inlined into the next frame of the location
};

struct Node {
  NodeId parent = kNone;  // the caller's node, always a smaller id; kNone at the outermost frame
  LocationId location = kNone;
};

struct Block {
  RowId row = kNone;
  uint32_t thread = 0;  // kernel thread id, 0 unknown
  uint64_t address = 0;
  uint64_t size = 0;       // as requested
  uint64_t interval = 1;   // mean bytes between samples when it was taken
  uint64_t birth_ns = 0;   // since the recording started
  bool inherited = false;  // from the parent process
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_MODEL_TYPES_H_
