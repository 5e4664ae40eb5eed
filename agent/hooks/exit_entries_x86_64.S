// exit, _exit and _Exit (exit_hooks.h). The registers that the program may hold a block by are pushed,
// and hg_before_exit or hg_before_direct_exit is told where its stack begins with them.
#include "agent/hooks/push_preserved_x86_64.inc"

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

  .section .note.GNU-stack, "", @progbits
