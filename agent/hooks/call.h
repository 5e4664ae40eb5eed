// A call of the program as the stubs hand it over (entries_ARCH.S), and what follows from its
// function: where the size is, what kind of call it is, how to pass it on. For the slow path of
// sampling and for tracing alike. Allocation-free, async-signal-safe.
#pragma once

#include <errno.h>

#include <bit>
#include <cstdint>

#include "agent/hooks/entry_table.h"

namespace heapgauge::agent {

// As HG_INTO_CPP in entries_ARCH.S lays it out.
struct Call {
  uintptr_t argument[4];
  Registers caller;
  uint64_t what;       // FunctionIndex and HG_WHY_*
  uint64_t countdown;  // if due: what became of the thread's countdown

  FunctionIndex function() const { return static_cast<FunctionIndex>(what & 0xff); }
  bool due() const { return (what & HG_WHY_DUE) != 0; }
  bool poll() const { return (what & HG_WHY_POLL) != 0; }
};
static_assert(sizeof(Call) == 72);

enum class Shape : uint8_t { SIZE1, SIZE2, SIZE3, PRODUCT12, RESIZE2, RESIZE23, FREE1, QUERY1 };

constexpr Shape kShapes[kFunctionCount] = {
#define X(name, shape) Shape::shape,
    HG_FUNCTIONS(X)
#undef X
};

class KeepErrno {
 public:
  KeepErrno() : value_(errno) {}
  ~KeepErrno() { errno = value_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int value_;
};

// In this calling convention a function may be given more arguments than it takes.
inline uintptr_t CallReal(const Call& call) {
  using Any = uintptr_t(uintptr_t, uintptr_t, uintptr_t, uintptr_t);
  const uintptr_t* a = call.argument;
  return Real<Any>(call.function())(a[0], a[1], a[2], a[3]);
}

inline size_t Product(size_t a, size_t b) {
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

inline size_t SizeOf(const Call& call) {
  const uintptr_t* a = call.argument;
  switch (kShapes[call.function()]) {
    case Shape::SIZE1:
      return a[0];
    case Shape::SIZE2:
    case Shape::RESIZE2:
      return a[1];
    case Shape::SIZE3:
      return a[2];
    case Shape::PRODUCT12:
      return Product(a[0], a[1]);
    case Shape::RESIZE23:
      return Product(a[1], a[2]);
    default:
      return 0;
  }
}

inline bool Throws(FunctionIndex f) {
  return f == kFn__Znwm || f == kFn__Znam || f == kFn__ZnwmSt11align_val_t ||
         f == kFn__ZnamSt11align_val_t;
}

inline wire::AllocationFunction KindOf(FunctionIndex f) {
  switch (f) {
    case kFn_malloc:
      return wire::AllocationFunction::kMalloc;
    case kFn_calloc:
      return wire::AllocationFunction::kCalloc;
    case kFn_realloc:
    case kFn_reallocarray:
      return wire::AllocationFunction::kRealloc;
    case kFn_mallocx:
    case kFn_rallocx:
    case kFn_xallocx:
      return wire::AllocationFunction::kMallocx;
    case kFn__Znam:
    case kFn__ZnamRKSt9nothrow_t:
    case kFn__ZnamSt11align_val_t:
    case kFn__ZnamSt11align_val_tRKSt9nothrow_t:
      return wire::AllocationFunction::kNewArray;
    case kFn__Znwm:
    case kFn__ZnwmRKSt9nothrow_t:
    case kFn__ZnwmSt11align_val_t:
    case kFn__ZnwmSt11align_val_tRKSt9nothrow_t:
      return wire::AllocationFunction::kNew;
    default:
      return wire::AllocationFunction::kAligned;
  }
}

// libstdc++'s operators call malloc or aligned_alloc, where they are seen.
inline wire::AllocationFunction KindOf(const Call& call) {
  const FunctionIndex f = call.function();
  const bool may_be_new = f == kFn_malloc || f == kFn_aligned_alloc;
  return may_be_new && IsOperatorNew(call.caller.pc) ? wire::AllocationFunction::kNew : KindOf(f);
}

inline uint64_t UsableSize(uintptr_t block, uint64_t requested) {
  return internal::usable_size != nullptr ? internal::usable_size(block) : requested;
}

// The block that an allocating call was given; 0 if it was refused.
inline uintptr_t BlockOf(const Call& call, uintptr_t result) {
  if (call.function() != kFn_posix_memalign) return result;
  return result == 0 ? *reinterpret_cast<uintptr_t*>(call.argument[0]) : 0;
}

// The alignment that was asked for, as a power of two; 0 if none was.
inline uint8_t AlignmentOf(const Call& call) {
  const uintptr_t* a = call.argument;
  uintptr_t alignment = 0;
  switch (call.function()) {
    case kFn_memalign:
    case kFn_aligned_alloc:
      alignment = a[0];
      break;
    case kFn_posix_memalign:
    case kFn__ZnwmSt11align_val_t:
    case kFn__ZnamSt11align_val_t:
    case kFn__ZnwmSt11align_val_tRKSt9nothrow_t:
    case kFn__ZnamSt11align_val_tRKSt9nothrow_t:
      alignment = a[1];
      break;
    case kFn_valloc:
    case kFn_pvalloc:
      alignment = 4096;
      break;
    case kFn_mallocx:
      return static_cast<uint8_t>(a[1] & 63);
    case kFn_rallocx:
      return static_cast<uint8_t>(a[2] & 63);
    case kFn_xallocx:
      return static_cast<uint8_t>(a[3] & 63);
    default:
      return 0;
  }
  return alignment < 2 ? uint8_t{0} : static_cast<uint8_t>(std::bit_width(alignment) - 1);
}

}  // namespace heapgauge::agent
