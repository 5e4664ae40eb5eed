#include "core/symbolize/symbolizer.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/elf/demangle.h"
#include "core/os/process.h"
#include "core/symbolize/debuginfod.h"
#include "core/symbolize/module_files.h"
#include "core/symbolize/module_names.h"

namespace heapgauge {
namespace {

constexpr size_t kLargestMap = 256 << 20;

// The number that the process has in its own, innermost namespace.
std::string InnerPid(uint32_t pid) {
  const uint32_t inner = InnermostPidOf("/proc/" + std::to_string(pid));
  return std::to_string(inner != 0 ? inner : pid);
}

}  // namespace

Result<PerfMap> PerfMap::Load(uint32_t pid, uint32_t uid, bool live, uint64_t since_unix_ns) {
  std::vector<std::string> candidates;
  if (live) {
    candidates.push_back(ProcessDirectory(pid) + "/root/tmp/perf-" + InnerPid(pid) + ".map");
  }
  candidates.push_back("/tmp/perf-" + std::to_string(pid) + ".map");
  Error reason{ErrorCode::kNotFound, "", kNoOffset};
  for (const std::string& path : candidates) {
    struct stat st {};
    if (lstat(path.c_str(), &st) != 0) continue;
    if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0 && st.st_uid != uid)) {
      reason = {ErrorCode::kPermission,
                "'" + path + "' belongs to another user: its names are not used", kNoOffset};
      continue;
    }
    if (static_cast<uint64_t>(st.st_mtim.tv_sec) + 1 < since_unix_ns / 1'000'000'000) {
      reason = {ErrorCode::kCorrupt, "'" + path + "' is older than the program", kNoOffset};
      continue;
    }
    auto text = ReadWholeFile(path, kLargestMap);
    if (text) return Parse(std::move(*text));
    reason = text.error();
  }
  if (reason.message.empty()) reason.message = "there is no " + candidates.back();
  return tl::unexpected<Error>(reason);
}

PerfMap PerfMap::Parse(std::string text) {
  PerfMap map;
  map.text_ = std::move(text);
  const char* const begin = map.text_.data();
  const char* const end = begin + map.text_.size();
  for (const char* line = begin; line < end;) {
    const char* line_end = std::find(line, end, '\n');
    uint64_t start = 0;
    uint64_t size = 0;
    const auto skip_prefix = [&](const char* at) {
      return line_end - at > 2 && at[0] == '0' && at[1] == 'x' ? at + 2 : at;
    };
    const auto first = std::from_chars(skip_prefix(line), line_end, start, 16);
    if (first.ec == std::errc() && first.ptr != line_end && *first.ptr == ' ') {
      const auto second = std::from_chars(skip_prefix(first.ptr + 1), line_end, size, 16);
      if (second.ec == std::errc() && second.ptr + 1 < line_end && *second.ptr == ' ' &&
          size != 0 && start + size > start) {
        const char* name = second.ptr + 1;
        map.entries_.push_back({start, start + size, static_cast<size_t>(name - begin),
                                static_cast<size_t>(line_end - name)});
      }
    }
    line = line_end + (line_end == end ? 0 : 1);
  }
  std::stable_sort(map.entries_.begin(), map.entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.start < b.start; });
  // Code that was replaced: the line written last is what is there now.
  size_t kept = 0;
  for (size_t i = 0; i < map.entries_.size(); ++i) {
    if (kept > 0 && map.entries_[kept - 1].start == map.entries_[i].start) --kept;
    map.entries_[kept++] = map.entries_[i];
  }
  map.entries_.resize(kept);
  return map;
}

std::string_view PerfMap::Find(uint64_t address) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), address,
                       [](uint64_t value, const Entry& entry) { return value < entry.start; });
  if (after == entries_.begin()) return {};
  const Entry& entry = *(after - 1);
  if (address >= entry.end) return {};
  return std::string_view(text_).substr(entry.name_at, entry.name_size);
}

namespace {

// Functions of the profile by linker name and file, so that each is there once. A function without
// a linker's name goes by its whole name and the line of its declaration.
class FunctionTable {
 public:
  explicit FunctionTable(Profile* profile) : profile_(profile) {}

