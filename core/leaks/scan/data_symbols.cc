#include "core/leaks/scan/data_symbols.h"

#include <fmt/format.h>

#include "core/elf/demangle.h"
#include "core/model/types.h"
#include "core/symbolize/module_files.h"

namespace heapgauge::leaks {

DataSymbols::DataSymbols(const Roots& roots, const SymbolizeOptions& options)
    : roots_(roots), options_(options), files_(roots.objects.size()) {}

DataSymbols::~DataSymbols() = default;

void DataSymbols::Open(const std::string& path, File* file) {
  file->opened = true;
  if (path.empty()) return;
  Module module;
  module.path = path;
  std::string note;
  auto elf = OpenForeignModule(module, "", options_, &stamps_, &note);
  if (!elf) return;  // then there is no name; the address says where it is
  file->elf = std::move(*elf);
  file->table.AddFrom(file->elf.get());
  if (!file->table.complete()) {
    file->debug = OpenDebugFile(*file->elf, options_, &stamps_);
    if (file->debug != nullptr) file->table.AddFrom(file->debug.get());
  }
  file->table.Finish();
}

std::string DataSymbols::Name(uint32_t object, uint64_t address) {
  if (object == 0 || object >= files_.size()) return "";
  File& file = files_[object];
  if (!file.opened) Open(roots_.objects[object].path, &file);
  uint64_t offset = 0;
  const char* name = file.table.Find(address - roots_.objects[object].load_bias, &offset);
  if (name == nullptr) return "";
  const std::string readable = Demangle(name);
  return offset == 0 ? readable : fmt::format("{}+{:#x}", readable, offset);
}

}  // namespace heapgauge::leaks
