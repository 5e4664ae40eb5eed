// Leaks, holds and frees blocks as it is told: reads words from standard input and prints "done"
// after each. `lose` loses 100 lists of two blocks (3,000 and 1,000 bytes), `lose-large` 100 blocks
// of 40,000 bytes, `hold` keeps 100 blocks of 2,000 bytes in a table, `let` frees these. Ends with
// its input.

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Node {
  Node* next;
  char rest[992];
};
struct Head {
  Node* next;
  char rest[2992];
};

void* held[100];

__attribute__((noinline)) Node* MakeNode() {
  auto* node = static_cast<Node*>(std::malloc(sizeof(Node)));
  if (node == nullptr) std::abort();
  std::memset(node, 0, sizeof(Node));
  return node;
}

__attribute__((noinline)) void LoseList() {
  auto* head = static_cast<Head*>(std::malloc(sizeof(Head)));
  if (head == nullptr) std::abort();
  std::memset(head, 0, sizeof(Head));
  head->next = MakeNode();
  __asm__ volatile("" : : "r"(head) : "memory");
}

__attribute__((noinline)) void LoseLarge() {
  void* block = std::calloc(1, 40000);
  if (block == nullptr) std::abort();
  __asm__ volatile("" : : "r"(block) : "memory");
}

__attribute__((noinline)) void HoldBlock(int i) {
  if (held[i] == nullptr) held[i] = std::calloc(1, 2000);
}

// Overwrites what calls before left on the stack.
__attribute__((noinline)) void WipeStack() {
  volatile char wiped[16384];
  for (volatile char& c : wiped) c = 0;
}

}  // namespace

int main() {
  char word[16];
  while (std::scanf("%15s", word) == 1) {
    for (int i = 0; i < 100; ++i) {
      if (std::strcmp(word, "lose") == 0) LoseList();
      if (std::strcmp(word, "lose-large") == 0) LoseLarge();
      if (std::strcmp(word, "hold") == 0) HoldBlock(i);
      if (std::strcmp(word, "let") == 0) {
        std::free(held[i]);
        held[i] = nullptr;
      }
    }
    WipeStack();
    std::puts("done");
    std::fflush(stdout);
  }
}