  FunctionId Add(const SourceFrame& source) {
    std::string identity(source.system_name.empty() ? "?" : source.system_name);
    if (!source.name.empty()) {
      identity = source.name;
      if (source.declared_line != 0) identity += fmt::format(":{}", source.declared_line);
    }
    std::string key = identity;
    key += '\0';
    key += source.file;
    const auto [it, is_new] =
        ids_.try_emplace(std::move(key), static_cast<FunctionId>(profile_->functions.size()));
    if (is_new) {
      Function function;
      function.name =
          Printable(source.name.empty() ? Demangle(identity) : std::string(source.name));
      if (function.name != identity) function.system_name = Printable(identity);
      function.file = Printable(source.file);
      profile_->functions.push_back(std::move(function));
    }
    return it->second;
  }

 private:
  Profile* profile_;
  std::unordered_map<std::string, FunctionId> ids_;
};

std::string Placeholder(const Profile& profile, const Location& location) {
  if (location.module == kNone) return fmt::format("0x{:x}", location.address);
  const Module& module = profile.modules[location.module];
  std::string_view name = BaseName(module.path);
  if (name.empty() && !module.load_bias_known) return fmt::format("0x{:x}", location.address);
  if (name.empty()) name = "?";
  return fmt::format("{}+0x{:x}", name, location.lookup_address() - module.load_bias);
}

// Whether both name the same function, by where the names stand in memory.
bool IsSameFunction(const SourceFrame& a, const SourceFrame& b) {
  return a.system_name.data() == b.system_name.data() &&
         a.system_name.size() == b.system_name.size() && a.name.data() == b.name.data() &&
         a.file.data() == b.file.data() && a.declared_line == b.declared_line;
}

// Functions that were added before. Most places of a profile are in functions that others are in as
// well, and comparing names takes long; but by address, places of one function are neighbours.
class KnownFunctions {
 public:
  // `frames` by address.
  explicit KnownFunctions(const FrameLists& frames) {
    for (size_t i = 0; i < frames.size(); ++i) {
      const bool same = i > 0 && frames[i].size() == 1 && frames[i - 1].size() == 1 &&
                        IsSameFunction(frames[i][0], frames[i - 1][0]);
      if (!same) ids_.push_back(kNone);
      run_.push_back(static_cast<uint32_t>(ids_.size() - 1));
    }
  }
  // The place for the number of the function at the address of that number, which has one frame;
  // kNone if it is new.
  FunctionId* Of(size_t address) { return &ids_[run_[address]]; }

 private:
  std::vector<uint32_t> run_;  // by address
  std::vector<FunctionId> ids_;
};

// `known`: the place for the number of a function that is the only one, or null.
void AddFrames(const std::vector<SourceFrame>& frames, FunctionTable* table, FunctionId* known,
               Location* location, Profile* profile) {
  location->first_frame = static_cast<uint32_t>(profile->frames.size());
  for (const SourceFrame& source : frames) {
    FunctionId fresh = kNone;
    FunctionId* id = known != nullptr && frames.size() == 1 ? known : &fresh;
    if (*id == kNone) *id = table->Add(source);
    Frame frame;
    frame.function = *id;
    frame.line = source.line;
    frame.inlined = source.inlined;
    profile->frames.push_back(frame);
  }
  location->frame_count = static_cast<uint32_t>(frames.size());
}

// One line on what keeps a module from having names, with the number of places it concerns.
struct Note {
  size_t places;
  std::string text;
  std::string path = "";  // of a module whose debug package would help
};

constexpr std::string_view kSomePackage = "install the -dbgsym package";
constexpr size_t kMaxNotes = 8;

std::string StrippedText(const Module& module, const SymbolizeOptions& options) {
  std::string text = "it is stripped";
  if (module.build_id.size() <= 2) return text + " and has no build-id to find its debug file by";
  text += "; its debug file (" +
          (options.debug_dirs.empty() ? "build-id " + module.build_id
                                      : BuildIdPath(options.debug_dirs[0], module.build_id)) +
          ") is not there: " + std::string(kSomePackage) + ", give --debug-path";
  if (options.debuginfod == nullptr) {
    text += ", or set DEBUGINFOD_URLS";
    if (module.path.starts_with("/usr/") || module.path.starts_with("/lib")) {
      text += "=https://debuginfod.debian.net";
    }
  }
  return text;
}

// It has no file; its few frames need no excuse.
bool IsKernelsPage(const Module& module) { return module.path.find("vdso") != std::string::npos; }

// Puts the name of the package into the first notes, those that are shown.
void NamePackages(std::vector<Note>* notes) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < std::min(notes->size(), kMaxNotes); ++i) paths.push_back((*notes)[i].path);
  const std::vector<std::string> packages = DebugPackagesOf(paths);
  for (size_t i = 0; i < packages.size(); ++i) {
    std::string& text = (*notes)[i].text;
    const size_t at = text.find(kSomePackage);
    if (packages[i].empty() || at == std::string::npos) continue;
    text.replace(at, kSomePackage.size(), "install " + packages[i]);
  }
}

