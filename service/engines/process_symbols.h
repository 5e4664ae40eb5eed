// Functions of this very process by name, also those that are linked in and not exported: a static
// jemalloc's mallctl is in no table that the dynamic linker knows, but in the .symtab of the
// program's file.
//
// What is found in a file is used only if it lies in executable memory that this file is loaded at.
// Finding reads files; the result is for calling, so names must be those of functions. Threads: one
// at a time.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace heapgauge::engines {

class ProcessSymbols {
 public:
  // Names that may be asked for later, so that files are read once.
  explicit ProcessSymbols(const std::vector<std::string>& names);

  // The function's address, or null.
  void* Find(const std::string& name) const;
  // The same, as a pointer to a function.
  template <typename Function>
  Function* FindAs(const std::string& name) const {
    return reinterpret_cast<Function*>(Find(name));
  }

 private:
  void LookInDynamicTables(const std::string& name);
  void LookInFiles(const std::vector<std::string>& names);

  std::unordered_map<std::string, void*> found_;
};

}  // namespace heapgauge::engines
