// The executable: can anything be preloaded into it, and do its calls of malloc reach what is
// preloaded? Facts are gathered from the file once; the checks on them are pure, so that tests can
// make up any file.
//
// The file is treated as hostile. Single-threaded; time is linear in the size of the symbol table.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/doctor/finding.h"

namespace heapgauge {

struct ExecutableFacts {
  enum class Kind { kMissing, kUnreadable, kNotExecutable, kOther, kElf };
  std::string path;                  // of the ELF file, behind scripts
  std::vector<std::string> scripts;  // that lead to it, the outermost first
  std::string error;                 // if it is missing or unreadable: why
  Kind kind = Kind::kMissing;

  // Of an ELF file.
  bool is_64_bit = false;
  uint32_t machine = 0;     // e_machine
  std::string interpreter;  // PT_INTERP; "" if it has none
  bool is_dynamic = false;  // has a dynamic section; without an interpreter: static-pie
  std::set<std::string> needed;
  std::set<std::string> defined;  // of the names that tell something, those it defines
  bool has_symtab = false;
  bool is_go = false;
  std::string libc;                // the C library it would get, "" if not found
  bool libc_is_old = false;        // it has no version GLIBC_2.35
  std::vector<std::string> marks;  // names of allocators whose messages are among its constants

  // Of the file.
  uint32_t mode = 0;
  uint32_t owner = 0;
  uint32_t group = 0;
  bool has_capabilities = false;
  bool no_set_user_id = false;  // the mount ignores set-user-id and capabilities

  // Who would start it.
  uint32_t uid = 0;
  uint32_t gid = 0;
};

// Follows scripts ("#!", and env in them) to the program that runs. `root` is put before absolute
// paths: "" or "/proc/PID/root". Without names, which take time in large files, `defined`,
// `has_symtab` and `marks` are not looked for.
ExecutableFacts ReadExecutable(const std::string& path, const std::string& root = "",
                               bool with_names = true);

Findings CheckExecutable(const ExecutableFacts& facts);

// True if it would not even start with the agent preloaded: its dynamic linker fails, or a library
// that wants to be the first ends it. Needs no names.
bool RefusesAgent(const ExecutableFacts& facts);

// Which allocator defines these names: "jemalloc", "tcmalloc", "mimalloc", or "".
std::string AllocatorOf(const std::set<std::string>& defined);

// The names of this list that a shared library or program defines. Empty if it cannot be read.
std::set<std::string> DefinedSymbols(const std::string& path);

}  // namespace heapgauge
