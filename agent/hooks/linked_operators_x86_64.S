// The C++ operators of an agent that is linked into a program. An object of their own: only a
// program that uses them has a library that defines them, and then they must not be left out.
#include "agent/hooks/functions.h"

// Counted through the list of all functions.
.set hg_index, 0
#define X(name, shape) .set hg_index, hg_index + 1;
HG_C_FUNCTIONS(X)
#undef X

.macro HG_OPERATOR name
  .section .text.hg_entries, "ax", @progbits
  .p2align 4
  .globl __wrap_\name
  .type __wrap_\name, @function
__wrap_\name:
  .cfi_startproc
  jmp *(heapgauge_linked_entry + 8 * hg_index)(%rip)
  .cfi_endproc
  .size __wrap_\name, . - __wrap_\name
  .set hg_index, hg_index + 1

  // symbol_search_linked.cc asks for it without insisting; this insists.
  .section .data.rel.ro.hg_operators, "awR", @progbits
  .quad __real_\name
.endm

#define X(name, shape) HG_OPERATOR name;
HG_OPERATORS(X)

  .section .note.GNU-stack, "", @progbits
