// A plug-in whose one function calls back from a frame of HG_FRAME bytes. Two builds with different
// frames have the same layout otherwise, so that one can take the place of the other.
#if defined(__x86_64__)
        .text
        .globl  hg_plugin_call
        .type   hg_plugin_call, @function
// void hg_plugin_call(void* context, void (*function)(void*))
hg_plugin_call:
        .cfi_startproc
        sub     $HG_FRAME, %rsp
        .cfi_def_cfa_offset 8 + HG_FRAME
        call    *%rsi
        nop
        add     $HG_FRAME, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   hg_plugin_call, .-hg_plugin_call
        .section .note.GNU-stack, "", @progbits
#endif
