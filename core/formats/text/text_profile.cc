#include "core/formats/text/text_profile.h"

#include <limits>

#include "core/formats/text/scan.h"

namespace heapgauge {

LocationId AddressTable::Add(size_t at, uint64_t key, uint64_t address, bool exact) {
  const auto id = static_cast<LocationId>(profile_->locations.size());
  Location location;
  location.address = address;
  location.exact = exact;
  profile_->locations.push_back(location);
  slots_[at] = {key, id};
  if (2 * profile_->locations.size() <= slots_.size()) return id;
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.location == kNone) continue;
    size_t to = HashOf(slot.key) & mask;
    while (slots_[to].location != kNone) to = (to + 1) & mask;
    slots_[to] = slot;
  }
  return id;
}

StackError TextProfile::ParseStack(std::string_view text) {
  stack_.clear();
  // Each look-up waits for memory, so all are asked for before the first is made.
  parsed_.clear();
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '0' && at + 2 < text.size() && text[at + 1] == 'x' && HexDigit(text[at + 2]) >= 0) {
      at += 2;
      uint64_t address = 0;
      if (TakeHex(text, &at, &address) == Taken::kTooLarge) return StackError::kTooLarge;
      if (parsed_.size() == Profile::kMaxDepth) return StackError::kTooDeep;
      parsed_.push_back(address);
      addresses_.Prefetch(address);
    } else if (IsBlank(c) || c == 'x' || HexDigit(c) >= 0) {
      ++at;
    } else {
      break;
    }
  }
  for (const uint64_t address : parsed_) stack_.push_back(addresses_.At(address));
  return StackError::kFine;
}

StringId TextProfile::String(std::string_view text) {
  const auto [it, is_new] =
      strings_.try_emplace(std::string(text), static_cast<StringId>(profile_.strings.size()));
  if (is_new) profile_.strings.emplace_back(text);
  return it->second;
}

LabelSetId TextProfile::AddLabels(const std::vector<Label>& labels) {
  const auto id = static_cast<LabelSetId>(profile_.label_sets.size());
  profile_.label_sets.push_back(
      {static_cast<uint32_t>(profile_.labels.size()), static_cast<uint32_t>(labels.size())});
  profile_.labels.insert(profile_.labels.end(), labels.begin(), labels.end());
  return id;
}

LabelSetId TextProfile::BytesLabel(int64_t bytes) {
  if (bytes_ == kNone) bytes_ = String("bytes");
  const auto [it, is_new] = bytes_labels_.try_emplace(bytes, kNone);
  if (is_new) {
    Label label;
    label.key = bytes_;
    label.number = bytes;
    it->second = AddLabels({label});
  }
  return it->second;
}

RowId TextProfile::AddRow(NodeId leaf, LabelSetId labels) {
  Row row;
  row.leaf = leaf;
  row.labels = labels;
  profile_.rows.push_back(row);
  return static_cast<RowId>(profile_.rows.size() - 1);
}

int64_t MeanSize(CountAndSize pair) {
  if (pair.count == 0) return 0;
  if (pair.count == -1) {  // the one division that can overflow
    return pair.size == std::numeric_limits<int64_t>::min() ? pair.size : -pair.size;
  }
  return pair.size / pair.count;
}

namespace {

constexpr const char* kAllocator =
    // The C interface; tcmalloc's names for it; those of macOS.
    "(tc_)?(malloc|calloc|realloc|free|cfree|memalign|posix_memalign|valloc|pvalloc)|"
    "__posix_memalign|do_memalign|__libc_malloc|"
    "malloc_zone_(malloc|calloc|valloc|realloc|memalign|free)|"
    // C++ operators, also as tcmalloc and old compilers call them.
    "operator new(\\[\\])?|tc_(new|delete)(array)?|tc_new(array)?_nothrow|"
    "__builtin_(vec_)?(new|delete)|"
    // Allocators' insides.
    "tcmalloc::.*|BaseArena::.*|(::)?do_malloc(_no_errno|_pages)?|cpp_alloc|DoSampledAllocation|"
    "MallocedMemBlock::MallocedMemBlock|"
    // The C++ library's way to them.
    "(__gnu_cxx::new_allocator::|__malloc_alloc_template::|simple_alloc::)?allocate|_M_allocate|"
    // Go's runtime.
    "runtime\\..*";

// Frames of Go's runtime that are part of the program's story.
constexpr const char* kKept = "runtime\\.(panic|reflectcall|call[0-9]*)";

// jemalloc's own frames, which pprof does not know since it does not read jemalloc's format.
constexpr const char* kJemalloc =
    "(je_|_rjem_|jemalloc_|prof_|tsd_|ckh_|tcache_|arena_|large_|iallocztm|ipalloct).*|"
    "(aligned_alloc|mallocx|rallocx|xallocx|reallocarray|imalloc.*|ialloc.*|malloc_default|"
    "fallback(New|_new)?_?[iI]mpl.*|newImpl.*|handleOOM.*|do_rallocx|operator new.*)";

constexpr const char* kLocks =
    "(base::)?(RecordLockProfileData|SubmitMutexProfileData|SubmitSpinLockProfileData).*|"
    "((base::)?Mutex::)?(AwaitCommon|Unlock|ReaderUnlock).*|"
    "((base::)?MutexLock::)?~MutexLock.*|"
    "(SpinLock::)?(Unlock|SlowUnlock).*|(SpinLockHolder::)?~SpinLockHolder.*";

constexpr const char* kProfiler =
    "ProfileData::(Add|prof_handler)|CpuProfiler::prof_handler|__pthread_sighandler|__restore";

}  // namespace

void SetLegacyFrames(LegacyKind kind, Profile* profile) {
  profile->keep_frames.clear();
  switch (kind) {
    case LegacyKind::kHeap:
      profile->drop_frames = kAllocator;
      profile->keep_frames = kKept;
      break;
    case LegacyKind::kJemalloc:
      profile->drop_frames = std::string(kAllocator) + "|" + kJemalloc;
      profile->keep_frames = kKept;
      break;
    case LegacyKind::kContention:
      profile->drop_frames = kLocks;
      break;
    case LegacyKind::kOther:
      profile->drop_frames = kProfiler;
      break;
  }
}

}  // namespace heapgauge
