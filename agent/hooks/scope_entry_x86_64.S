// heapgauge_leak_check (scope_check.cc). The registers that the program may hold a block by are pushed next
// to its frame, and what lies below is ours: so nothing is searched that functions which have returned left
// where our frames are now.
#include "agent/hooks/push_preserved_x86_64.inc"

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
