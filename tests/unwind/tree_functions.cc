// The ordinary functions of the tree, compiled once for each HG_TREE_TABLE with other options.
#include <alloca.h>

#include <cstdint>

#include "tests/unwind/tree.h"

namespace heapgauge::unwind_test {
namespace {

// Keeps the compiler from seeing through a pointer.
inline void Escape(void* pointer) { __asm__ volatile("" : : "r"(pointer) : "memory"); }

template <int kSalt>
[[gnu::noinline]] uint64_t Plain(Tree* tree, int depth) {
  ++tree->counts[kPlain];
  const uint64_t result = Visit(tree, depth);
  return result + kSalt;
}

template <int kSalt>
[[gnu::noinline]] uint64_t Leaving(Tree* tree, int depth) {
  ++tree->counts[kPlain];
  const uint64_t result = Visit(tree, depth);
  if (tree->Next(3) == 0) MaybeLeave(tree);
  return result * kSalt;
}

template <int kSalt>
[[gnu::noinline]] uint64_t Large(Tree* tree, int depth) {
  ++tree->counts[kLarge];
  char block[kSalt * 24 + 40];
  Escape(block);
  const uint64_t result = Visit(tree, depth);
  Escape(block);
  return result + static_cast<unsigned char>(block[0]) * 0u;
}

// Larger than a packed rule can say.
template <int kSalt>
[[gnu::noinline]] uint64_t Huge(Tree* tree, int depth) {
  ++tree->counts[kHugeFrame];
  if (tree->in_signal || tree->Next(4) != 0) return Descend(tree, depth) + 1;
  char block[300 * 1024 + kSalt * 32];
  Escape(block);
  const uint64_t result = Visit(tree, depth > 2 ? 2 : depth);
  Escape(block);
  return result + 1;
}

template <int kSalt>
[[gnu::noinline]] uint64_t Alloca(Tree* tree, int depth) {
  ++tree->counts[kAlloca];
  void* block = alloca(16 + tree->Next(kSalt * 40));
  Escape(block);
  const uint64_t result = Visit(tree, depth);
  Escape(block);
  return result ^ kSalt;
}

template <int kSalt>
[[gnu::noinline]] uint64_t Realigned(Tree* tree, int depth) {
  ++tree->counts[kRealigned];
  alignas(64) char block[64 * (1 + kSalt % 3)];
  Escape(block);
  const uint64_t result = Visit(tree, depth);
  Escape(block);
  return result + (reinterpret_cast<uintptr_t>(block) & 63);
}

template <int kSalt>
[[gnu::noinline]] uint64_t RealignedAlloca(Tree* tree, int depth) {
  ++tree->counts[kRealignedAlloca];
  alignas(64) char block[64];
  Escape(block);
  void* more = alloca(16 + tree->Next(kSalt * 30));
  Escape(more);
  const uint64_t result = Visit(tree, depth);
  Escape(block);
  Escape(more);
  return result + (reinterpret_cast<uintptr_t>(block) & 63);
}

// More live values than there are registers: rbp holds one of them.
template <int kSalt>
[[gnu::noinline]] uint64_t Busy(Tree* tree, int depth) {
  ++tree->counts[kBusyRegisters];
  uint64_t a = tree->random + kSalt, b = a * 3, c = b ^ 5, d = c + b, e = d * a, f = e - c,
           g = f ^ d;
  for (uint32_t i = 1 + tree->Next(2); i > 0 && !tree->Done(); --i) {
    hg_probe(tree);
    a += Descend(tree, depth) + g;
    b ^= a + f;
    c += b * 7;
    d -= c ^ e;
    e += d + a;
    f ^= e * b;
    g += f - c;
  }
  return a ^ b ^ c ^ d ^ e ^ f ^ g;
}

template <int kSalt>
[[gnu::noinline]] uint64_t ThroughLibrary(Tree* tree, int depth) {
  ++tree->counts[kPlt];
  if (tree->Done()) return 0;
  return CallThroughLibrary(tree, depth, &Plain<kSalt>) + kSalt;
}

// The hard case for whoever remembers stacks: the same code at the same stack pointer, but the
// frames around it lie elsewhere. An outer function takes more room on the stack when an inner one
// takes less; frames realigned to 64 bytes swallow the difference by themselves.

// Leaves the frame pointer alone: it is passed on from further in.
template <int kSalt>
[[gnu::noinline]] uint64_t Passing(Tree* tree, int depth) {
  if (tree->Next(8) == 0) return Descend(tree, depth - 1) + kSalt;
  hg_probe(tree);
  return kSalt;
}

// Saves it and uses it for something else.
template <int kSalt>
[[gnu::noinline]] uint64_t Saving(Tree* tree, int depth) {
  uint64_t a = tree->random, b = a * 3, c = b ^ 5, d = c + b, e = d * a, f = e - c;
  __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  const uint64_t result = Passing<kSalt>(tree, depth);
  return result ^ a ^ b * 3 ^ c * 5 ^ d * 7 ^ e * 9 ^ f * 11;
}

// One call site, so that the next walk finds the same return address here.
template <int kSalt>
[[gnu::always_inline]] inline uint64_t Inside(Tree* tree, int depth) {
  if (kSalt % 2 == 0) return Passing<kSalt>(tree, depth);
  if (kSalt % 4 == 1) return Saving<kSalt>(tree, depth);
  hg_probe(tree);
  return kSalt;
}

template <int kSalt>
[[gnu::noinline]] uint64_t InnerAlloca(Tree* tree, int depth, int pad) {
  void* block = alloca(16 + 16 * (3 - pad));
  Escape(block);
  const uint64_t result = Inside<kSalt>(tree, depth);
  Escape(block);
  return result;
}

template <int kSalt>
[[gnu::noinline]] uint64_t InnerRealigned(Tree* tree, int depth, int) {
  alignas(64) char block[64];
  Escape(block);
  const uint64_t result = Inside<kSalt>(tree, depth);
  Escape(block);
  return result;
}

template <int kSalt>
[[gnu::noinline]] uint64_t InnerRealignedAlloca(Tree* tree, int depth, int) {
  alignas(64) char block[64];
  Escape(block);
  void* more = alloca(16 + tree->Next(2) * 64);
  Escape(more);
  const uint64_t result = Inside<kSalt>(tree, depth);
  Escape(block);
  Escape(more);
  return result;
}

template <int kSalt>
[[gnu::noinline]] uint64_t Padded(Tree* tree, int depth, int pad) {
  void* block = alloca(16 + 16 * pad);
  Escape(block);
  constexpr PaddedFunction kInner[] = {&InnerAlloca<kSalt>, &InnerRealigned<kSalt>,
                                       &InnerRealignedAlloca<kSalt>};
  const uint64_t result = kInner[kSalt / 4 % 3](tree, depth, pad);
  Escape(block);
  return result + 1;
}

template <int kSalt>
[[gnu::noinline]] uint64_t Compensated(Tree* tree, int depth) {
  ++tree->counts[kCompensated];
  uint64_t sum = 0;
  for (uint32_t i = 2 + tree->Next(8); i > 0 && !tree->Done(); --i) {
    const auto through = tree->Next(2) == 0 ? hg_one_frame : hg_two_frames;
    sum += through(tree, tree->Next(3) == 0 ? depth : 1, static_cast<int>(tree->Next(4)),
                   &Padded<kSalt>);
  }
  return sum;
}

#define HG_FUNCTIONS(n)                                                                         \
  &Plain<n>, &Plain<n + 20>, &Leaving<n + 1>, &Large<n + 1>, &Alloca<n + 1>, &Realigned<n + 1>, \
      &RealignedAlloca<n + 1>, &Busy<n>, &Busy<n + 9>, &ThroughLibrary<n>, &Compensated<n>,     \
      &Compensated<n + 6>

constexpr TreeFunction kFunctions[] = {HG_FUNCTIONS(0), HG_FUNCTIONS(1), HG_FUNCTIONS(2),
                                       HG_FUNCTIONS(3), HG_FUNCTIONS(4), HG_FUNCTIONS(5),
                                       &Huge<1>};

}  // namespace

FunctionTable HG_TREE_TABLE() { return {kFunctions, sizeof kFunctions / sizeof kFunctions[0]}; }

}  // namespace heapgauge::unwind_test
