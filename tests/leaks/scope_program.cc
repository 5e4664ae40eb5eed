// A scope as docs/leak-tests.md has it, without a test framework around it and without anything
// that wipes the stack: compiled at several levels, since each leaves other words there.
#include <cstdio>
#include <cstdlib>

#include "include/heapgauge/leak_check.h"

namespace {

struct Node {
  int value;
  Node* next;
};

__attribute__((noinline)) Node* Make(int value) {
  Node* const node = new Node;
  node->value = value;
  node->next = nullptr;
  return node;
}

__attribute__((noinline)) void RunTheThing() {
  Node* const node = Make(3);
  node->value++;
}

void Print(const char* what, const heapgauge_leaks& leaks) {
  std::printf("%s: lost %lu, possible %lu, reachable %lu\n", what, leaks.lost_blocks,
              leaks.possible_blocks, leaks.reachable_blocks);
}

void Print(const char* what, const heapgauge::LeakCheck::Result& found) {
  std::printf("%s: lost %lu, possible %lu, reachable %lu\n", what, found.lost_blocks,
              found.possible_blocks, found.reachable_blocks);
}

__attribute__((noinline)) void LookFromC() {
  uint64_t mark = 0;
  heapgauge_leaks leaks{};
  heapgauge_leak_mark(&mark);
  RunTheThing();
  heapgauge_leak_check(mark, nullptr, 0, &leaks);
  Print("from C", leaks);
}

// What the caller has in a register or on its stack is not lost.
__attribute__((noinline)) void KeepSome() {
  heapgauge::LeakCheck check;
  Node* const first = Make(1);
  Node* const second = Make(2);
  RunTheThing();
  Print("two are kept", check.Look());
  std::printf("%d\n", first->value + second->value);
  delete first;
  delete second;
}

}  // namespace

int main() {
  heapgauge::LeakCheck check;
  RunTheThing();
  const heapgauge::LeakCheck::Result found = check.Look();
  Print("a scope", found);
  LookFromC();
  KeepSome();
}
