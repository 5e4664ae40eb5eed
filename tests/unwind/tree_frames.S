// uint64_t hg_one_frame(Tree* tree, int depth, int pad, uint64_t (*next)(Tree*, int, int)) and
// hg_two_frames(): call next(tree, depth, pad), one through a single frame of 64 bytes, the other
// through two frames of 64 bytes together. Seen from `next`, the stack pointer is the same.
#if defined(__x86_64__)
        .text
        .globl  hg_one_frame
        .type   hg_one_frame, @function
hg_one_frame:
        .cfi_startproc
        sub     $56, %rsp
        .cfi_def_cfa_offset 64
        call    *%rcx
        add     $56, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   hg_one_frame, .-hg_one_frame

        .globl  hg_two_frames
        .type   hg_two_frames, @function
hg_two_frames:
        .cfi_startproc
        sub     $8, %rsp
        .cfi_def_cfa_offset 16
        call    .Linner
        add     $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
.Linner:
        .cfi_startproc
        sub     $40, %rsp
        .cfi_def_cfa_offset 48
        call    *%rcx
        add     $40, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   hg_two_frames, .-hg_two_frames
        .section .note.GNU-stack, "", @progbits
#endif
