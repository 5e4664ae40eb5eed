// Finds words in memory whose values lie in a range: code that is copied into a copy of a program,
// and runs there (search_code.h). So it stands alone: it calls nothing, has no data, uses no stack,
// and stops by a breakpoint. Where memory cannot be read it faults, with all registers in order.
//
//   rdi  the ranges that are to be searched, start and end of each; moved on
//   rsi  their end
//   rdx  where values are put, 8 bytes each
//   rcx  where places are put, 4 bytes each: in words, from r10 on
//   r8   how many there is room for
//   r9   how many there are; counted up
//   r10  where places count from
//   r11  the lowest value, less one
//   r12  the first value that is too high
//   rbx  the next word that is to be looked at, in the range at rdi; 0: its first
// Values are compared as signed numbers.

  .section .rodata
  .p2align 4
  .globl heapgauge_search_code
  .hidden heapgauge_search_code
  .type heapgauge_search_code, @object
heapgauge_search_code:
  vmovq %r11, %xmm0
  vpbroadcastq %xmm0, %ymm0
  vmovq %r12, %xmm1
  vpbroadcastq %xmm1, %ymm1
  cmpq %rsi, %rdi
  jae 9f
  movq 8(%rdi), %rbp
  testq %rbx, %rbx
  jnz 2f
1:  // the range at rdi from its start
  movq (%rdi), %rbx
  movq 8(%rdi), %rbp
2:  // sixteen words
  leaq 128(%rbx), %rax
  cmpq %rbp, %rax
  ja 5f
  // Two cache lines of the next page: the processor does not look beyond the end of one.
  prefetcht0 4096(%rbx)
  prefetcht0 4160(%rbx)
  vmovdqu (%rbx), %ymm2
  vmovdqu 32(%rbx), %ymm3
  vmovdqu 64(%rbx), %ymm4
  vmovdqu 96(%rbx), %ymm5
  vpcmpgtq %ymm0, %ymm2, %ymm6
  vpcmpgtq %ymm2, %ymm1, %ymm2
  vpcmpgtq %ymm0, %ymm3, %ymm7
  vpcmpgtq %ymm3, %ymm1, %ymm3
  vpcmpgtq %ymm0, %ymm4, %ymm8
  vpcmpgtq %ymm4, %ymm1, %ymm4
  vpcmpgtq %ymm0, %ymm5, %ymm9
  vpcmpgtq %ymm5, %ymm1, %ymm5
  vpand %ymm6, %ymm2, %ymm2
  vpand %ymm7, %ymm3, %ymm3
  vpand %ymm8, %ymm4, %ymm4
  vpand %ymm9, %ymm5, %ymm5
  vmovmskpd %ymm2, %eax
  vmovmskpd %ymm3, %r13d
  vmovmskpd %ymm4, %r14d
  vmovmskpd %ymm5, %r15d
  shll $4, %r13d
  shll $8, %r14d
  shll $12, %r15d
  orl %r13d, %eax
  orl %r15d, %r14d
  orl %r14d, %eax
  jz 4f
  leaq 16(%r9), %r13
  cmpq %r8, %r13
  ja 9f
  movq %rbx, %r14
  subq %r10, %r14
  shrq $3, %r14
3:  // one of them for each bit
  bsfl %eax, %r13d
  movq (%rbx,%r13,8), %r15
  addl %r14d, %r13d
  movq %r15, (%rdx,%r9,8)
  movl %r13d, (%rcx,%r9,4)
  incq %r9
  leal -1(%rax), %r13d
  andl %r13d, %eax
  jnz 3b
4:
  subq $-128, %rbx
  jmp 2b
5:  // word by word
  cmpq %rbp, %rbx
  jae 7f
  movq (%rbx), %r15
  cmpq %r11, %r15
  jle 6f
  cmpq %r12, %r15
  jge 6f
  cmpq %r8, %r9
  jae 9f
  movq %rbx, %r14
  subq %r10, %r14
  shrq $3, %r14
  movq %r15, (%rdx,%r9,8)
  movl %r14d, (%rcx,%r9,4)
  incq %r9
6:
  addq $8, %rbx
  jmp 5b
7:  // the next range
  addq $16, %rdi
  cmpq %rsi, %rdi
  jb 1b
9:
  int3
  .globl heapgauge_search_code_end
  .hidden heapgauge_search_code_end
heapgauge_search_code_end:
  .size heapgauge_search_code, . - heapgauge_search_code

  .section .note.GNU-stack, "", @progbits
