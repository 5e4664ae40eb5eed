// A program whose pointers lie in all places where a program can keep them. It prints "NAME
// ADDRESS" of each place and waits for the end of its input.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void* global = nullptr;
void* initialised = &global;
// Relocated once, then read-only.
void* const relocated[] = {&global, &initialised};
thread_local void* of_thread = nullptr;
pthread_barrier_t barrier;

void Print(const char* name, const volatile void* address) {
  std::printf("%s %p\n", name, const_cast<const void*>(address));
}

void* Live(void*) {
  void* volatile on_stack = nullptr;
  of_thread = std::malloc(10);
  Print("live.stack", &on_stack);
  Print("live.tls", &of_thread);
  std::printf("live.id %lx\n", syscall(SYS_gettid));
  std::fflush(stdout);
  pthread_barrier_wait(&barrier);
  pause();
  return const_cast<void*>(on_stack);
}

void* Dead(void*) {
  void* volatile on_stack = nullptr;
  of_thread = &global;
  Print("dead.stack", &on_stack);
  Print("dead.tls", &of_thread);
  return const_cast<void*>(on_stack);
}

// Overwrites what calls have left in registers and on the stack.
__attribute__((noinline)) void Forget() {
  volatile char words[4096];
  for (volatile char& c : words) c = 0;
}

// A block to which one word points, in memory that children do not get.
__attribute__((noinline)) void KeepFromChildren(const char* name, int advice) {
  auto* page = static_cast<void* volatile*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(const_cast<void**>(page), 4096, advice);
  page[7] = std::malloc(3000);
  Print(name, page[7]);
}

// A block that only the kernel has the address of.
__attribute__((noinline)) void GiveToEpoll() {
  int ends[2];
  if (pipe(ends) != 0) return;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = std::malloc(3000);
  Print("epoll", event.data.ptr);
  epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, ends[0], &event);
}

}  // namespace

int main() {
  pthread_barrier_init(&barrier, nullptr, 2);
  pthread_t dead;
  pthread_t live;
  // The live one gets the stack that another left, so let two have lived.
  pthread_create(&dead, nullptr, Dead, nullptr);
  pthread_create(&live, nullptr, Live, nullptr);
  pthread_join(dead, nullptr);
  pthread_barrier_wait(&barrier);
  void* volatile on_stack = nullptr;
  of_thread = &global;
  Print("main.stack", &on_stack);
  Print("main.tls", &of_thread);
  Print("global", &global);
  Print("data", &initialised);
  Print("relocated", &relocated[1]);
  Print("code", reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(&Dead)));
  // Two blocks that are not next to the free rest; the first is freed, and listed in an arena.
  volatile auto freed = reinterpret_cast<uintptr_t>(std::malloc(5000));
  auto** kept = static_cast<void**>(std::malloc(5000));
  kept[1] = &global;
  std::free(reinterpret_cast<void*>(freed));
  Print("heap", kept);
  // The list's address was written into it; it is read after free on purpose.
  Print("arena", *reinterpret_cast<void* volatile*>(freed));
  Print("large", std::malloc(1 << 20));
  auto* page = static_cast<void**>(
      mmap(nullptr, 3 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  page[1 << 16] = &global;
  Print("mapping", page + (1 << 16));
  Print("untouched", page + (1 << 18));
  auto* shared = static_cast<void**>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  shared[0] = &global;
  Print("shared", shared);
  // Every ninth page is touched.
  auto* sparse = static_cast<char*>(
      mmap(nullptr, 90 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 90; i += 9) sparse[i * 4096] = 1;
  Print("sparse", sparse);
  KeepFromChildren("unforked", MADV_DONTFORK);
  KeepFromChildren("wiped", MADV_WIPEONFORK);
  GiveToEpoll();
  Print("lost", std::malloc(3000));
  Forget();
  std::puts("ready 0");
  std::fflush(stdout);
  char byte = 0;
  while (read(0, &byte, 1) > 0) {
  }
  _exit(0);
}
