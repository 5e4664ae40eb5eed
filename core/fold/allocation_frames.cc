#include "core/fold/allocation_frames.h"

#include "core/base/regex.h"
#include "core/base/symbol_name.h"
#include "core/base/text.h"
#include "core/fold/measures.h"

namespace heapgauge {
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
