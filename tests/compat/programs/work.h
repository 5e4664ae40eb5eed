/* What all programs here allocate, from functions that are to be seen in profiles: 48 MiB in blocks
 * of 16 KiB and 16 MiB in blocks of 512 bytes that stay, and 64 MiB that go again at once. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#define LARGE_BLOCKS 3072
#define SMALL_BLOCKS 32768

#ifdef __cplusplus
extern "C" {
#endif

static void* large_blocks[LARGE_BLOCKS];
static void* small_blocks[SMALL_BLOCKS];
static volatile unsigned char sink;

static NOINLINE void keep_large(void) {
  for (int i = 0; i < LARGE_BLOCKS; ++i) {
    large_blocks[i] = malloc(16 << 10);
    memset(large_blocks[i], 1, 16);
  }
}

static NOINLINE void keep_small(void) {
  for (int i = 0; i < SMALL_BLOCKS; ++i) {
    small_blocks[i] = malloc(512);
    memset(small_blocks[i], 2, 16);
  }
}

static NOINLINE void churn(void) {
  for (int i = 0; i < 4096; ++i) {
    unsigned char* block = (unsigned char*)malloc(16 << 10);
    memset(block, 3, 16);
    sink = block[3];
    free(block);
  }
}

static NOINLINE void drop_large(void) {
  for (int i = 0; i < LARGE_BLOCKS; ++i) {
    free(large_blocks[i]);
    large_blocks[i] = NULL;
  }
}

/* Waits until whoever started the program closes its input. */
static NOINLINE void hold(void) {
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
}

#ifdef __cplusplus
}
#endif
