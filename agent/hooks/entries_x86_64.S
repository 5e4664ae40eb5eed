// The exported functions and everything that runs on every allocation and free.
//
// Each exported function is one jump through hg_entry[i]. What stands there is, over time:
//   hg_resolve_<f>   until the real functions are found (the first call of any of them),
//   the real one     while the agent was never active, or where the function is not ours to count,
//   hg_poll_<f>      the same for a few rarely called functions, which look for a wake-up,
//   hg_count_<f>     once active: counts down; only blocks that pass HG_SAMPLE_MASK may be samples,
//   hg_lookup_<f>    the same once there are samples which do not pass: no mask,
//   hg_trace_<f>     while every call is recorded: goes to C++ each time, but for free(NULL).
// Written in assembly because gcc makes twice as many instructions of it, and because the stack
// pointer and frame pointer of the caller must reach the unwinder unspoilt.
#include "agent/hooks/functions.h"
#include "agent/hooks/macros_x86_64.inc"
#include "agent/table/sample_filter.h"

#define FILTER_SHIFT (32 - HG_FILTER_BITS)

// The index in the tables, counted through the list.
.set hg_index, 0

.macro HG_REAL
  jmp *(hg_real + 8 * hg_index)(%rip)
.endm

// To the slow path with the reason in eax. Each stub has its own copy: it is cold code.
.macro HG_SLOW why
  movl $(hg_index | \why), %eax
  jmp hg_slow
.endm

// if (countdown < size) slow; countdown -= size. `sub` and `jb`: a size beyond all bounds borrows.
.macro HG_COUNT size, scratch, slow
  movq hg_thread@gottpoff(%rip), \scratch
  subq \size, %fs:(\scratch)
  jb \slow
.endm

// The countdown ran out: take what it is now along in r10, and leave 0. If a signal handler jumps away
// before the slow path has set it again, the next call comes back here.
.macro HG_SLOW_DUE
  movq hg_thread@gottpoff(%rip), %r11
  xorl %r10d, %r10d
  xchgq %r10, %fs:(%r11)
  HG_SLOW HG_WHY_DUE
.endm

// Is the block in rdi possibly a sample? Spares the arguments (xallocx has four).
.macro HG_FILTER slow
  imull $HG_FILTER_FACTOR, %edi, %eax
  shrl $FILTER_SHIFT, %eax
  leaq hg_filter(%rip), %r11
  cmpb $0, (%r11, %rax)
  jne \slow
.endm


// ---- the stubs by shape ----

.macro HG_STUB_ALLOCATE name, size
HG_BEGIN hg_count_\name
HG_BEGIN_ALIAS hg_lookup_\name
  HG_COUNT \size, %rax, 2f
  HG_REAL
2:HG_SLOW_DUE
HG_END hg_count_\name
.endm

.macro HG_BEGIN_ALIAS label
  .globl \label
  .hidden \label
\label:
.endm

.macro HG_STUB_SIZE1 name
  HG_STUB_ALLOCATE \name, %rdi
.endm
.macro HG_STUB_SIZE2 name
  HG_STUB_ALLOCATE \name, %rsi
.endm
.macro HG_STUB_SIZE3 name
  HG_STUB_ALLOCATE \name, %rdx
.endm

.macro HG_STUB_PRODUCT12 name
HG_BEGIN hg_count_\name
HG_BEGIN_ALIAS hg_lookup_\name
  movq %rdi, %rax
  imulq %rsi, %rax
  HG_COUNT %rax, %rcx, 2f
  HG_REAL
2:HG_SLOW_DUE
HG_END hg_count_\name
.endm

.macro HG_STUB_RESIZE name
  testl $HG_SAMPLE_MASK, %edi
  jz 3f
  HG_REAL
2:HG_SLOW_DUE
3:HG_FILTER 4f
  HG_REAL
4:HG_SLOW HG_WHY_CANDIDATE
HG_END hg_count_\name
.endm

.macro HG_STUB_RESIZE_LOOKUP name
  HG_FILTER 4f
  HG_REAL
2:HG_SLOW_DUE
4:HG_SLOW HG_WHY_CANDIDATE
HG_END hg_lookup_\name
.endm

.macro HG_STUB_RESIZE2 name
HG_BEGIN hg_count_\name
  HG_COUNT %rsi, %rax, 2f
  HG_STUB_RESIZE \name
HG_BEGIN hg_lookup_\name
  HG_COUNT %rsi, %rax, 2f
  HG_STUB_RESIZE_LOOKUP \name
.endm

.macro HG_STUB_RESIZE23 name
HG_BEGIN hg_count_\name
  movq %rsi, %rax
  imulq %rdx, %rax
  HG_COUNT %rax, %rcx, 2f
  HG_STUB_RESIZE \name
HG_BEGIN hg_lookup_\name
  movq %rsi, %rax
  imulq %rdx, %rax
  HG_COUNT %rax, %rcx, 2f
  HG_STUB_RESIZE_LOOKUP \name
.endm

