// The hooked functions, listed once. entries_ARCH.S makes the exported symbols and their stubs from
// this list, the C++ side its enumeration and tables; so the order here is the index in every
// table.
//
// HG_FUNCTIONS(X) expands X(symbol, shape) for each. The shape says where the arguments are:
//   SIZE1 SIZE2 SIZE3   allocates; the size is the 1st, 2nd or 3rd argument
//   PRODUCT12           allocates; the size is 1st times 2nd argument
//   RESIZE2             changes the block in the 1st argument to the size in the 2nd
//   RESIZE23            the same, size is 2nd times 3rd argument
//   FREE1               frees the block in the 1st argument
//   QUERY1              answers something about the block in the 1st argument
//
// Included by assembly: preprocessor only.
#pragma once

#define HG_FUNCTIONS(X) HG_C_FUNCTIONS(X) HG_OPERATORS(X) HG_JEMALLOC_FUNCTIONS(X)

#define HG_C_FUNCTIONS(X)      \
  X(malloc, SIZE1)             \
  X(calloc, PRODUCT12)         \
  X(realloc, RESIZE2)          \
  X(reallocarray, RESIZE23)    \
  X(memalign, SIZE2)           \
  X(aligned_alloc, SIZE2)      \
  X(posix_memalign, SIZE3)     \
  X(valloc, SIZE1)             \
  X(pvalloc, SIZE1)            \
  X(free, FREE1)               \
  X(cfree, FREE1)              \
  X(free_sized, FREE1)         \
  X(free_aligned_sized, FREE1) \
  X(malloc_usable_size, QUERY1)

#define HG_OPERATORS(X)                         \
  X(_Znwm, SIZE1)                               \
  X(_Znam, SIZE1)                               \
  X(_ZnwmRKSt9nothrow_t, SIZE1)                 \
  X(_ZnamRKSt9nothrow_t, SIZE1)                 \
  X(_ZnwmSt11align_val_t, SIZE1)                \
  X(_ZnamSt11align_val_t, SIZE1)                \
  X(_ZnwmSt11align_val_tRKSt9nothrow_t, SIZE1)  \
  X(_ZnamSt11align_val_tRKSt9nothrow_t, SIZE1)  \
  X(_ZdlPv, FREE1)                              \
  X(_ZdaPv, FREE1)                              \
  X(_ZdlPvm, FREE1)                             \
  X(_ZdaPvm, FREE1)                             \
  X(_ZdlPvRKSt9nothrow_t, FREE1)                \
  X(_ZdaPvRKSt9nothrow_t, FREE1)                \
  X(_ZdlPvSt11align_val_t, FREE1)               \
  X(_ZdaPvSt11align_val_t, FREE1)               \
  X(_ZdlPvmSt11align_val_t, FREE1)              \
  X(_ZdaPvmSt11align_val_t, FREE1)              \
  X(_ZdlPvSt11align_val_tRKSt9nothrow_t, FREE1) \
  X(_ZdaPvSt11align_val_tRKSt9nothrow_t, FREE1)

#define HG_JEMALLOC_FUNCTIONS(X) \
  X(mallocx, SIZE1)              \
  X(rallocx, RESIZE2)            \
  X(xallocx, RESIZE2)            \
  X(sallocx, QUERY1)             \
  X(dallocx, FREE1)              \
  X(sdallocx, FREE1)

// Why a stub entered the slow path; together with the function's index in one word.
#define HG_WHY_DUE 0x100       /* the countdown ran out in this call */
#define HG_WHY_CANDIDATE 0x200 /* the block may be a sample */
#define HG_WHY_POLL 0x400      /* never active so far, and the control words changed */

// Blocks that pass this mask may be samples: they begin at a page, or 16 bytes behind one as
// glibc's mapped blocks do.
#define HG_SAMPLE_MASK 0xfef
