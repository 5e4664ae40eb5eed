// The memory and text functions of the C library, for the agent alone.
//
// The agent begins while the program is not relocated yet. A program at a fixed address that takes
// the address of strcmp makes its own table of jumps the strcmp of the whole process, and that
// table leads nowhere before the program is relocated (node is such a program). Other programs
// bring a memcpy of their own, which may do anything. So nothing of ours may be bound to theirs:
// these have the usual names, which compilers call on their own account, but are hidden.
//
// Part of libheapgauge.so only; tests use those of the C library. Compiled so that the loops below
// are not turned into calls of themselves.
#include <cstddef>
#include <cstdint>

#include "agent/sys/thread_state.h"

namespace {

using Byte = unsigned char;
// Packed: at any address. Unaligned loads and stores cost nothing extra.
struct [[gnu::packed, gnu::may_alias]] Word {
  uint64_t bits;
};
struct [[gnu::packed, gnu::may_alias]] Pair {
  uint64_t bits[2];
};

template <typename Unit>
void CopyEnds(Byte* to, const Byte* from, size_t size) {
  const Unit first = *reinterpret_cast<const Unit*>(from);
  const Unit last = *reinterpret_cast<const Unit*>(from + size - sizeof(Unit));
  *reinterpret_cast<Unit*>(to) = first;
  *reinterpret_cast<Unit*>(to + size - sizeof(Unit)) = last;
}

// Up to 32 bytes, which may overlap: all is read before anything is written.
void CopySmall(Byte* to, const Byte* from, size_t size) {
  if (size >= sizeof(Pair)) return CopyEnds<Pair>(to, from, size);
  if (size >= sizeof(Word)) return CopyEnds<Word>(to, from, size);
  Byte kept[8];
  for (size_t i = 0; i < size; ++i) kept[i] = from[i];
  for (size_t i = 0; i < size; ++i) to[i] = kept[i];
}

}  // namespace

HG_HIDDEN void* memmove(void* to, const void* from, size_t size) {
  auto* out = static_cast<Byte*>(to);
  const auto* in = static_cast<const Byte*>(from);
  if (size <= 2 * sizeof(Pair)) {
    CopySmall(out, in, size);
  } else if (out < in || out >= in + size) {
    const Pair last = *reinterpret_cast<const Pair*>(in + size - sizeof(Pair));
    size_t at = 0;
    for (; at + sizeof(Pair) < size; at += sizeof(Pair)) {
      *reinterpret_cast<Pair*>(out + at) = *reinterpret_cast<const Pair*>(in + at);
    }
    *reinterpret_cast<Pair*>(out + size - sizeof(Pair)) = last;
  } else {
    const Pair first = *reinterpret_cast<const Pair*>(in);
    for (size_t at = size; at > sizeof(Pair); at -= sizeof(Pair)) {
      *reinterpret_cast<Pair*>(out + at - sizeof(Pair)) =
          *reinterpret_cast<const Pair*>(in + at - sizeof(Pair));
    }
    *reinterpret_cast<Pair*>(out) = first;
  }
  return to;
}

HG_HIDDEN void* memcpy(void* to, const void* from, size_t size) { return memmove(to, from, size); }

HG_HIDDEN void* memset(void* to, int value, size_t size) {
  auto* out = static_cast<Byte*>(to);
  const auto byte = static_cast<Byte>(value);
  size_t at = 0;
  if (size >= sizeof(Word)) {
    const uint64_t word = 0x0101010101010101u * byte;
    for (; at + sizeof(Word) <= size; at += sizeof(Word))
      reinterpret_cast<Word*>(out + at)->bits = word;
  }
  for (; at < size; ++at) out[at] = byte;
  return to;
}

HG_HIDDEN int memcmp(const void* a, const void* b, size_t size) {
  const auto* left = static_cast<const Byte*>(a);
  const auto* right = static_cast<const Byte*>(b);
  for (size_t i = 0; i < size; ++i) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}

HG_HIDDEN size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

HG_HIDDEN int strncmp(const char* a, const char* b, size_t most) {
  for (size_t i = 0; i < most; ++i) {
    const auto left = static_cast<Byte>(a[i]);
    const auto right = static_cast<Byte>(b[i]);
    if (left != right) return left < right ? -1 : 1;
    if (left == 0) return 0;
  }
  return 0;
}

HG_HIDDEN int strcmp(const char* a, const char* b) { return strncmp(a, b, SIZE_MAX); }

HG_HIDDEN char* strchr(const char* text, int wanted) {
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) return const_cast<char*>(text);
    if (*text == '\0') return nullptr;
  }
}

HG_HIDDEN char* strrchr(const char* text, int wanted) {
  char* found = nullptr;
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) found = const_cast<char*>(text);
    if (*text == '\0') return found;
  }
}

HG_HIDDEN void* memmem(const void* text, size_t size, const void* part, size_t part_size) {
  const auto* at = static_cast<const Byte*>(text);
  for (; size >= part_size; ++at, --size) {
    if (memcmp(at, part, part_size) == 0) return const_cast<Byte*>(at);
  }
  return nullptr;
}

HG_HIDDEN char* strstr(const char* text, const char* part) {
  return static_cast<char*>(memmem(text, strlen(text), part, strlen(part)));
}