// A module of a foreign profile: its file is found, and by that its load bias. What comes back is
// the module as the file has it, to be asked for names.
Result<Module> Locate(const SymbolizeOptions& options, bool is_program,
                      const std::vector<LocationId>& places, Profile* profile, Module* module,
                      std::vector<Note>* notes) {
  const std::string program = is_program ? options.program_path : "";
  if (module->load_bias_known && program.empty()) return *module;
  if (!module->load_bias_known) module->load_bias = module->start - module->offset;
  StampList stamps;
  std::string note;
  HG_ASSIGN(const std::unique_ptr<ElfFile> file,
            OpenForeignModule(*module, program, options, &stamps, &note));
  if (!note.empty()) notes->push_back({places.size(), note});
  if (!module->load_bias_known) {
    std::vector<uint64_t> addresses;
    for (const LocationId id : places) addresses.push_back(profile->locations[id].lookup_address());
    module->load_bias = FindLoadBias(*file, *module, addresses);
    module->load_bias_known = true;
  }
  Module actual = *module;
  std::error_code no_error;
  const auto absolute = std::filesystem::absolute(file->path(), no_error);
  actual.path = no_error ? file->path() : absolute.string();
  actual.path_cut = false;
  actual.build_id = file->build_id();
  return actual;
}

// Code outside of all modules: a just-in-time compiler's, if it left a map.
void NameGeneratedCode(const SymbolizeOptions& options, FunctionTable* table, Profile* profile,
                       std::vector<Note>* notes) {
  std::vector<LocationId> places;
  for (LocationId i = 0; i < profile->locations.size(); ++i) {
    const Location& location = profile->locations[i];
    if (location.module == kNone && location.frame_count == 0) places.push_back(i);
  }
  const RecordingFacts& recording = profile->recording;
  if (places.empty() || recording.pid == 0) return;
  const auto map =
      PerfMap::Load(recording.pid, recording.uid, options.pid != 0, recording.start_unix_ns);
  size_t unnamed = places.size();
  for (const LocationId id : places) {
    if (!map) break;
    Location& location = profile->locations[id];
    const std::string_view name = map->Find(location.lookup_address());
    if (name.empty()) continue;
    AddFrames({{name, "", 0, false}}, table, nullptr, &location, profile);
    --unnamed;
  }
  if (unnamed == 0) return;
  notes->push_back(
      {unnamed, fmt::format("{} places are in no module: generated code without a name ({})",
                            unnamed, map ? "not in its perf map" : map.error().message)});
}

}  // namespace

