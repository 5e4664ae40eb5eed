// A 32-bit program that needs no library: only its header is looked at.
void _start(void) { __asm__ volatile("mov $1, %eax; xor %ebx, %ebx; int $0x80"); }
