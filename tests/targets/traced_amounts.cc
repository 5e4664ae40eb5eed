// Allocates known amounts from functions of known names, and says what a perfect trace must show:
//   traced_amounts [THREADS]
// One line each: "allocations N", "frees N", "peak BYTES", "left BYTES", "temporary N",
// "left_by FUNCTION BYTES", "allocated_by FUNCTION BLOCKS BYTES". With THREADS, so many threads one
// after another do the same, and the main thread frees what they leave; pthread_create's own blocks
// are not in the figures. Prints without allocating.
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

struct Account {
  const char* name;
  uint64_t blocks;
  uint64_t bytes;
  uint64_t left;
};

uint64_t allocations, frees, live, peak, temporary;
Account accounts[8];

Account* AccountOf(const char* name) {
  for (Account& account : accounts) {
    if (account.name == nullptr) account.name = name;
    if (strcmp(account.name, name) == 0) return &account;
  }
  abort();
}

void Took(Account* account, uint64_t bytes) {
  ++allocations;
  live += bytes;
  if (live > peak) peak = live;
  ++account->blocks;
  account->bytes += bytes;
  account->left += bytes;
}

void Gave(Account* account, uint64_t bytes) {
  ++frees;
  live -= bytes;
  account->left -= bytes;
}

constexpr int kKept = 300;
void* kept[kKept];

}  // namespace

extern "C" {

// Ends with every third block still there.
__attribute__((noinline)) void hold_some() {
  Account* account = AccountOf("hold_some");
  for (int i = 0; i < kKept; ++i) {
    const size_t size = 100 + static_cast<size_t>(i);
    kept[i] = malloc(size);
    memset(kept[i], 1, size);
    Took(account, size);
  }
  for (int i = 0; i < kKept; ++i) {
    if (i % 3 == 0) continue;
    free(kept[i]);
    Gave(account, 100 + static_cast<size_t>(i));
  }
  ++temporary;  // the last one: freed before the next allocation
}

__attribute__((noinline)) void pass_through() {
  Account* account = AccountOf("pass_through");
  for (size_t i = 0; i < 5000; ++i) {
    const size_t size = 16 + i % 700;
    char* block = new char[size];
    *static_cast<volatile char*>(block) = 1;
    Took(account, size);
    delete[] block;
    Gave(account, size);
    ++temporary;
  }
}

// One block that grows, to the highest point of the whole program.
__attribute__((noinline)) void grow_one() {
  Account* account = AccountOf("grow_one");
  char* block = nullptr;
  size_t had = 0;
  for (size_t size = 1000; size < 3000000; size += size / 2) {
    block = static_cast<char*>(realloc(block, size));
    if (block == nullptr) abort();
    if (had != 0) {
      Gave(account, had);
      ++temporary;
    }
    Took(account, size);
    block[size - 1] = 1;
    had = size;
  }
  free(block);
  Gave(account, had);
  ++temporary;
}

__attribute__((noinline)) void leave_behind() {
  Account* account = AccountOf("leave_behind");
  for (int i = 0; i < 10; ++i) {
    void* volatile block = calloc(7, 33);
    Took(account, 7 * 33);
    static_cast<void>(block);
  }
  void* aligned = nullptr;
  if (posix_memalign(&aligned, 256, 5000) != 0) abort();
  Took(account, 5000);
}

}  // extern "C"

namespace {

void* Everything(void*) {
  hold_some();
  pass_through();
  grow_one();
  leave_behind();
  return nullptr;
}

void FreeWhatAThreadHeld() {
  Account* account = AccountOf("hold_some");
  for (int i = 0; i < kKept; i += 3) {
    free(kept[i]);
    Gave(account, 100 + static_cast<size_t>(i));
  }
}

void Say(const char* what, uint64_t value) {
  char line[128];
  const int length =
      snprintf(line, sizeof line, "%s %llu\n", what, static_cast<unsigned long long>(value));
  if (write(1, line, static_cast<size_t>(length)) != length) abort();
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, Everything, nullptr) != 0) return 1;
    pthread_join(thread, nullptr);
    FreeWhatAThreadHeld();
  }
  Everything(nullptr);
  Say("allocations", allocations);
  Say("frees", frees);
  Say("peak", peak);
  Say("left", live);
  Say("temporary", temporary);
  for (const Account& account : accounts) {
    if (account.name == nullptr) break;
    char what[96];
    snprintf(what, sizeof what, "left_by %s", account.name);
    Say(what, account.left);
    snprintf(what, sizeof what, "allocated_by %s %llu", account.name,
             static_cast<unsigned long long>(account.blocks));
    Say(what, account.bytes);
  }
  return 0;
}
