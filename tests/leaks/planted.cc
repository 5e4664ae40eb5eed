// Every way in which a block can be held, lost or half lost, one function for each, so that the
// stack of a block says which case it is. planted_test.py runs it beside memcheck and compares.
//
// What compilers and C libraries leave lying around must not hold a block by chance: each case
// stores its pointer where it belongs and nowhere else, the stack below main is wiped afterwards,
// and no case is inlined.
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CASE extern "C" __attribute__((noinline))

namespace {

constexpr size_t kBytes = 64;

// Globals that hold blocks. Not static: the compiler may not forget what is never read.
struct Node {
  Node* volatile next;
  uint64_t value[7];
};

}  // namespace

extern "C" {
void* volatile held_by_global;
void* volatile held_through;
void* volatile held_interior;
void* volatile held_tagged;
void* volatile held_chain_interior;
void* volatile held_start_of_chain;
void* volatile held_past_end;
void* volatile held_array;
void* volatile held_second_base;
void* volatile held_length64;
void* volatile held_string;
void* volatile held_empty;
void* volatile held_both;
void* volatile mapped_holder;
volatile uintptr_t hidden_by_xor;
alignas(16) volatile unsigned char unaligned_place[32];
}

// ---- the blocks ----

CASE void* planted_direct() { return malloc(kBytes); }
CASE void* planted_calloc() { return calloc(2, kBytes); }
CASE void* planted_realloc() { return realloc(malloc(8), 3 * kBytes); }
CASE void* planted_aligned() { return aligned_alloc(256, 512); }
CASE void* planted_operator_new() { return ::operator new(kBytes); }
CASE void* planted_zero_bytes() { return malloc(0); }
CASE void* planted_zero_held() { return malloc(0); }
CASE void* planted_list_head() { return calloc(1, sizeof(Node)); }
CASE void* planted_list_node() { return calloc(1, sizeof(Node)); }
CASE void* planted_cycle() { return calloc(1, sizeof(Node)); }
CASE void* planted_self() { return calloc(1, sizeof(Node)); }
CASE void* planted_lost_to_interior() { return calloc(1, sizeof(Node)); }
CASE void* planted_interior_of_lost() { return calloc(1, sizeof(Node)); }
CASE void* planted_interior() { return calloc(1, kBytes); }
CASE void* planted_tagged() { return calloc(1, kBytes); }
CASE void* planted_global() { return calloc(1, kBytes); }
CASE void* planted_through_global() { return calloc(1, sizeof(Node)); }
CASE void* planted_through_global_next() { return calloc(1, sizeof(Node)); }
CASE void* planted_chain_interior() { return calloc(1, sizeof(Node)); }
CASE void* planted_chain_interior_next() { return calloc(1, sizeof(Node)); }
CASE void* planted_start_of_chain() { return calloc(1, sizeof(Node)); }
CASE void* planted_start_of_chain_next() { return calloc(1, sizeof(Node)); }
CASE void* planted_interior_and_lost() { return calloc(1, sizeof(Node)); }
CASE void* planted_points_to_it() { return calloc(1, sizeof(Node)); }
CASE void* planted_tls_live() { return calloc(1, kBytes); }
CASE void* planted_tls_dead() { return calloc(1, kBytes); }
CASE void* planted_register() { return calloc(1, kBytes); }
CASE void* planted_thread_stack() { return calloc(1, kBytes); }
CASE void* planted_main_stack() { return calloc(1, kBytes); }
CASE void* planted_mapped() { return calloc(1, kBytes); }
CASE void* planted_in_own_break() { return calloc(1, kBytes); }
CASE void* planted_freed_holder_content() { return calloc(1, kBytes); }
CASE void* planted_xor() { return calloc(1, kBytes); }
CASE void* planted_past_end() { return calloc(1, kBytes); }
CASE void* planted_unaligned() { return calloc(1, kBytes); }
CASE void* planted_length64() { return calloc(1, kBytes); }
CASE void* planted_string() { return calloc(1, 24 + 39 + 1); }