SymbolizeReport Symbolize(const SymbolizeOptions& options, Profile* profile) {
  FunctionTable table(profile);
  std::vector<Note> notes;
  std::vector<std::vector<LocationId>> by_module(profile->modules.size());
  for (LocationId i = 0; i < profile->locations.size(); ++i) {
    const Location& location = profile->locations[i];
    if (location.module != kNone && location.frame_count == 0) {
      by_module[location.module].push_back(i);
    }
  }
  uint64_t to_name = 0;
  for (const std::vector<LocationId>& ids : by_module) to_name += ids.size();
  uint64_t named = 0;
  for (ModuleId m = 0; m < by_module.size(); ++m) {
    if (by_module[m].empty()) continue;
    Module& module = profile->modules[m];
    if (options.progress != nullptr) {
      options.progress->Report("reading names of " + std::string(BaseName(module.path)), named,
                               to_name, "addresses");
    }
    named += by_module[m].size();
    const bool foreign = !module.load_bias_known || (m == 0 && !options.program_path.empty());
    const auto located = Locate(options, m == 0, by_module[m], profile, &module, &notes);
    // All addresses by size, each once, and which of them each location has.
    std::vector<std::pair<uint64_t, uint32_t>> sorted;
    sorted.reserve(by_module[m].size());
    for (uint32_t i = 0; i < by_module[m].size(); ++i) {
      const Location& location = profile->locations[by_module[m][i]];
      sorted.push_back({location.lookup_address() - module.load_bias, i});
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<uint64_t> addresses;
    std::vector<uint32_t> address_of(sorted.size());
    for (const auto& [address, i] : sorted) {
      if (addresses.empty() || addresses.back() != address) addresses.push_back(address);
      address_of[i] = static_cast<uint32_t>(addresses.size() - 1);
    }
    ModuleNames answer;
    Status status;
    if (located) {
      SymbolizeOptions here = options;
      const RecordingFacts& recording = profile->recording;
      if (here.ended_unix_ns == 0 && recording.start_unix_ns != 0) {
        here.ended_unix_ns = recording.start_unix_ns + recording.duration_ns;
      }
      if (foreign) here.binary_dirs.clear();  // the module is found
      status = FindModuleNames(*located, here, addresses, &answer);
    } else {
      status = tl::unexpected<Error>(located.error());
    }
    if (!status) {
      module.no_names_reason = status.error().message;
      if (!IsKernelsPage(module) && !module.no_names_reason.empty()) {
        notes.push_back({by_module[m].size(), "no names: " + module.no_names_reason});
      }
      continue;
    }
    size_t unnamed = 0;
    KnownFunctions known(answer.found);
    for (size_t i = 0; i < by_module[m].size(); ++i) {
      Location& location = profile->locations[by_module[m][i]];
      const auto& frames = answer.found[address_of[i]];
      if (frames.empty()) {
        ++unnamed;
        continue;
      }
      AddFrames(frames, &table, known.Of(address_of[i]), &location, profile);
      module.has_functions = true;
      module.NoteLines(frames.front().line != 0);
    }
    const bool no_file = !answer.no_file_reason.empty() && !IsKernelsPage(module);
    if (no_file && unnamed != 0) {
      module.no_names_reason = answer.no_file_reason;
    } else if (!answer.has_dwarf) {
      module.no_names_reason = StrippedText(*located, options);
    }
    if (unnamed != 0 && (no_file || (!answer.has_dwarf && !answer.has_symtab))) {
      notes.push_back(
          {unnamed,
           fmt::format("{} of {} places in {} have no name: {}", unnamed, by_module[m].size(),
                       Printable(module.path), module.no_names_reason),
           module.path});
    }
    if (answer.symbols != nullptr && answer.symbols->has_too_large()) {
      notes.push_back({by_module[m].size(),
                       fmt::format("debug information of {} is left out: a section is over 2 GB "
                                   "(build with -gsplit-dwarf, or compress it with dwz)",
                                   Printable(module.path))});
    }
    if (answer.symbols != nullptr && answer.symbols->missing_split_units() != 0) {
      notes.push_back({by_module[m].size(),
                       fmt::format("{} .dwo files of {} are missing: keep them, or a .dwp beside "
                                   "the program, or give --debug-path",
                                   answer.symbols->missing_split_units(), Printable(module.path))});
    }
  }
  NameGeneratedCode(options, &table, profile, &notes);
  for (Location& location : profile->locations) {
    if (location.frame_count != 0) continue;
    const std::string name = Placeholder(*profile, location);
    AddFrames({{name, "", 0, false}}, &table, nullptr, &location, profile);
    profile->functions[profile->frames.back().function].placeholder = true;
  }
  std::sort(notes.begin(), notes.end(), [](const Note& a, const Note& b) {
    return a.places != b.places ? a.places > b.places : a.text < b.text;
  });
  NamePackages(&notes);
  SymbolizeReport report;
  for (const Note& note : notes) {
    if (std::find(report.notes.begin(), report.notes.end(), note.text) != report.notes.end()) {
      continue;
    }
    if (report.notes.size() == kMaxNotes) {
      report.notes.push_back(fmt::format("and {} more like these", notes.size() - kMaxNotes));
      break;
    }
    report.notes.push_back(note.text);
  }
  if (options.debuginfod != nullptr && !options.debuginfod->trouble().empty()) {
    report.notes.push_back(options.debuginfod->trouble());
  }
  return report;
}

}  // namespace heapgauge
