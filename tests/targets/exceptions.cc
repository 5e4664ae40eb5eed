// Exceptions thrown through deep stacks whose frames hold memory, in four threads.
//
// Prints a sum. The clean-up of each frame frees and allocates, so samples are taken while the
// C++ runtime is in the middle of unwinding.

#include <pthread.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/targets/support.h"

namespace {

struct Cleanup {
  explicit Cleanup(size_t size) : block(new char[size]) {}
  ~Cleanup() {
    delete[] block;
    void* p = malloc(2000);  // in the middle of unwinding
    Escape(p);
    free(p);
  }
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;
  char* block;
};

HG_NOINLINE int Descend(unsigned depth, uint64_t x) {
  const Cleanup cleanup(100 + x % 3000);
  if (depth == 0) throw std::runtime_error(std::string(500, 'e') + std::to_string(x % 1000));
  const std::vector<uint64_t> values(x % 100, x);
  const int below = Descend(depth - 1, x * 6364136223846793005u + 1);
  return below + static_cast<int>(values.size());
}

HG_NOINLINE uint64_t Catch(unsigned depth, uint64_t x) {
  try {
    return static_cast<uint64_t>(Descend(depth, x));
  } catch (const std::runtime_error& e) {
    return strlen(e.what());
  }
}

void* Run(void* argument) {
  auto* sum = static_cast<uint64_t*>(argument);
  uint64_t random = *sum;
  for (int i = 0; i < 500; ++i) {
    *sum = *sum * 31 + Catch(static_cast<unsigned>(NextRandom(&random) % 60), random);
  }
  return nullptr;
}

}  // namespace

int main() {
  uint64_t sums[4] = {1, 2, 3, 4};
  pthread_t ids[4];
  for (int t = 0; t < 4; ++t) {
    Require(pthread_create(&ids[t], nullptr, Run, &sums[t]) == 0, "cannot start a thread");
  }
  for (int t = 0; t < 4; ++t) {
    pthread_join(ids[t], nullptr);
    printf("thread %d: %lx\n", t, sums[t]);
  }
  return 0;
}