CASE void* planted_in_child() { return calloc(1, kBytes); }
CASE void* planted_held_by_parents_block() { return calloc(1, kBytes); }

struct Counted {
  int value = 1;
  ~Counted() { value = 0; }
};
CASE Counted* planted_new_array() { return new Counted[5]; }

struct FirstBase {
  virtual ~FirstBase() = default;
  uint64_t first = 1;
};
struct SecondBase {
  virtual ~SecondBase() = default;
  uint64_t second = 2;
};
struct Both : FirstBase, SecondBase {
  uint64_t own = 3;
};
CASE SecondBase* planted_second_base() { return new Both; }

// ---- where they are kept ----

CASE void Lose() {
  planted_direct();
  planted_calloc();
  planted_realloc();
  planted_aligned();
  planted_operator_new();
  planted_zero_bytes();
}

CASE void LoseStructures() {
  auto* const head = static_cast<Node*>(planted_list_head());
  head->next = static_cast<Node*>(planted_list_node());
  head->next->next = static_cast<Node*>(planted_list_node());
  auto* const one = static_cast<Node*>(planted_cycle());
  auto* const two = static_cast<Node*>(planted_cycle());
  one->next = two;
  two->next = one;
  auto* const self = static_cast<Node*>(planted_self());
  self->next = self;
  auto* const lost = static_cast<Node*>(planted_lost_to_interior());
  auto* const target = static_cast<char*>(planted_interior_of_lost());
  lost->next = reinterpret_cast<Node*>(target + 32);
}

CASE void HoldInterior() {
  held_interior = static_cast<char*>(planted_interior()) + 16;
  held_tagged = static_cast<char*>(planted_tagged()) + 1;
  auto* const inner = static_cast<Node*>(planted_chain_interior());
  inner->next = static_cast<Node*>(planted_chain_interior_next());
  held_chain_interior = reinterpret_cast<char*>(inner) + 40;
  auto* const start = static_cast<Node*>(planted_start_of_chain());
  auto* const next = static_cast<char*>(planted_start_of_chain_next());
  start->next = reinterpret_cast<Node*>(next + 40);
  held_start_of_chain = start;
  auto* const both = static_cast<char*>(planted_interior_and_lost());
  held_both = both + 32;
  static_cast<Node*>(planted_points_to_it())->next = reinterpret_cast<Node*>(both);
}

CASE void HoldInGlobals() {
  held_by_global = planted_global();
  held_empty = planted_zero_held();
  auto* const node = static_cast<Node*>(planted_through_global());
  node->next = static_cast<Node*>(planted_through_global_next());
  held_through = node;
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static_cast<void**>(page)[9] = planted_mapped();
  mapped_holder = page;
  // Beside malloc's part of the break.
  void* const own = sbrk(4096);
  static_cast<void**>(own)[9] = planted_in_own_break();
}

CASE void HoldByLayout() {
  held_array = planted_new_array();
  held_second_base = planted_second_base();
  auto* const sized = static_cast<uint64_t*>(planted_length64());
  sized[0] = kBytes - 8;
  held_length64 = sized + 1;
  auto* const text = static_cast<uint64_t*>(planted_string());
  text[0] = 5;   // length
  text[1] = 39;  // capacity
  text[2] = 0;   // references
  held_string = text + 3;
}

CASE void Hide() {
  hidden_by_xor = reinterpret_cast<uintptr_t>(planted_xor()) ^ 0x5555555555555555;
  held_past_end = static_cast<char*>(planted_past_end()) + kBytes;
  void* const odd = planted_unaligned();
  unsigned char bytes[sizeof odd];
  memcpy(bytes, &odd, sizeof odd);
  for (size_t i = 0; i < sizeof odd; ++i) unaligned_place[i + 3] = bytes[i];
  auto* const holder = static_cast<void* volatile*>(calloc(1, 256));
  holder[20] = planted_freed_holder_content();
  free(const_cast<void**>(holder));
}

// ---- threads ----

