// Code that has no unwind rules, as hand-written assembly often has none.
#if defined(__x86_64__)
        .text
// void hg_call_without_rules(void (*function)(void*), void* argument)
        .globl  hg_call_without_rules
        .type   hg_call_without_rules, @function
hg_call_without_rules:
        sub     $8, %rsp
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        add     $8, %rsp
        ret
        .size   hg_call_without_rules, .-hg_call_without_rules

// A signal restorer as programs bring it that call rt_sigaction themselves.
        .globl  hg_restorer_without_rules
        .type   hg_restorer_without_rules, @function
        nop
hg_restorer_without_rules:
        mov     $15, %rax
        syscall
        .size   hg_restorer_without_rules, .-hg_restorer_without_rules
        .section .note.GNU-stack, "", @progbits
#endif
