// The entry points of leak checks: exit, _exit and _Exit (exit.h), and heapgauge_leak_check (scope_check.cc).
// The registers by which the program may hold a block, as a function finds them from its caller, are pushed
// next to the caller's frame, in 48 bytes, and C++ is told where the program's stack begins with them. What
// lies below is ours: so nothing is searched that functions which have returned left where our frames are now.

.macro HG_PUSH_PRESERVED
  .irp register, rbx, rbp, r12, r13, r14, r15
  pushq %\register
  .cfi_adjust_cfa_offset 8
  .endr
.endm

#ifndef HG_LINKED_IN
.macro HG_EXIT name, real, before
  .text
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  HG_PUSH_PRESERVED
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  movq %rsp, %rdi
  call \before
  movq (%rsp), %rdi
  call *\real(%rip)
  ud2
  .cfi_endproc
  .size \name, . - \name
.endm

  HG_EXIT exit, hg_real_exit, hg_before_exit
  HG_EXIT _exit, hg_real_underscore_exit, hg_before_direct_exit
  HG_EXIT _Exit, hg_real_underscore_exit, hg_before_direct_exit
#endif

  .text
  .p2align 4
  .globl heapgauge_leak_check
  .type heapgauge_leak_check, @function
heapgauge_leak_check:
  .cfi_startproc
  HG_PUSH_PRESERVED
  movq %rsp, %r8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call hg_check_scope
  addq $56, %rsp           // nobody has changed them
  .cfi_adjust_cfa_offset -56
  ret
  .cfi_endproc
  .size heapgauge_leak_check, . - heapgauge_leak_check

  .section .note.GNU-stack, "", @progbits
