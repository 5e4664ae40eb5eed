// Loses a block in each of some functions that tools name differently: for suppressions_test.py.
#include <pthread.h>

#include <cstdlib>

namespace {

void* volatile sink;

void Forget(void* block) {
  sink = block;
  sink = nullptr;
}

void Lose(size_t bytes) { Forget(std::malloc(bytes)); }

struct Constructed {
  Constructed() { Forget(std::malloc(301)); }
};

void* Thread(void*) {
  Forget(std::malloc(302));
  return nullptr;
}

class Hidden {
 public:
  __attribute__((noinline)) void Method() { Forget(std::malloc(304)); }
};

void LoseMore() {
  if (std::getenv("LOSE_MORE") != nullptr) Lose(5000);
}

}  // namespace

struct Visible {
  Visible() { Forget(std::malloc(305)); }
};

static void Static() { Forget(std::malloc(306)); }

int main() {
  Constructed constructed;
  Visible visible;
  pthread_t thread;
  pthread_create(&thread, nullptr, Thread, nullptr);
  pthread_join(thread, nullptr);
  const auto lambda = [] { Forget(std::malloc(303)); };
  lambda();
  Hidden().Method();
  Static();
  Forget(new int[77]);
  Lose(307);
  Forget(std::malloc(308));
  LoseMore();
}
