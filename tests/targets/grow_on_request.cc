// Grows when it is told to: each line of input is a letter and a number of megabytes, and each is
// answered by "ok" when the memory is there. a and b are overloads of one name, c is a template's
// member; none of it is ever freed.

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace shop {

// The sizes differ so that no compiler makes one function of them.
volatile size_t g_kept = 0;

__attribute__((noinline)) void Keep(void* block) { g_kept = g_kept + (block != nullptr ? 1 : 0); }

__attribute__((noinline)) void Fill(int megabytes) {
  for (int i = 0; i < megabytes * 16; ++i) Keep(std::malloc(64 << 10));
}
__attribute__((noinline)) void Fill(long megabytes) {
  for (long i = 0; i < megabytes * 16; ++i) Keep(std::malloc((64 << 10) + 32));
}

template <typename T>
struct Shelf {
  __attribute__((noinline)) void Stock(int megabytes) {
    for (int i = 0; i < megabytes * 16; ++i) Keep(std::malloc((64 << 10) + 64));
  }
};

__attribute__((noinline)) void Serve(char what, int megabytes) {
  if (what == 'a') Fill(megabytes);
  if (what == 'b') Fill(static_cast<long>(megabytes));
  if (what == 'c') Shelf<std::vector<int>>().Stock(megabytes);
  g_kept = g_kept + 1;
}

}  // namespace shop

int main() {
  char what = 0;
  int megabytes = 0;
  std::puts("ready");
  std::fflush(stdout);
  while (std::scanf(" %c %d", &what, &megabytes) == 2) {
    shop::Serve(what, megabytes);
    std::puts("ok");
    std::fflush(stdout);
  }
  return 0;
}