.macro HG_STUB_FREE1 name
HG_BEGIN hg_count_\name
  testl $HG_SAMPLE_MASK, %edi
  jz hg_lookup_\name
  HG_REAL
HG_END hg_count_\name
HG_BEGIN hg_lookup_\name
  HG_FILTER 4f
  HG_REAL
4:HG_SLOW HG_WHY_CANDIDATE
HG_END hg_lookup_\name
.endm

.macro HG_STUB_QUERY1 name
  HG_STUB_FREE1 \name
.endm

// ---- tracing, by shape ----

.macro HG_TRACE_ALLOCATE name
HG_BEGIN hg_trace_\name
  .ifc \name, malloc
  .set hg_index_malloc, hg_index
  jmp hg_traced_malloc
  .else
  movl $hg_index, %eax
  jmp hg_traced_block
  .endif
HG_END hg_trace_\name
.endm
.macro HG_TRACE_SIZE1 name
  HG_TRACE_ALLOCATE \name
.endm
.macro HG_TRACE_SIZE2 name
  HG_TRACE_ALLOCATE \name
.endm
.macro HG_TRACE_SIZE3 name
  HG_TRACE_ALLOCATE \name
.endm
.macro HG_TRACE_PRODUCT12 name
  HG_TRACE_ALLOCATE \name
.endm

.macro HG_TRACE_RESIZE2 name
HG_BEGIN hg_trace_\name
  movl $hg_index, %eax
  jmp hg_traced_change
HG_END hg_trace_\name
.endm
.macro HG_TRACE_RESIZE23 name
  HG_TRACE_RESIZE2 \name
.endm

// The event first, then the real function, with the arguments as they were: three at the most.
.macro HG_TRACE_FREE1 name
HG_BEGIN hg_trace_\name
  testq %rdi, %rdi
  jz 1f
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  .ifc \name, free        // what others go on to, and the most frequent
  movq 8(%rsp), %rsi
  leaq 16(%rsp), %rdx
  call hg_record_free
  popq %rdi
  .cfi_adjust_cfa_offset -8
1:HG_REAL
  .else
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  movq 24(%rsp), %rsi      // the caller's pc, and its sp after the return
  leaq 32(%rsp), %rdx
  call hg_record_free
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
1:movl $hg_index, %eax
  jmp hg_pass_on
  .endif
HG_END hg_trace_\name
.endm

.macro HG_TRACE_QUERY1 name
HG_BEGIN hg_trace_\name
  HG_REAL
HG_END hg_trace_\name
.endm

// ---- one set for each function ----

.macro HG_DEFINE_STUBS name, shape

  .text
  HG_STUB_\shape \name
  HG_TRACE_\shape \name

HG_BEGIN hg_poll_\name
  movq hg_control_word(%rip), %rax
  movl (%rax), %eax
  cmpl hg_seen_generation(%rip), %eax
  jne 5f
  HG_REAL
5:HG_SLOW HG_WHY_POLL
HG_END hg_poll_\name

HG_BEGIN hg_resolve_\name
  movl $hg_index, %eax
  jmp hg_resolve
HG_END hg_resolve_\name

  .set hg_index, hg_index + 1
.endm

.macro HG_DEFINE name, shape
HG_EXPORT \name
  jmp *(hg_entry + 8 * hg_index)(%rip)
HG_EXPORT_END \name
  HG_DEFINE_STUBS \name, \shape
.endm

#define X(name, shape) HG_DEFINE name, shape;
HG_C_FUNCTIONS(X)
#undef X
#ifdef HG_LINKED_IN
#define X(name, shape) HG_DEFINE_STUBS name, shape;
#else
#define X(name, shape) HG_DEFINE name, shape;
#endif
HG_OPERATORS(X)
#undef X
#define X(name, shape) HG_DEFINE name, shape;
HG_JEMALLOC_FUNCTIONS(X)
#undef X

#ifdef HG_LINKED_IN  // for linked_operators_ARCH.S
  .globl heapgauge_linked_entry
  .set heapgauge_linked_entry, hg_entry
#endif

// ---- the way into C++ ----

// eax: index and reason; the arguments and the return address are still where the caller put them.
.macro HG_INTO_CPP label, function
HG_BEGIN \label
  subq $72, %rsp
  .cfi_adjust_cfa_offset 72
  movq %rdi, 0(%rsp)       // Call::argument[0..3]
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq 72(%rsp), %rdx      // Call::caller: pc, sp, fp after the return
  movq %rdx, 32(%rsp)
  leaq 80(%rsp), %rdx
  movq %rdx, 40(%rsp)
  movq %rbp, 48(%rsp)
  movl %eax, %eax
  movq %rax, 56(%rsp)      // Call::what
  movq %r10, 64(%rsp)      // Call::countdown
  movq %rsp, %rdi
  call \function
  addq $72, %rsp
  .cfi_adjust_cfa_offset -72
  ret
HG_END \label
.endm
  HG_INTO_CPP hg_slow, hg_slow_path
  HG_INTO_CPP hg_traced_block, hg_record_allocate
  HG_INTO_CPP hg_traced_change, hg_record_resize

