// void hg_probe(void* context): calls hg_probe_taken(context, pc, sp, fp) with the caller's state
// right after the return from here, as the entry of malloc would see it. Leaves no frame of its own.
#if defined(__x86_64__)
        .text
        .globl  hg_probe
        .type   hg_probe, @function
hg_probe:
        .cfi_startproc
        mov     (%rsp), %rsi
        lea     8(%rsp), %rdx
        mov     %rbp, %rcx
        jmp     hg_probe_taken@PLT
        .cfi_endproc
        .size   hg_probe, .-hg_probe
        .section .note.GNU-stack, "", @progbits
#else
#error "write the entry for this architecture"
#endif
