// dlclose of an agent that is linked into a program: an object of its own, so that a program which
// does not load libraries is not made to hold the code for it.
  .text
  .globl __wrap_dlclose
  .type __wrap_dlclose, @function
__wrap_dlclose:
  .cfi_startproc
  jmp heapgauge_linked_dlclose
  .cfi_endproc
  .size __wrap_dlclose, . - __wrap_dlclose

  .section .data.rel.ro.hg_dlclose, "awR", @progbits
  .quad __real_dlclose

  .section .note.GNU-stack, "", @progbits
