#include "core/symbolize/module_files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/elf/elf_file.h"
#include "core/os/file_stamp.h"
#include "core/os/memory_maps.h"
#include "core/os/process.h"
#include "core/symbolize/debuginfod.h"

namespace heapgauge {
namespace {

constexpr size_t kMaxMiniDebugInfo = 256 << 20;
constexpr size_t kMaxVdso = 1 << 20;

bool IsVdso(const std::string& path) { return path.find("vdso") != std::string::npos; }

// The kernel maps the same vDSO into every process; ours is read from our own memory.
Result<std::unique_ptr<ElfFile>> OpenVdso(const std::string& build_id) {
  const auto maps = ReadSmaps("/proc/self/maps");
  for (const MappingUsage& m : maps.value_or(Smaps()).mappings) {
    if (m.name != "[vdso]") continue;
    if (m.size() > kMaxVdso) break;
    const auto* begin = reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(m.start));
    auto file = ElfFile::FromBytes({begin, begin + m.size()}, "[vdso]");
    if (file && (*file)->build_id() == build_id) return file;
    break;
  }
  return Fail(ErrorCode::kNotFound, "the vDSO is that of another kernel");
}

std::string WithoutDeleted(std::string path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.size() > kDeleted.size() && path.ends_with(kDeleted)) {
    path.resize(path.size() - kDeleted.size());
  }
  return path;
}

// Where the running process has the module mapped; that name works after the file was deleted or
// replaced, given the right to read it. The program itself has another such name.
std::vector<std::string> MappedFiles(const Module& module, uint32_t pid) {
  std::vector<std::string> paths;
  const std::string proc = ProcessDirectory(pid);
  bool is_program =
      !module.path.empty() && WithoutDeleted(module.path) == WithoutDeleted(ProcessExecutable(pid));
  const auto maps = ReadSmaps(proc + "/maps");
  for (const MappingUsage& m : maps.value_or(Smaps()).mappings) {
    if (m.start < module.start || m.start >= module.end || m.name.find('/') == std::string::npos) {
      continue;
    }
    paths.push_back(fmt::format("{}/map_files/{:x}-{:x}", proc, m.start, m.end));
    const auto program = IdentityOf(proc + "/exe");
    is_program = is_program || (program && m.inode == program->inode);
    break;
  }
  if (is_program) paths.push_back(proc + "/exe");
  return paths;
}

bool ChecksumFits(ElfFile* debug, uint32_t expected) {
  auto file = File::OpenForReading(debug->path());
  if (!file) return false;
  std::vector<uint8_t> buffer(1 << 20);
  uLong sum = crc32(0, nullptr, 0);
  for (uint64_t at = 0;;) {
    const size_t n = file->ReadAt(at, buffer.data(), buffer.size());
    if (n == 0) break;
    sum = crc32(sum, buffer.data(), static_cast<uInt>(n));
    at += n;
  }
  return sum == expected;
}

}  // namespace

