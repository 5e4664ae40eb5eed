// void hg_bench_probe(void): jumps to hg_bench_target(pc, sp, fp) with the caller's state, as the
// entry of malloc would have it. It leaves no frame of its own.
#if defined(__x86_64__)
        .text
        .globl  hg_bench_probe
        .type   hg_bench_probe, @function
hg_bench_probe:
        .cfi_startproc
        mov     (%rsp), %rdi
        lea     8(%rsp), %rsi
        mov     %rbp, %rdx
        mov     hg_bench_target@GOTPCREL(%rip), %rax
        jmp     *(%rax)
        .cfi_endproc
        .size   hg_bench_probe, .-hg_bench_probe
        .section .note.GNU-stack, "", @progbits
#else
#error "write the entry for this architecture"
#endif
