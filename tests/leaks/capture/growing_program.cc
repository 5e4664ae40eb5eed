// A program that loses nothing: two threads allocate in bursts, and keep every block in a table. It
// says "ready" when it has begun, and runs until its input ends.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr size_t kMostBlocks = 1 << 20;
char* volatile blocks[kMostBlocks];
std::atomic<size_t> count{0};

__attribute__((noinline)) void KeepBlock() {
  const size_t place = count.fetch_add(1);
  if (place >= kMostBlocks) return;
  auto* block = static_cast<char*>(std::malloc(2000));
  std::memset(block, 1, 64);
  blocks[place] = block;
}

void Grow() {
  while (true) {
    for (int i = 0; i < 200; ++i) KeepBlock();
    usleep(10'000);
  }
}

}  // namespace

int main() {
  for (int i = 0; i < 2; ++i) std::thread(Grow).detach();
  while (count < 2000) usleep(1'000);
  std::puts("ready");
  std::fflush(stdout);
  char byte = 0;
  while (read(0, &byte, 1) > 0) {
  }
  _exit(0);
}
