// Finds words in memory whose values lie in a range: code that is copied into a copy of a program,
// and runs there (searching_copy.h). So it stands alone: it calls nothing, has no other data, uses no
// stack, and stops by a breakpoint. Where memory cannot be read it faults, with all registers in order.
// There are two: heapgauge_search_code needs AVX2, BMI and POPCNT, heapgauge_wide_search_code AVX-512 (F and VL),
// BMI and POPCNT. The latter takes a third of the instructions; most of what is left is waiting for memory.
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
// Values are compared as signed numbers. r11 and r12 are used for other things once they are read.

// The words of a range that are too few to be looked at together, then the next range; the end.
  .macro finish_range
51:
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
  jmp 51b
7:  // the next range
  addq $16, %rdi
  cmpq %rsi, %rdi
  jb 1b
9:
  int3
  .endm

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
  leaq 16(%r9), %rax
  cmpq %r8, %rax
  ja 9f
  // Two cache lines of the page after the next: the processor does not look beyond the end of one.
  prefetcht1 8192(%rbx)
  prefetcht1 8256(%rbx)
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
  popcntl %eax, %r11d
  movq %rbx, %r12
  subq %r10, %r12
  shrq $3, %r12
  // The first four of them are put there, whether there are as many or not: how many a processor
  // cannot guess, and what is too much is written over.
  .set number, 0
  .rept 4
  movl %eax, %r13d
  orl $0x8000, %r13d
  tzcntl %r13d, %r13d
  movq (%rbx,%r13,8), %r15
  addl %r12d, %r13d
  movq %r15, 8*number(%rdx,%r9,8)
  movl %r13d, 4*number(%rcx,%r9,4)
  blsrl %eax, %eax
  .set number, number + 1
  .endr
  testl %eax, %eax
  jnz 3f
  addq %r11, %r9
  subq $-128, %rbx
  jmp 2b
3:  // the others
  leaq 4(%r9), %r14
4:
  tzcntl %eax, %r13d
  movq (%rbx,%r13,8), %r15
  addl %r12d, %r13d
  movq %r15, (%rdx,%r14,8)
  movl %r13d, (%rcx,%r14,4)
  incq %r14
  blsrl %eax, %eax
  jnz 4b
  addq %r11, %r9
  subq $-128, %rbx
  jmp 2b
5:  // word by word
  vmovq %xmm0, %r11
  vmovq %xmm1, %r12
  finish_range
  .globl heapgauge_search_code_end
  .hidden heapgauge_search_code_end
heapgauge_search_code_end:
  .size heapgauge_search_code, . - heapgauge_search_code

  .p2align 6
  .globl heapgauge_wide_search_code
  .hidden heapgauge_wide_search_code
  .type heapgauge_wide_search_code, @object
heapgauge_wide_search_code:
  vpbroadcastq %r11, %zmm0
  vpbroadcastq %r12, %zmm1
  vpmovzxbd 90f(%rip), %ymm9
  movl $8, %eax
  vpbroadcastd %eax, %ymm8
  cmpq %rsi, %rdi
  jae 9f
  movq 8(%rdi), %rbp
  testq %rbx, %rbx
  jnz 2f
1:  // the range at rdi from its start
  movq (%rdi), %rbx
  movq 8(%rdi), %rbp
2:
  // The places of the next eight words.
  movq %rbx, %rax
  subq %r10, %rax
  shrq $3, %rax
  vpbroadcastd %eax, %ymm7
  vpaddd %ymm9, %ymm7, %ymm7
  leaq -16(%r8), %r15
3:  // sixteen words
  leaq 128(%rbx), %rax
  cmpq %rbp, %rax
  ja 51f
  cmpq %r15, %r9
  jg 9f
  // Two cache lines of the page after the next: the processor does not look beyond the end of one.
  prefetcht1 8192(%rbx)
  prefetcht1 8256(%rbx)
  vmovdqu64 (%rbx), %zmm2
  vmovdqu64 64(%rbx), %zmm3
  vpcmpgtq %zmm0, %zmm2, %k1
  vpcmpgtq %zmm2, %zmm1, %k1{%k1}
  vpcmpgtq %zmm0, %zmm3, %k2
  vpcmpgtq %zmm3, %zmm1, %k2{%k2}
  kmovw %k1, %eax
  kmovw %k2, %r13d
  popcntl %eax, %eax
  popcntl %r13d, %r13d
  // All eight are put there, those that were found first; what is too much is written over.
  vpcompressq %zmm2, %zmm2{%k1}{z}
  vpcompressd %ymm7, %ymm4{%k1}{z}
  vpaddd %ymm8, %ymm7, %ymm7
  vpcompressq %zmm3, %zmm3{%k2}{z}
  vpcompressd %ymm7, %ymm5{%k2}{z}
  vpaddd %ymm8, %ymm7, %ymm7
  vmovdqu64 %zmm2, (%rdx,%r9,8)
  vmovdqu %ymm4, (%rcx,%r9,4)
  addq %rax, %r9
  vmovdqu64 %zmm3, (%rdx,%r9,8)
  vmovdqu %ymm5, (%rcx,%r9,4)
  addq %r13, %r9
  subq $-128, %rbx
  jmp 3b
  finish_range
90:
  .byte 0, 1, 2, 3, 4, 5, 6, 7
  .globl heapgauge_wide_search_code_end
  .hidden heapgauge_wide_search_code_end
heapgauge_wide_search_code_end:
  .size heapgauge_wide_search_code, . - heapgauge_wide_search_code

  .section .note.GNU-stack, "", @progbits
