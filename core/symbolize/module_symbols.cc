#include "core/symbolize/module_symbols.h"

#include <elfutils/libdw.h>

#include "core/base/text.h"

namespace heapgauge {
namespace {

// Opens `path` if it is the recorded build of the module. A file without a build-id cannot be told
// apart from another build; one is only accepted if none was recorded either.
Result<std::unique_ptr<ElfFile>> OpenBuild(const std::string& path, const std::string& build_id) {
  HG_ASSIGN(std::unique_ptr<ElfFile> file, ElfFile::Open(path));
  if (file->build_id() != build_id) {
    return Fail(ErrorCode::kCorrupt,
                "'" + Printable(path) + "' is another build than the program ran (build-id " +
                    (file->build_id().empty() ? "none" : file->build_id()) + ", recorded " +
                    (build_id.empty() ? "none" : build_id) + "): its names are not used");
  }
  return file;
}

}  // namespace

Result<ModuleSymbols> ModuleSymbols::Open(const Module& module, const SymbolizeOptions& options) {
  std::vector<std::string> candidates;
  const bool has_path = !module.path.empty() && module.path.front() == '/' && !module.path_cut;
  if (has_path) candidates.push_back(module.path);
  if (has_path && options.pid != 0) {
    const std::string proc = "/proc/" + std::to_string(options.pid);
    candidates.push_back(proc + "/root" + module.path);
    candidates.push_back(proc + "/exe");
  }
  // A stripped and deleted program can still be read if its debug file is installed.
  if (module.build_id.size() > 2) {
    for (const std::string& dir : options.debug_dirs) {
      candidates.push_back(dir + "/.build-id/" + module.build_id.substr(0, 2) + "/" +
                           module.build_id.substr(2) + ".debug");
    }
  }
  ModuleSymbols symbols;
  Error first_error{ErrorCode::kNotFound, "", kNoOffset};
  for (const std::string& path : candidates) {
    auto file = OpenBuild(path, module.build_id);
    if (file) {
      symbols.file_ = std::move(*file);
      break;
    }
    // Another build is the most telling reason, a missing file the least.
    if (first_error.message.empty() || file.error().code == ErrorCode::kCorrupt) {
      if (first_error.code != ErrorCode::kCorrupt) first_error = file.error();
    }
  }
  if (symbols.file_ == nullptr) return tl::unexpected<Error>(first_error);
  ElfFile& file = *symbols.file_;
  symbols.table_.AddFrom(file.elf());
  if (file.dwarf() == nullptr) {
    for (const std::string& path : file.DebugFileCandidates(options.debug_dirs)) {
      auto debug_file = OpenBuild(path, module.build_id);
      if (!debug_file) continue;
      symbols.debug_file_ = std::move(*debug_file);
      symbols.table_.AddFrom(symbols.debug_file_->elf());
      break;
    }
  }
  symbols.table_.Finish();
  return symbols;
}

std::vector<std::vector<SourceFrame>> ModuleSymbols::LookUp(
    const std::vector<uint64_t>& addresses) {
  std::vector<std::vector<SourceFrame>> results;
  Dwarf* dwarf = file_->dwarf();
  if (dwarf == nullptr && debug_file_ != nullptr) dwarf = debug_file_->dwarf();
  if (dwarf != nullptr) results = LookUpInDwarf(dwarf, addresses);
  results.resize(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    std::vector<SourceFrame>& frames = results[i];
    if (!frames.empty() && !frames.back().system_name.empty()) continue;
    const char* name = table_.Find(addresses[i]);
    if (name == nullptr) {
      frames.clear();  // a line without a function helps nobody
      continue;
    }
    if (frames.empty()) frames.emplace_back();
    frames.back().system_name = name;
  }
  return results;
}

}  // namespace heapgauge
