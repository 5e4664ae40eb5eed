// The exported functions beside allocation whose callers' registers, or variable arguments, C++ cannot hand
// on: prctl, syscall, mmap and its kin (libc_hooks.h).
#include "agent/hooks/macros_x86_64.inc"

// ---- calls that announce a seccomp filter ----
// prctl and syscall take a variable number of arguments, so they are passed on by a jump, but for the calls
// that install a filter: these have few arguments, and their result is wanted.

#define PR_SET_SECCOMP 22
#define SYS_prctl 157
#define SYS_seccomp 317
#define SECCOMP_SET_MODE_FILTER 1  /* the operations up to this one install a filter */

HG_EXPORT prctl
  cmpl $PR_SET_SECCOMP, %edi
  je hg_filter_ahead
  movq hg_real_prctl(%rip), %rax
  testq %rax, %rax
  jz hg_resolve_prctl
  jmp *%rax
HG_EXPORT_END prctl

HG_EXPORT syscall
  cmpq $SYS_seccomp, %rdi
  je hg_seccomp_by_number
  cmpq $SYS_prctl, %rdi
  je hg_prctl_by_number
  movq hg_real_syscall(%rip), %rax
  testq %rax, %rax
  jz hg_resolve_syscall
  jmp *%rax
HG_EXPORT_END syscall

  .text
.macro HG_INSTALL_FILTER real
  HG_SAVE_ARGUMENTS
  call hg_before_seccomp
  HG_RESTORE_ARGUMENTS
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call *\real(%rip)
  cmpl $-1, %eax
  jne 1f
  movq %rax, (%rsp)
  subq $16, %rsp
  .cfi_adjust_cfa_offset 16
  call hg_after_failed_seccomp
  addq $16, %rsp
  .cfi_adjust_cfa_offset -16
  movq (%rsp), %rax
1:addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
.endm

HG_BEGIN hg_filter_ahead
  HG_INSTALL_FILTER hg_real_prctl
HG_END hg_filter_ahead

HG_BEGIN hg_filter_ahead_syscall
  HG_INSTALL_FILTER hg_real_syscall
HG_END hg_filter_ahead_syscall

HG_BEGIN hg_seccomp_by_number
  cmpl $SECCOMP_SET_MODE_FILTER, %esi
  jbe hg_filter_ahead_syscall
  movq hg_real_syscall(%rip), %rax
  testq %rax, %rax
  jz hg_resolve_syscall
  jmp *%rax
HG_END hg_seccomp_by_number

HG_BEGIN hg_prctl_by_number
  cmpl $PR_SET_SECCOMP, %esi
  je hg_filter_ahead_syscall
  movq hg_real_syscall(%rip), %rax
  testq %rax, %rax
  jz hg_resolve_syscall
  jmp *%rax
HG_END hg_prctl_by_number

HG_BEGIN hg_resolve_prctl
  HG_SAVE_ARGUMENTS
  call hg_resolve_libc
  HG_RESTORE_ARGUMENTS
  jmp *hg_real_prctl(%rip)
HG_END hg_resolve_prctl

HG_BEGIN hg_resolve_syscall
  HG_SAVE_ARGUMENTS
  call hg_resolve_libc
  HG_RESTORE_ARGUMENTS
  jmp *hg_real_syscall(%rip)
HG_END hg_resolve_syscall

// ---- mmap and its kin ----

.macro HG_DEFINE_MAP name, index
HG_EXPORT \name
  jmp *(hg_map_entry + 8 * \index)(%rip)
HG_EXPORT_END \name

  .text
HG_BEGIN hg_map_record_\name
  movl $\index, %eax
  jmp hg_map_record
HG_END hg_map_record_\name
.endm

HG_DEFINE_MAP mmap, 0
HG_DEFINE_MAP mmap64, 1
HG_DEFINE_MAP munmap, 2
HG_DEFINE_MAP mremap, 3

// eax: index. As hg_slow, with six arguments.
HG_BEGIN hg_map_record
  subq $88, %rsp
  .cfi_adjust_cfa_offset 88
  movq %rdi, 0(%rsp)       // HgMapCall::argument[0..5]
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq 88(%rsp), %rdx      // HgMapCall::caller: pc, sp, fp after the return
  movq %rdx, 48(%rsp)
  leaq 96(%rsp), %rdx
  movq %rdx, 56(%rsp)
  movq %rbp, 64(%rsp)
  movl %eax, %eax
  movq %rax, 72(%rsp)      // HgMapCall::function
  movq %rsp, %rdi
  call hg_map_call
  addq $88, %rsp
  .cfi_adjust_cfa_offset -88
  ret
HG_END hg_map_record

// ---- tables ----

  .section .data.hg_tables, "aw", @progbits
  .p2align 6
  .globl hg_map_entry
  .hidden hg_map_entry
hg_map_entry:
  .quad hg_raw_mmap
  .quad hg_raw_mmap
  .quad hg_raw_munmap
  .quad hg_raw_mremap

  .section .data.rel.ro.hg_stubs, "aw", @progbits
  .globl hg_map_record_stub
  .hidden hg_map_record_stub
hg_map_record_stub:
  .quad hg_map_record_mmap
  .quad hg_map_record_mmap64
  .quad hg_map_record_munmap
  .quad hg_map_record_mremap

  .section .note.GNU-stack, "", @progbits