namespace {

thread_local void* volatile in_thread;
sem_t ready;

void* EndsWithBlock(void*) {
  in_thread = planted_tls_dead();
  return nullptr;
}

void* KeepsInTls(void*) {
  in_thread = planted_tls_live();
  // Not in a register or on the stack: only the TLS has it while this waits.
  __asm__ volatile(
      "xorl %%eax, %%eax\n\t"
      "xorl %%ebx, %%ebx\n\t"
      "xorl %%r12d, %%r12d\n\t"
      "xorl %%r13d, %%r13d\n\t"
      "xorl %%r14d, %%r14d\n\t"
      "xorl %%r15d, %%r15d\n\t" ::
          : "rax", "rbx", "r12", "r13", "r14", "r15");
  sem_post(&ready);
  while (true) {
    __asm__ volatile("movl $34, %%eax\n\tsyscall" ::: "rax", "rcx", "r11", "memory");  // pause
  }
}

void* KeepsInRegister(void*) {
  __asm__ volatile(
      "andq $-16, %%rsp\n\t"  // never returns
      "subq $128, %%rsp\n\t"
      "call planted_register\n\t"
      "movq %%rax, %%r12\n\t"
      "xorl %%eax, %%eax\n\t"
      "movq %0, %%rdi\n\t"
      "call sem_post@PLT\n\t"
      "1: movl $34, %%eax\n\t"
      "xorl %%edi, %%edi\n\t"
      "xorl %%esi, %%esi\n\t"
      "xorl %%edx, %%edx\n\t"
      "xorl %%r8d, %%r8d\n\t"
      "xorl %%r9d, %%r9d\n\t"
      "xorl %%r10d, %%r10d\n\t"
      "syscall\n\t"
      "jmp 1b" ::"b"(&ready)
      : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "memory");
  return nullptr;
}

void* KeepsOnStack(void*) {
  [[maybe_unused]] void* volatile kept[4] = {};
  kept[2] = planted_thread_stack();
  sem_post(&ready);
  while (true) {
    __asm__ volatile("movl $34, %%eax\n\tsyscall" ::: "rax", "rcx", "r11", "memory");
  }
}

}  // namespace

CASE void StartThreads() {
  sem_init(&ready, 0, 0);
  void* (*const bodies[])(void*) = {KeepsInTls, KeepsInRegister, KeepsOnStack};
  for (const auto body : bodies) {
    pthread_t thread;
    pthread_create(&thread, nullptr, body, nullptr);
    sem_wait(&ready);
  }
  pthread_t thread;
  pthread_create(&thread, nullptr, EndsWithBlock, nullptr);
  pthread_join(thread, nullptr);
}

// A forked child: of its own blocks it loses seven, and has one that a block of its parent holds.
CASE void ForkChild() {
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 7; ++i) planted_in_child();
    static_cast<void* volatile*>(held_by_global)[2] = planted_held_by_parents_block();
    _Exit(0);
  }
  waitpid(child, nullptr, 0);
}

// What earlier calls left below main's frame.
CASE void WipeStack() {
  volatile char waste[65536];
  for (volatile char& byte : waste) byte = 0;
}

int main(int argc, char** argv) {
  const char* const end = argc > 1 ? argv[1] : "return";
  Lose();
  LoseStructures();
  HoldInterior();
  HoldInGlobals();
  HoldByLayout();
  Hide();
  StartThreads();
  if (strcmp(end, "fork") == 0) ForkChild();
  WipeStack();
  printf("planted\n");  // stdio has a buffer of its own to be freed
  if (strcmp(end, "exit") == 0) {
    // The frame of main lives on while exit runs.
    [[maybe_unused]] void* volatile kept[4] = {};
    kept[1] = planted_main_stack();
    exit(7);
  }
  if (strcmp(end, "_exit") == 0) _Exit(8);
  if (strcmp(end, "quick_exit") == 0) quick_exit(9);
  if (strcmp(end, "abort") == 0) abort();
  return 0;
}
