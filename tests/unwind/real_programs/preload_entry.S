// malloc as the tested program calls it: counts, and every so often shows the caller's state to
// hg_malloc_sampled(pc, sp, fp) before it goes on to the real one.
#if defined(__x86_64__)
        .text
        .globl  malloc
        .type   malloc, @function
malloc:
        .cfi_startproc
        subl    $1, hg_countdown(%rip)
        js      1f
        jmp     *__libc_malloc@GOTPCREL(%rip)
1:      push    %rdi
        .cfi_adjust_cfa_offset 8
        mov     8(%rsp), %rdi
        lea     16(%rsp), %rsi
        mov     %rbp, %rdx
        call    hg_malloc_sampled
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *__libc_malloc@GOTPCREL(%rip)
        .cfi_endproc
        .size   malloc, .-malloc
        .section .note.GNU-stack, "", @progbits
#else
#error "write the entry for this architecture"
#endif
