// What the small test programs share. Plain C, so that C hosts stay free of C++; all of it inline.
//
// The programs are run with and without the agent and over several allocators, and their output is
// compared byte for byte. So nothing here prints an address, a pid, a time or a file descriptor.
#pragma once

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HG_NOINLINE __attribute__((noinline))
#define HG_UNUSED __attribute__((unused))

// Exit status of a program whose situation cannot be had here (no privilege, no kernel support).
// The last line of its output then starts with "skip: ".
enum { kSkipped = 77 };

// Keeps the compiler from removing an allocation that nothing looks at.
static inline void Escape(void* p) { __asm__ volatile("" : : "r"(p) : "memory"); }

// Ends the program when something that must hold does not. Uses no heap.
static inline HG_UNUSED void Require(int holds, const char* what) {
  if (holds) return;
  static const char kPrefix[] = "violated: ";
  ssize_t n = write(2, kPrefix, sizeof kPrefix - 1);
  n = write(2, what, strlen(what));
  n = write(2, "\n", 1);
  (void)n;
  abort();
}

static inline HG_UNUSED uint64_t NextRandom(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

// A size between 1 and `most`, small ones as likely as large ones (log-uniform).
static inline HG_UNUSED size_t RandomSize(uint64_t* state, size_t most) {
  const unsigned bits = 64 - (unsigned)__builtin_clzll(most);
  const size_t size = 1 + (size_t)(NextRandom(state) >> (64 - NextRandom(state) % (bits + 1) - 1));
  return size <= most ? size : most;
}

// Writes a pattern into the first and last bytes of a block, and looks whether it is still there.
static inline HG_UNUSED void Mark(void* p, size_t size, unsigned seed) {
  unsigned char* bytes = (unsigned char*)p;
  bytes[0] = (unsigned char)seed;
  bytes[size - 1] = (unsigned char)seed;
}
static inline HG_UNUSED int Marked(const void* p, size_t size, unsigned seed) {
  const unsigned char* bytes = (const unsigned char*)p;
  return bytes[0] == (unsigned char)seed && bytes[size - 1] == (unsigned char)seed;
}

enum { kExerciseSlots = 64 };

// `rounds` random calls of malloc, calloc, realloc and free whose blocks are checked for damage.
// Returns a number that depends on `seed` and `rounds` alone. Frees all it took.
static HG_UNUSED HG_NOINLINE uint64_t Exercise(uint64_t seed, size_t rounds) {
  void* block[kExerciseSlots] = {0};
  size_t size[kExerciseSlots] = {0};
  uint64_t state = seed * 2 + 1;
  uint64_t sum = seed;
  for (size_t i = 0; i < rounds; ++i) {
    const size_t slot = (size_t)(NextRandom(&state) % kExerciseSlots);
    const unsigned mark = (unsigned)slot + 1;
    const size_t wanted = RandomSize(&state, 8192);
    if (block[slot] != NULL) Require(Marked(block[slot], size[slot], mark), "a block was damaged");
    switch (NextRandom(&state) % 4) {
      case 0:
        free(block[slot]);
        block[slot] = malloc(wanted);
        break;
      case 1:
        free(block[slot]);
        block[slot] = calloc(1, wanted);
        if (block[slot] != NULL)
          Require(Marked(block[slot], wanted, 0), "calloc gave dirty memory");
        break;
      case 2: {
        const int had = block[slot] != NULL;
        block[slot] = realloc(block[slot], wanted);
        if (had && block[slot] != NULL) {
          Require(*(unsigned char*)block[slot] == (unsigned char)mark, "realloc lost the contents");
        }
        break;
      }
      default:
        free(block[slot]);
        block[slot] = NULL;
        continue;
    }
    Require(block[slot] != NULL, "out of memory");
    Require(((uintptr_t)block[slot] & 7) == 0, "a block is not aligned");
    size[slot] = wanted;
    Mark(block[slot], wanted, mark);
    sum = sum * 31 + wanted;
  }
  for (size_t i = 0; i < kExerciseSlots; ++i) free(block[i]);
  return sum;
}

// Takes a block of `size` bytes at the end of one of 2^depth different stacks, chosen by `path`.
static HG_UNUSED void* AllocateAt(uint64_t path, unsigned depth, size_t size);
static HG_UNUSED HG_NOINLINE void* AllocateLeft(uint64_t path, unsigned depth, size_t size) {
  void* p = AllocateAt(path >> 1, depth - 1, size);
  Escape(p);
  return p;
}
static HG_UNUSED HG_NOINLINE void* AllocateRight(uint64_t path, unsigned depth, size_t size) {
  void* p = AllocateAt(path >> 1, depth - 1, size);
  Escape(p);
  return p;
}
static HG_NOINLINE void* AllocateAt(uint64_t path, unsigned depth, size_t size) {
  void* p = depth == 0   ? malloc(size)
            : (path & 1) ? AllocateLeft(path, depth, size)
                         : AllocateRight(path, depth, size);
  Escape(p);
  return p;
}

// A number in KiB from /proc/self/status, such as "VmRSS:"; -1 if it is not there. Uses no heap.
static inline HG_UNUSED long StatusKiB(const char* key) {
  char text[4096];
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return -1;
  text[n] = '\0';
  const char* found = strstr(text, key);
  return found == NULL ? -1 : strtol(found + strlen(key), NULL, 10);
}

static inline HG_UNUSED const char* YesNo(int yes) { return yes ? "yes" : "no"; }
