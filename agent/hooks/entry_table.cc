// Finds the real functions and decides which of them are ours to count.
//
// A function is counted if the object that defines it is an allocator, that is, defines malloc as
// well. libstdc++'s operator new is not: it calls malloc, where the block is seen anyway, with
// operator new in its stack. The same holds for glibc's reallocarray, which calls realloc by name.
#include <cstring>

#include "agent/hooks/entry_table.h"
#include "agent/sys/symbol_search.h"
#include "agent/sys/text.h"

namespace heapgauge::agent {
namespace {

constexpr const char* kNames[kFunctionCount] = {
#define X(name, shape) #name,
    HG_FUNCTIONS(X)
#undef X
};

constexpr uint32_t kMaxAllocatorObjects = 4;

AllocatorTraits traits;
char allocator_path[512];
bool counted[kFunctionCount];  // by the rule above
CodeRange allocator_object[kMaxAllocatorObjects];
std::atomic<uint32_t> resolved;
std::atomic<Mode> current_mode;

bool IsOperator(uint32_t f) { return kNames[f][0] == '_'; }

// While never active, these look for a wake-up: rarely called, and by nearly every program.
bool Polls(uint32_t f) {
  return f == kFn_calloc || f == kFn_realloc || f == kFn_memalign || f == kFn_posix_memalign ||
         f == kFn_aligned_alloc;
}

// ---- for functions that the allocator does not have ----

void* FallbackMallocx(size_t size, int flags) {
  const size_t alignment = size_t{1} << (flags & 63);
  const bool zero = (flags & 64) != 0;
  if (alignment <= 16) {
    return zero ? Real<void*(size_t, size_t)>(kFn_calloc)(1, size)
                : Real<void*(size_t)>(kFn_malloc)(size);
  }
  void* block = Real<void*(size_t, size_t)>(kFn_memalign)(alignment, size);
  if (block != nullptr && zero) memset(block, 0, size);
  return block;
}
void* FallbackRallocx(void* block, size_t size, int flags) {
  if ((flags & 127) == 0) return Real<void*(void*, size_t)>(kFn_realloc)(block, size);
  const size_t old_size = Real<size_t(void*)>(kFn_malloc_usable_size)(block);
  void* moved = FallbackMallocx(size, flags);
  if (moved == nullptr) return nullptr;
  memcpy(moved, block, old_size < size ? old_size : size);
  Real<void(void*)>(kFn_free)(block);
  return moved;
}
void* FallbackAlignedNew(size_t size, size_t alignment) {
  return Real<void*(size_t, size_t)>(kFn_memalign)(alignment, size);
}
size_t FallbackUsable(void* block, int) {
  return Real<size_t(void*)>(kFn_malloc_usable_size)(block);
}
size_t FallbackXallocx(void* block, size_t, size_t, int) { return FallbackUsable(block, 0); }

// A function nobody defines. Only a program that asks for the symbol before it calls it gets here,
// so it must work all the same.
AnyFunction FallbackFor(uint32_t f) {
  switch (f) {
    case kFn_mallocx:
      return reinterpret_cast<AnyFunction>(&FallbackMallocx);
    case kFn_rallocx:
      return reinterpret_cast<AnyFunction>(&FallbackRallocx);
    case kFn_xallocx:
      return reinterpret_cast<AnyFunction>(&FallbackXallocx);
    case kFn_sallocx:
      return reinterpret_cast<AnyFunction>(&FallbackUsable);
    case kFn__ZnwmSt11align_val_t:
    case kFn__ZnamSt11align_val_t:
    case kFn__ZnwmSt11align_val_tRKSt9nothrow_t:
    case kFn__ZnamSt11align_val_tRKSt9nothrow_t:
      return reinterpret_cast<AnyFunction>(&FallbackAlignedNew);
    default:
      break;
  }
  const bool allocates = strncmp(kNames[f], "_Zn", 3) == 0;
  return allocates ? hg_real[kFn_malloc] : hg_real[kFn_free];
}

void AddAllocatorObject(const Definition& definition) {
  using internal::allocator_objects;
  const uint32_t n = allocator_objects.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < n; ++i) {
    if (allocator_object[i].start == definition.start) return;
  }
  if (n == kMaxAllocatorObjects) return;
  allocator_object[n] = {definition.start, definition.end - definition.start};
  allocator_objects.store(n + 1, std::memory_order_release);
}

void Identify(const Definition& malloc_definition) {
  CopyText(allocator_path, malloc_definition.path);
  traits.identity.path = allocator_path;
  const uintptr_t inside = reinterpret_cast<uintptr_t>(malloc_definition.address);
  wire::Allocator& kind = traits.identity.kind;
  if (FindIn(inside, "mallctl") != nullptr && FindIn(inside, "mallocx") != nullptr) {
    kind = wire::Allocator::kJemalloc;
  } else if (FindIn(inside, "mi_malloc") != nullptr) {
    kind = wire::Allocator::kMimalloc;
  } else if (FindIn(inside, "tc_malloc") != nullptr) {
    kind = wire::Allocator::kTcmalloc;
  } else if (FindIn(inside, "__libc_start_main") != nullptr) {
    kind = wire::Allocator::kGlibc;
  }
}

bool IsCounted(uint32_t f, const Definition& definition, const Definition& malloc_definition) {
  if (definition.address == nullptr) return false;
  if (f == kFn_reallocarray && traits.identity.kind == wire::Allocator::kGlibc) return false;
  if (definition.start == malloc_definition.start) return true;
  // Another allocator behind a wrapper that defines malloc alone.
  return IsOperator(f) &&
         FindIn(reinterpret_cast<uintptr_t>(definition.address), "malloc") != nullptr;
}

// Only of stand-ins the allocator itself gives another answer than it should. They are glibc's
// alone, and they always pass the mask.
bool AsksForSize(uint32_t f) { return f == kFn_malloc_usable_size || f == kFn_sallocx; }

// Whether calls must come through the agent at all.
bool IsNeeded(uint32_t f) {
  if (AsksForSize(f) && traits.identity.kind != wire::Allocator::kGlibc) return false;
  return counted[f];
}

// Whether the stub need not be changed once the agent is active. Over other allocators than glibc
// hardly any sample passes the mask, so that kLookup comes with the first one.
bool CountsTheSameInEveryMode(uint32_t f) {
  return traits.identity.kind != wire::Allocator::kGlibc || hg_count_stub[f] == hg_lookup_stub[f];
}

AnyFunction EntryFor(uint32_t f, Mode mode) {
  if (hg_real[f] == nullptr) return hg_resolve_stub[f];
  if (!IsNeeded(f)) return hg_real[f];
  const bool samples = mode == Mode::kCounting || mode == Mode::kLookup;
  if (AsksForSize(f) && samples) return hg_count_stub[f];
  switch (mode) {
    case Mode::kDormant:
      return Polls(f) ? hg_poll_stub[f] : hg_real[f];
    case Mode::kCounting:
      return hg_count_stub[f];
    case Mode::kLookup:
      return hg_lookup_stub[f];
    case Mode::kTrace:
      return AsksForSize(f) ? hg_real[f] : hg_trace_stub[f];
    default:
      return hg_real[f];
  }
}

void Adopt(uint32_t f, const Definition& definition, const Definition& malloc_definition) {
  counted[f] = IsCounted(f, definition, malloc_definition);
  if (counted[f] && traits.identity.kind != wire::Allocator::kGlibc) {
    AddAllocatorObject(definition);
  }
  hg_real[f] = reinterpret_cast<AnyFunction>(definition.address);
  if (!counted[f] && (f == kFn__Znwm || f == kFn__ZnwmSt11align_val_t)) {
    const auto start = reinterpret_cast<uintptr_t>(definition.address);
    internal::operator_new[f == kFn__Znwm ? 0 : 1] = {start, definition.bytes};
  }
}

// An operator that no object defined at the start, and that something was bound to before
// BindProgram could take it back.
AnyFunction ResolveLate(uint32_t f, uintptr_t caller) {
  auto found = reinterpret_cast<AnyFunction>(FindIn(caller, kNames[f]));
  if (found != nullptr) return found;
  Definition definition;
  FindNext(&resolved, &kNames[f], &definition, 1);
  found = reinterpret_cast<AnyFunction>(definition.address);
  return found != nullptr ? found : FallbackFor(f);
}

}  // namespace