std::string BuildIdPath(const std::string& directory, const std::string& build_id) {
  return directory + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

Result<std::unique_ptr<ElfFile>> OpenBuild(const std::string& path, const std::string& build_id) {
  HG_ASSIGN(std::unique_ptr<ElfFile> file, ElfFile::Open(path));
  if (file->build_id() != build_id) {
    return Fail(ErrorCode::kCorrupt,
                "'" + Printable(path) + "' is another build than the program ran (build-id " +
                    (file->build_id().empty() ? "none" : file->build_id()) + ", recorded " +
                    (build_id.empty() ? "none" : build_id) +
                    "): its names are not used. To have names after a rebuild, look at a recording "
                    "once before it, or keep a copy by 'heapgauge save'");
  }
  return file;
}

namespace {

// Where the user keeps binaries of programs that ran elsewhere.
void AddBinaryDirs(const Module& module, const std::string& path,
                   const std::vector<std::string>& dirs, std::vector<std::string>* candidates) {
  const std::string name(BaseName(path));
  const std::string& id = module.build_id;
  for (const std::string& dir : dirs) {
    if (id.size() > 2 && id.find('/') == std::string::npos) {
      if (!name.empty()) candidates->push_back(dir + "/" + id + "/" + name);
      candidates->push_back(dir + "/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
      candidates->push_back(BuildIdPath(dir, id));
      candidates->push_back(dir + "/" + id);
    }
    if (name.empty() || name == "." || name == "..") continue;
    if (path.front() == '/' && path.find("/../") == std::string::npos) {
      candidates->push_back(dir + path);
    }
    candidates->push_back(dir + "/" + name);
  }
}

// Where the module may be, the likeliest first.
std::vector<std::string> PlacesOf(const Module& module, const SymbolizeOptions& options) {
  std::vector<std::string> candidates;
  const std::string path = WithoutDeleted(module.path);
  const bool has_path = !path.empty() && path.front() == '/' && !module.path_cut;
  if (!module.path_cut) AddBinaryDirs(module, path, options.binary_dirs, &candidates);
  if (has_path) candidates.push_back(path);
  if (options.pid != 0) {
    if (has_path) candidates.push_back(ProcessDirectory(options.pid) + "/root" + path);
    for (std::string& mapped : MappedFiles(module, options.pid)) candidates.push_back(mapped);
  }
  // A stripped and deleted program can still be read if its debug file is installed.
  if (module.build_id.size() > 2) {
    for (const std::string& dir : options.debug_dirs) {
      candidates.push_back(BuildIdPath(dir, module.build_id));
    }
  }
  if (has_path) {
    for (const std::string& dir : options.extra_debug_dirs) {
      candidates.push_back(dir + "/" + std::string(BaseName(path)));
    }
  }
  return candidates;
}

// The first of the module's places that has it.
template <typename Open>
Result<std::unique_ptr<ElfFile>> OpenFirst(const Module& module, const SymbolizeOptions& options,
                                           StampList* stamps, const Open& open) {
  Error reason{ErrorCode::kNotFound, "", kNoOffset};
  for (const std::string& candidate : PlacesOf(module, options)) {
    stamps->Add(candidate);
    auto file = open(candidate);
    if (file) return file;
    // Another build is the most telling reason, a missing file the least.
    if (reason.message.empty() || file.error().code == ErrorCode::kCorrupt) {
      if (reason.code != ErrorCode::kCorrupt) reason = file.error();
    }
  }
  // What it is called, rather than the first place that was thought of.
  const bool by_name = !module.path.empty() && module.path.front() != '/';
  if (by_name && reason.code != ErrorCode::kCorrupt) {
    reason.message = "cannot find '" + Printable(module.path) + "'";
  }
  return tl::unexpected<Error>(reason);
}

// A module that nothing but its path and time tells from another build of it, which came later.
// (Copies that somebody has put elsewhere are his word for it.)
bool IsYounger(const std::string& path, const Module& module, const SymbolizeOptions& options) {
  if (!module.build_id.empty() || options.ended_unix_ns == 0) return false;
  if (path != WithoutDeleted(module.path)) return false;
  const FileStamp stamp = StampOf(path);
  return stamp.exists && stamp.modified_ns > options.ended_unix_ns;
}

}  // namespace

Result<std::unique_ptr<ElfFile>> OpenModule(const Module& module, const SymbolizeOptions& options,
                                            StampList* stamps) {
  if (IsVdso(module.path) && module.path.front() != '/') return OpenVdso(module.build_id);
  return OpenFirst(module, options, stamps,
                   [&](const std::string& path) -> Result<std::unique_ptr<ElfFile>> {
                     if (IsYounger(path, module, options)) {
                       return Fail(ErrorCode::kCorrupt,
                                   "'" + Printable(path) +
                                       "' was written after the recording, and has no "
                                       "build-id to tell whether it is the same: its names are not "
                                       "used. Link programs with -Wl,--build-id");
                     }
                     return OpenBuild(path, module.build_id);
                   });
}

Result<std::unique_ptr<ElfFile>> OpenForeignModule(const Module& module,
                                                   const std::string& program_path,
                                                   const SymbolizeOptions& options,
                                                   StampList* stamps, std::string* note) {
  if (!program_path.empty()) {
    stamps->Add(program_path);
    HG_ASSIGN(std::unique_ptr<ElfFile> file, ElfFile::Open(program_path));
    if (!module.build_id.empty() && file->build_id() != module.build_id) {
      *note = "'" + Printable(program_path) +
              "' is used as asked, but it is another build (build-id " +
              (file->build_id().empty() ? "none" : file->build_id()) + ") than the profile's (" +
              Printable(module.build_id) + "): names may be wrong";
    }
    return file;
  }
  if (!module.build_id.empty()) return OpenModule(module, options, stamps);
  if (IsVdso(module.path) && module.path.front() != '/') {
    return Fail(ErrorCode::kNotFound, "the vDSO may be that of another kernel");
  }
  return OpenFirst(module, options, stamps,
                   [](const std::string& path) { return ElfFile::Open(path); });
}

std::unique_ptr<ElfFile> OpenDebugFile(const ElfFile& elf, const SymbolizeOptions& options,
                                       StampList* stamps) {
  std::vector<std::string> roots = options.extra_debug_dirs;
  roots.insert(roots.end(), options.debug_dirs.begin(), options.debug_dirs.end());
  std::vector<std::string> candidates;
  if (elf.build_id().size() > 2) {
    for (const std::string& root : roots) candidates.push_back(BuildIdPath(root, elf.build_id()));
  }
  // A link that is not a plain file name would lead out of the directories below.
  const std::string& link = elf.debug_link();
  if (!link.empty() && link.find('/') == std::string::npos) {
    const std::string dir = elf.path().substr(0, elf.path().rfind('/') + 1);
    if (dir + link != elf.path()) candidates.push_back(dir + link);
    candidates.push_back(dir + ".debug/" + link);
    for (const std::string& root : options.extra_debug_dirs)
      candidates.push_back(root + "/" + link);
    for (const std::string& root : roots) candidates.push_back(root + dir + link);
  }
  for (const std::string& path : candidates) {
    stamps->Add(path);
    auto file = OpenBuild(path, elf.build_id());
    if (!file || !(*file)->has_dwarf()) {
      // A debug file without DWARF can still have the .symtab.
      if (!file || (*file)->Find(".symtab") == nullptr) continue;
    }
    // Without a build-id the checksum of the link is all that ties the two together.
    if (elf.build_id().empty() && !ChecksumFits(file->get(), elf.debug_link_checksum())) continue;
    return std::move(*file);
  }
  if (options.debuginfod == nullptr || elf.build_id().empty()) return nullptr;
  const std::string fetched = options.debuginfod->FindDebugInfo(elf.build_id());
  if (fetched.empty()) return nullptr;
  stamps->Add(fetched);
  auto file = OpenBuild(fetched, elf.build_id());
  return file ? std::move(*file) : nullptr;
}

std::unique_ptr<ElfFile> OpenAltFile(ElfFile* elf, const SymbolizeOptions& options,
                                     StampList* stamps) {
  const auto link = elf->AltDebugLink();
  if (!link) return nullptr;
  std::vector<std::string> candidates;
  if (link->path.front() == '/') {
    candidates.push_back(link->path);
  } else {
    candidates.push_back(elf->path().substr(0, elf->path().rfind('/') + 1) + link->path);
  }
  std::vector<std::string> roots = options.extra_debug_dirs;
  roots.insert(roots.end(), options.debug_dirs.begin(), options.debug_dirs.end());
  for (const std::string& root : roots) {
    if (link->build_id.size() > 2) candidates.push_back(BuildIdPath(root, link->build_id));
    candidates.push_back(root + "/.dwz/" + std::string(BaseName(link->path)));
  }
  for (const std::string& path : candidates) {
    stamps->Add(path);
    auto file = OpenBuild(path, link->build_id);
    if (file) return std::move(*file);
  }
  return nullptr;
}

std::unique_ptr<ElfFile> OpenMiniDebugInfo(ElfFile* elf) {
  const Bytes packed = elf->Section(".gnu_debugdata");
  if (packed.empty()) return nullptr;
  auto plain = DecompressXz(packed, kMaxMiniDebugInfo);
  if (!plain) return nullptr;
  auto file = ElfFile::FromBytes(std::move(*plain), elf->path());
  return file ? std::move(*file) : nullptr;
}

namespace {

constexpr size_t kMaxLists = 20'000;
constexpr size_t kMaxList = 16 << 20;
constexpr size_t kMaxBytes = 64 << 20;  // in all
constexpr size_t kMaxPaths = 16;
constexpr std::string_view kListSuffix = ".list";

// The file has this line. Lists start with "/.", which nobody asks for.
bool HasLine(const std::string& text, const std::string& line) {
  for (size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) {
    const size_t end = at + line.size();
    if (at > 0 && text[at - 1] == '\n' && (end == text.size() || text[end] == '\n')) return true;
  }
  return false;
}

bool IsPackageName(std::string_view name) {
  return name.size() >= 2 && name.size() <= 128 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") ==
             std::string_view::npos;
}

// Since /lib is a link to /usr/lib, files are known by either path.
std::string OtherPath(const std::string& path) {
  if (path.starts_with("/usr/")) return path.substr(4);
  return "/usr" + path;
}

}  // namespace

std::vector<std::string> DebugPackagesOf(const std::vector<std::string>& paths,
                                         const std::string& info_dir) {
  std::vector<std::string> packages(paths.size());
  size_t open = 0;
  for (const std::string& path : paths) open += path.starts_with("/") && path.size() > 1;
  if (open == 0 || paths.size() > kMaxPaths) return packages;
  size_t lists = 0;
  size_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(info_dir, error), end;
       !error && it != end && open != 0 && lists < kMaxLists && bytes < kMaxBytes;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.ends_with(kListSuffix)) continue;
    ++lists;
    const auto text = ReadWholeFile(it->path().string(), kMaxList);
    if (!text) continue;
    bytes += text->size();
    name.resize(std::min(name.size() - kListSuffix.size(), name.find(':')));
    if (!IsPackageName(name)) continue;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (!packages[i].empty() || !paths[i].starts_with("/") || paths[i].size() < 2) continue;
      if (!HasLine(*text, paths[i]) && !HasLine(*text, OtherPath(paths[i]))) continue;
      // glibc's debug files are in the main archive, under the older kind of name.
      packages[i] = name == "libc6" ? "libc6-dbg" : name + "-dbgsym";
      --open;
    }
  }
  return packages;
}

namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kTried = 1000;  // addresses are enough to tell

size_t InCode(const ElfFile& file, uint64_t bias, const std::vector<uint64_t>& addresses) {
  size_t count = 0;
  for (size_t i = 0; i < std::min(addresses.size(), kTried); ++i) {
    const uint64_t address = addresses[i] - bias;
    for (const ElfFile::Segment& s : file.segments()) {
      if (s.executable && address - s.address < s.memory_size) {
        ++count;
        break;
      }
    }
  }
  return count;
}

// The code ends where the mapping does.
bool EndsTogether(const ElfFile& file, uint64_t bias, const Module& module) {
  for (const ElfFile::Segment& s : file.segments()) {
    const uint64_t end = (s.address + s.file_size + kPage - 1) / kPage * kPage;
    if (s.executable && end + bias == module.end) return true;
  }
  return false;
}

}  // namespace

uint64_t FindLoadBias(const ElfFile& file, const Module& module,
                      const std::vector<uint64_t>& addresses) {
  std::vector<uint64_t> guesses;
  const auto guess = [&](const ElfFile::Segment& s) {
    guesses.push_back(module.start - (module.offset - s.offset + s.address));
  };
  if (file.is_fixed()) guesses.push_back(0);
  // Code that has the offset in it, pages being mapped whole; then code as such; then the rest.
  const auto holds = [&](const ElfFile::Segment& s) {
    const uint64_t first = s.offset / kPage * kPage;
    const uint64_t size = s.offset - first + s.file_size + kPage - 1;
    return module.offset - first < size / kPage * kPage;
  };
  for (const ElfFile::Segment& s : file.segments()) {
    if (s.executable && holds(s)) guess(s);
  }
  for (const ElfFile::Segment& s : file.segments()) {
    if (!s.executable && holds(s)) guess(s);
  }
  for (const ElfFile::Segment& s : file.segments()) {
    if (s.executable && !holds(s)) guess(s);
  }
  // A mapping without a place in memory: addresses are the file's own.
  if (module.start == 0 || guesses.empty()) guesses.push_back(0);
  uint64_t best = guesses.front();
  size_t most = 0;
  for (const uint64_t bias : guesses) {
    // One address more weighs more than the same end.
    const size_t score =
        2 * InCode(file, bias, addresses) + (EndsTogether(file, bias, module) ? 1 : 0);
    if (score > most) {
      most = score;
      best = bias;
    }
  }
  return best;
}

}  // namespace heapgauge