// While tracing, the real function is called from here alone, so that a call which returns to here is
// known to be the allocator's own: jemalloc's operator delete, for one, goes on to free by a jump.
  .globl hg_passing_on
  .hidden hg_passing_on
hg_passing_on:

// malloc, with the stack: Registers, the size, the block.
HG_BEGIN hg_traced_malloc
  subq $40, %rsp
  .cfi_adjust_cfa_offset 40
  movq %rdi, 32(%rsp)
  call *(hg_real + 8 * hg_index_malloc)(%rip)
  testq %rax, %rax
  jz 1f
  movq %rax, 24(%rsp)
  movq 40(%rsp), %rdx      // the caller's pc, sp, fp after the return
  movq %rdx, 0(%rsp)
  leaq 48(%rsp), %rdx
  movq %rdx, 8(%rsp)
  movq %rbp, 16(%rsp)
  movq %rax, %rdi
  movq 32(%rsp), %rsi
  movq %rsp, %rdx
  call hg_record_malloc
  movq 24(%rsp), %rax
1:addq $40, %rsp
  .cfi_adjust_cfa_offset -40
  ret
HG_END hg_traced_malloc

// eax: index; the arguments are in their places.
HG_BEGIN hg_pass_on
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  leaq hg_real(%rip), %r11
  call *(%r11, %rax, 8)
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
HG_END hg_pass_on

// rdi: Call.
HG_BEGIN hg_pass_on_call
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movzbl 56(%rdi), %eax
  leaq hg_real(%rip), %r11
  movq 8(%rdi), %rsi
  movq 16(%rdi), %rdx
  movq 24(%rdi), %rcx
  movq 0(%rdi), %rdi
  call *(%r11, %rax, 8)
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
HG_END hg_pass_on_call

  .globl hg_passed_on
  .hidden hg_passed_on
hg_passed_on:

// eax: index. Finds the real function, then goes there.
HG_BEGIN hg_resolve
  HG_SAVE_ARGUMENTS
  movl %eax, %edi
  movq 56(%rsp), %rsi      // the caller
  call hg_resolve_real
  HG_RESTORE_ARGUMENTS
  jmp *%rax
HG_END hg_resolve

// ---- blocks of the program's own pools (api.cc) ----

// void heapgauge_pool_allocated(int pool, const void* block, size_t size)
  .text
  .p2align 4
  .globl heapgauge_pool_allocated
  .type heapgauge_pool_allocated, @function
heapgauge_pool_allocated:
  .cfi_startproc
  testl %edi, %edi
  jle 1f
  HG_COUNT %rdx, %rax, 2f
1:ret
2:movq hg_thread@gottpoff(%rip), %r11
  xorl %r10d, %r10d
  xchgq %r10, %fs:(%r11)
  subq $56, %rsp
  .cfi_adjust_cfa_offset 56
  movl %edi, %edi
  movq %rdi, 0(%rsp)       // HgPoolCall: pool, block, size
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq 56(%rsp), %rdx      // caller: pc, sp, fp after the return
  movq %rdx, 24(%rsp)
  leaq 64(%rsp), %rdx
  movq %rdx, 32(%rsp)
  movq %rbp, 40(%rsp)
  movq %r10, 48(%rsp)      // countdown
  movq %rsp, %rdi
  call hg_pool_sample
  addq $56, %rsp
  .cfi_adjust_cfa_offset -56
  ret
  .cfi_endproc
  .size heapgauge_pool_allocated, . - heapgauge_pool_allocated

// ---- tables ----

  .section .data.hg_tables, "aw", @progbits
  .p2align 6
  .globl hg_entry
  .hidden hg_entry
hg_entry:
#define X(name, shape) .quad hg_resolve_##name;
HG_FUNCTIONS(X)
#undef X

  .section .data.rel.ro.hg_stubs, "aw", @progbits
  .p2align 6
  .globl hg_count_stub
  .hidden hg_count_stub
hg_count_stub:
#define X(name, shape) .quad hg_count_##name;
HG_FUNCTIONS(X)
#undef X
  .globl hg_lookup_stub
  .hidden hg_lookup_stub
hg_lookup_stub:
#define X(name, shape) .quad hg_lookup_##name;
HG_FUNCTIONS(X)
#undef X
  .globl hg_trace_stub
  .hidden hg_trace_stub
hg_trace_stub:
#define X(name, shape) .quad hg_trace_##name;
HG_FUNCTIONS(X)
#undef X
  .globl hg_poll_stub
  .hidden hg_poll_stub
hg_poll_stub:
#define X(name, shape) .quad hg_poll_##name;
HG_FUNCTIONS(X)
#undef X
  .globl hg_resolve_stub
  .hidden hg_resolve_stub
hg_resolve_stub:
#define X(name, shape) .quad hg_resolve_##name;
HG_FUNCTIONS(X)
#undef X

  .bss
  .p2align 6
  .globl hg_real
  .hidden hg_real
hg_real:
#define X(name, shape) .skip 8;
HG_FUNCTIONS(X)
#undef X

  .section .note.GNU-stack, "", @progbits
