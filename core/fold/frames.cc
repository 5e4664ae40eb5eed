#include "core/fold/frames.h"

#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/function_name.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/fold/measures.h"

namespace heapgauge {
namespace {

constexpr std::pair<Granularity, const char*> kNames[] = {
    {Granularity::kFunctions, "functions"}, {Granularity::kLines, "lines"},
    {Granularity::kFiles, "files"},         {Granularity::kModules, "modules"},
    {Granularity::kAddresses, "addresses"},
};

// A number for each different text, in the order of their appearance. Texts must outlive it.
class Numbering {
 public:
  uint32_t Of(std::string_view text) {
    return numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

struct PairHash {
  size_t operator()(const std::pair<uint64_t, uint64_t>& key) const {
    uint64_t h = (key.first ^ (key.second << 32 | key.second >> 32)) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
  }
};

const std::string& LinkerName(const Function& function) {
  return function.system_name.empty() ? function.name : function.system_name;
}

std::string FunctionKey(const Function& function) {
  std::string key = LinkerName(function);
  key += '\0';
  key += function.file;
  return key;
}

uint64_t OffsetIn(const Profile& profile, const Location& location) {
  return location.module == kNone ? location.address
                                  : location.address - profile.modules[location.module].load_bias;
}

}  // namespace

const char* GranularityName(Granularity granularity) {
  for (const auto& [value, name] : kNames) {
    if (value == granularity) return name;
  }
  return "functions";
}

Entities::Entities(const Profile& profile, Granularity granularity) : granularity_(granularity) {
  Numbering names;
  Numbering files;
  Numbering modules;
  std::vector<uint32_t> function_number;  // by name and file
  std::vector<uint32_t> file_number;
  std::unordered_map<std::pair<uint64_t, uint64_t>, uint32_t, PairHash> functions;
  functions.reserve(profile.functions.size());
  for (const Function& function : profile.functions) {
    file_number.push_back(files.Of(function.file));
    const std::pair<uint64_t, uint64_t> both{names.Of(LinkerName(function)), file_number.back()};
    function_number.push_back(
        functions.try_emplace(both, static_cast<uint32_t>(functions.size())).first->second);
  }
  // The same library can be loaded more than once; its address differs, its path does not.
  std::vector<uint32_t> module_number;
  for (const Module& module : profile.modules) module_number.push_back(modules.Of(module.path));

  std::unordered_map<std::pair<uint64_t, uint64_t>, EntityId, PairHash> known;
  first_.reserve(profile.locations.size());
  ids_.reserve(profile.frames.size());
  for (LocationId id = 0; id < profile.locations.size(); ++id) {
    const Location& location = profile.locations[id];
    first_.push_back(static_cast<uint32_t>(ids_.size()));
    const uint64_t module = location.module == kNone ? kNone : module_number[location.module];
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      const Frame& frame = profile.frames[location.first_frame + k];
      const bool has_file = !profile.functions[frame.function].file.empty();
      const uint64_t own_module = has_file ? kNone : module;
      std::pair<uint64_t, uint64_t> key;
      Entity entity{frame.function, location.module, id, 0};
      switch (granularity) {
        case Granularity::kFunctions:
          key = {function_number[frame.function], own_module};
          break;
        case Granularity::kLines:
          key = {function_number[frame.function] | uint64_t{frame.line} << 32, own_module};
          entity.line = frame.line;
          break;
        case Granularity::kFiles:
          key = {file_number[frame.function], own_module};
          break;
        case Granularity::kModules:
          key = {module, 0};
          break;
        case Granularity::kAddresses:
          key = {OffsetIn(profile, location), module << 32 | k};
          entity.line = frame.line;
          break;
      }
      const auto [it, is_new] = known.try_emplace(key, static_cast<EntityId>(entities_.size()));
      if (is_new) entities_.push_back(entity);
      ids_.push_back(it->second);
    }
  }
}

Entities Entities::OnePerLocation() const {
  Entities same;
  same.granularity_ = granularity_;
  same.entities_ = entities_;
  for (EntityId id = 0; id < entities_.size(); ++id) {
    same.entities_[id].location = id;
    same.first_.push_back(id);
    same.ids_.push_back(id);
  }
  return same;
}

Entities Entities::Joined(const std::vector<uint32_t>& number_of) const {
  Entities joined;
  joined.granularity_ = granularity_;
  joined.first_ = first_;
  std::unordered_map<uint32_t, EntityId> known;
  std::vector<EntityId> id_of;
  for (EntityId id = 0; id < entities_.size(); ++id) {
    const auto next = static_cast<EntityId>(joined.entities_.size());
    const auto [it, is_new] = known.try_emplace(number_of[id], next);
    if (is_new) joined.entities_.push_back(entities_[id]);
    id_of.push_back(it->second);
  }
  for (const EntityId id : ids_) joined.ids_.push_back(id_of[id]);
  return joined;
}

std::string IdentityOf(const Profile& profile, const Entities& entities, EntityId id) {
  const Entity& entity = entities[id];
  const Function& function = profile.functions[entity.function];
  const std::string module =
      entity.module == kNone ? std::string() : profile.modules[entity.module].path;
  const std::string own_module = function.file.empty() ? module : "";
  switch (entities.granularity()) {
    case Granularity::kFunctions:
      break;
    case Granularity::kLines:
      return FunctionKey(function) + '\0' + own_module + '\0' + std::to_string(entity.line);
    case Granularity::kFiles:
      return function.file + '\0' + own_module;
    case Granularity::kModules:
      return module;
    case Granularity::kAddresses:
      return module + '\0' + std::to_string(OffsetIn(profile, profile.locations[entity.location])) +
             '\0' + FunctionKey(function);
  }
  return FunctionKey(function) + '\0' + own_module;
}

bool IsNamedBefore(const Profile& profile, const Entities& entities, EntityId a, EntityId b) {
  if (a == kNone || b == kNone) return a < b;
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, uint32_t, EntityId>;
  // Of a file and a module the function is any of theirs.
  const bool has_file = entities.granularity() != Granularity::kModules;
  const bool has_name = has_file && entities.granularity() != Granularity::kFiles;
  const auto key = [&](EntityId id) -> Key {
    const Entity& entity = entities[id];
    const Function& function = profile.functions[entity.function];
    std::string_view module;
    if (entity.module != kNone) module = profile.modules[entity.module].path;
    return {has_name ? function.name : std::string_view(),
            has_file ? function.file : std::string_view(), module, entity.line, id};
  };
  return key(a) < key(b);
}

namespace {

// Each pattern must match a whole name without its parameter list.
constexpr const char* kPatterns[] = {
    // The C interface, under its own names and those that C libraries and wrappers give it.
    R"(_*((GI|libc|interceptor|wrap|real)_+)*)"
    R"((malloc|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|valloc|pvalloc))",
    // C functions whose result is a block for the caller.
    R"((__)?(strdup|strndup))",
    // The C++ operators.
    R"(operator new(\[\])?)",
    // std::allocator and its kin: one frame each when not inlined, five when inlined with names.
    R"((std|__gnu_cxx)::(__cxx\d+::)?(__)?(new_allocator|malloc_allocator|allocator)<.*>::)"
    R"((allocate|_M_allocate))",
    R"((std|__gnu_cxx)::(__)?(allocator_traits|alloc_traits)<.*>::_?\w*allocate\w*)",
    R"(std::pmr::.*::(do_)?allocate)",
    R"(std::(__)?(allocate_guarded|libcpp_allocate|libcpp_operator_new|__1::.*allocate\w*)(<.*>)?)",
    // The functions of libstdc++'s containers that do nothing but ask for storage. Those that
    // decide to
    // grow (push_back, _M_realloc_insert) stay: they say how the program uses the container.
    R"(std::.*::(_M_allocate|_M_allocate_node|_M_allocate_buckets|_M_allocate_map|_M_get_node)(<.*>)?)",
    R"(std::.*::(_M_create_node|_M_create_storage|_M_allocate_and_copy|_M_create)(<.*>)?)",
    // Wrappers that many programs put around malloc to check its result or count its bytes: redis,
    // glib,
    // OpenSSL, SQLite, Python, GNU programs. In such a program they are where malloc is elsewhere.
    R"((z|x|ztry|zmalloc_|ssl_)(malloc|calloc|realloc|strdup|memdup)(_usable\w*|_internal)?)",
    R"(g_(try_)?(malloc|realloc|strdup|strndup|slice_alloc|slice_copy|memdup)(0|2)?(_n)?)",
    R"((CRYPTO|OPENSSL)_(malloc|zalloc|realloc|clear_realloc|strdup|strndup|memdup))",
    R"(sqlite3(_|Db|Mem)?([mM]alloc|[rR]ealloc)(64|Raw|RawNN|Zero)*|mallocWithAlarm|dbMallocRawFinish)",
    R"(_?Py(Mem|Object)_(Raw|Debug|DebugRaw)?(Malloc|Calloc|Realloc|New)|_PyMem_\w+)",
    // The allocators' own interfaces and insides, when linked statically or with symbols.
    R"((je_|_rjem_|tc_|mi_)\w+)",
    R"((mallocx|rallocx|xallocx|imalloc|imalloc_\w+|arena_malloc\w*|te_\w+|fallback\w*Impl.*))",
    R"((tcmalloc|base::internal)::.*)",
    R"((do_malloc|do_memalign|cpp_alloc|newImpl|fallbackNewImpl)\w*(<.*>)?)",
    R"(_int_(malloc|memalign|realloc)|sysmalloc|tcache_\w+)",
    // Rust's way down to the allocator.
    R"(__(rust|rdl|rg)_(alloc|realloc|alloc_zeroed))",
    R"(alloc::alloc::.*|<alloc::alloc::Global( as .*)?>::.*|alloc::raw_vec::.*)",
    R"(<?alloc::raw_vec::RawVec.*)",
    // Our own agent.
    R"(heapgauge::agent::.*|heapgauge_pool_allocated)",
};

constexpr std::string_view kModules[] = {"libjemalloc",  "libtcmalloc", "libmimalloc",
                                         "libheapgauge", "libsnmalloc", "librpmalloc"};

const Regex& Matcher() {
  static const Regex matcher(AllocationFunctionRegex(), RegexOver::kText);
  return matcher;
}

}  // namespace

std::string AllocationFunctionRegex() {
  std::string all;
  for (const char* pattern : kPatterns) {
    if (!all.empty()) all += '|';
    all += pattern;
  }
  return all;
}

bool IsAllocationFunction(std::string_view name) {
  const std::string bare = WithoutParameters(name);
  // Function templates are demangled with their return type in front.
  if (Matcher().MatchesWhole(bare)) return true;
  int angle = 0;
  for (size_t i = 0; i < bare.size(); ++i) {
    if (bare[i] == '<') ++angle;
    if (bare[i] == '>') --angle;
    if (bare[i] == ' ' && angle == 0 && bare.compare(0, 8, "operator") != 0) {
      return Matcher().MatchesWhole(std::string_view(bare).substr(i + 1));
    }
  }
  return false;
}

bool IsAllocatorModule(std::string_view path) {
  const std::string_view name = BaseName(path);
  for (const std::string_view module : kModules) {
    if (name.substr(0, module.size()) == module) return true;
  }
  return false;
}

std::vector<uint32_t> CountAllocationFrames(const Profile& profile) {
  if (!MeasuresOf(profile).is_memory) return std::vector<uint32_t>(profile.locations.size());
  enum : uint8_t { kUnasked, kNo, kYes };
  std::vector<uint8_t> known(profile.functions.size(), kUnasked);
  std::vector<bool> module_allocates(profile.modules.size());
  for (size_t i = 0; i < profile.modules.size(); ++i) {
    module_allocates[i] = IsAllocatorModule(profile.modules[i].path);
  }
  std::vector<uint32_t> counts(profile.locations.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    const Location& location = profile.locations[i];
    if (location.module != kNone && module_allocates[location.module]) {
      counts[i] = location.frame_count;
      continue;
    }
    for (; counts[i] < location.frame_count; ++counts[i]) {
      const FunctionId function = profile.frames[location.first_frame + counts[i]].function;
      if (known[function] == kUnasked) {
        known[function] = IsAllocationFunction(profile.functions[function].name) ? kYes : kNo;
      }
      if (known[function] == kNo) break;
    }
  }
  return counts;
}

FramePlace FlatFrame(const Profile& profile, RowId row,
                     const std::vector<uint32_t>& allocation_frames) {
  FramePlace last;
  for (NodeId node = profile.rows[row].leaf; node != kNone; node = profile.nodes[node].parent) {
    const LocationId id = profile.nodes[node].location;
    const uint32_t count = profile.locations[id].frame_count;
    if (allocation_frames[id] < count) return {node, allocation_frames[id]};
    if (count > 0) last = {node, count - 1};
  }
  return last;  // the whole stack allocates: its outermost frame stands for it
}

}  // namespace heapgauge