void ResolveRealFunctions() {
  if (resolved.load(std::memory_order_acquire) != 0) return;
  Definition definitions[kFunctionCount];
  FindNextAtStart(&resolved, kNames, definitions, kFunctionCount);
  const Definition& malloc_definition = definitions[kFn_malloc];
  Identify(malloc_definition);
  for (uint32_t f = 0; f < kFunctionCount; ++f) {
    if (definitions[f].address != nullptr) Adopt(f, definitions[f], malloc_definition);
  }
  if (counted[kFn_malloc_usable_size]) {
    internal::usable_size = Real<size_t(uintptr_t)>(kFn_malloc_usable_size);
    internal::block_room.Use(internal::usable_size,
                             traits.identity.kind == wire::Allocator::kGlibc);
  }
  for (uint32_t f = 0; f < kFunctionCount; ++f) {
    if (hg_real[f] == nullptr && !IsOperator(f)) hg_real[f] = FallbackFor(f);
    if (hg_real[f] != nullptr) hg_entry[f] = hg_real[f];
  }
  resolved.store(1, std::memory_order_release);
}

void BindProgram(bool active) {
  for (uint32_t f = 0; f < kFunctionCount; ++f) {
    if (!IsNeeded(f)) {
      BindOwnSymbol(kNames[f], nullptr);
    } else if (active && CountsTheSameInEveryMode(f)) {
      BindOwnSymbol(kNames[f], reinterpret_cast<const void*>(hg_lookup_stub[f]));
    }
  }
}

void SetMode(Mode mode) {
  Mode current = current_mode.load();
  do {
    if (current > mode) return;
  } while (!current_mode.compare_exchange_weak(current, mode));
  // If another thread goes further meanwhile, its entries must be the last ones written.
  for (Mode written = mode;; written = current_mode.load()) {
    for (uint32_t f = 0; f < kFunctionCount; ++f) hg_entry[f] = EntryFor(f, written);
    if (current_mode.load() == written) return;
  }
}

Mode CurrentMode() { return current_mode.load(std::memory_order_relaxed); }

const AllocatorTraits& Traits() { return traits; }

bool internal::IsInsideAllocatorObject(uintptr_t pc) {
  const uint32_t n = allocator_objects.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < n; ++i) {
    if (allocator_object[i].Has(pc)) return true;
  }
  return false;
}

}  // namespace heapgauge::agent

HG_HIDDEN heapgauge::agent::AnyFunction hg_resolve_real(uint32_t function, uintptr_t caller);

// From entries_ARCH.S: where this call is to go.
heapgauge::agent::AnyFunction hg_resolve_real(uint32_t function, uintptr_t caller) {
  using namespace heapgauge::agent;
  ResolveRealFunctions();
  return hg_real[function] != nullptr ? hg_real[function] : ResolveLate(function, caller);
}
