// Every form of operator new and delete, failures and the new handler included.
//
//   operator_new [--possible]
//
// Prints one line for each form. With --possible, requests that cannot be met are left out:
// mimalloc as Debian builds it aborts instead of throwing.

#include <new>

#include "tests/targets/support.h"

namespace {

volatile size_t huge = SIZE_MAX / 2 + 100;
volatile size_t bytes = 3000;
int handler_calls = 0;
char* reserve = nullptr;

void OnNewFailure() {
  ++handler_calls;
  delete[] reserve;
  reserve = nullptr;
  if (handler_calls == 3) std::set_new_handler(nullptr);
}

template <typename Function>
void Report(const char* form, Function function) {
  const char* result = "ok";
  try {
    for (int i = 0; i < 2000; ++i) {
      if (!function()) result = "NULL";
    }
  } catch (const std::bad_alloc&) {
    result = "bad_alloc";
  }
  printf("%s: %s\n", form, result);
}

bool Use(void* p, size_t alignment = 1) {
  if (p == nullptr) return false;
  Require(reinterpret_cast<uintptr_t>(p) % alignment == 0, "not aligned");
  Mark(p, bytes, 1);
  return true;
}

constexpr std::align_val_t k64{64};
constexpr std::align_val_t k4096{4096};

}  // namespace

int main(int argc, char** argv) {
  const bool possible_only = argc > 1 && strcmp(argv[1], "--possible") == 0;
  Report("new, delete", [] {
    void* p = ::operator new(bytes);
    const bool good = Use(p);
    ::operator delete(p);
    return good;
  });
  Report("new, sized delete", [] {
    void* p = ::operator new(bytes);
    const bool good = Use(p);
    ::operator delete(p, bytes);
    return good;
  });
  Report("new[], delete[]", [] {
    void* p = ::operator new[](bytes);
    const bool good = Use(p);
    ::operator delete[](p);
    return good;
  });
  Report("new[], sized delete[]", [] {
    void* p = ::operator new[](bytes);
    const bool good = Use(p);
    ::operator delete[](p, bytes);
    return good;
  });
  Report("nothrow new, nothrow delete", [] {
    void* p = ::operator new(bytes, std::nothrow);
    const bool good = Use(p);
    ::operator delete(p, std::nothrow);
    return good;
  });
  Report("nothrow new[], nothrow delete[]", [] {
    void* p = ::operator new[](bytes, std::nothrow);
    const bool good = Use(p);
    ::operator delete[](p, std::nothrow);
    return good;
  });
  Report("aligned new, aligned delete", [] {
    void* p = ::operator new(bytes, k64);
    const bool good = Use(p, 64);
    ::operator delete(p, k64);
    return good;
  });
  Report("aligned new, sized aligned delete", [] {
    void* p = ::operator new(bytes, k4096);
    const bool good = Use(p, 4096);
    ::operator delete(p, bytes, k4096);
    return good;
  });
  Report("aligned new[], aligned delete[]", [] {
    void* p = ::operator new[](bytes, k64);
    const bool good = Use(p, 64);
    ::operator delete[](p, k64);
    return good;
  });
  Report("aligned new[], sized aligned delete[]", [] {
    void* p = ::operator new[](bytes, k64);
    const bool good = Use(p, 64);
    ::operator delete[](p, bytes, k64);
    return good;
  });
  Report("aligned nothrow new, its delete", [] {
    void* p = ::operator new(bytes, k64, std::nothrow);
    const bool good = Use(p, 64);
    ::operator delete(p, k64, std::nothrow);
    return good;
  });
  Report("aligned nothrow new[], its delete[]", [] {
    void* p = ::operator new[](bytes, k64, std::nothrow);
    const bool good = Use(p, 64);
    ::operator delete[](p, k64, std::nothrow);
    return good;
  });
  Report("delete of NULL", [] {
    ::operator delete(nullptr);
    ::operator delete[](nullptr);
    ::operator delete(nullptr, bytes);
    return true;
  });
  Report("new of zero bytes", [] {
    void* p = ::operator new(bytes * 0);
    ::operator delete(p);
    return p != nullptr;
  });
  if (possible_only) return 0;
  Report("new of absurd size", [] { return Use(::operator new(huge)); });
  Report("new[] of absurd size", [] { return Use(::operator new[](huge)); });
  Report("aligned new of absurd size", [] { return Use(::operator new(huge, k64)); });
  Report("nothrow new of absurd size", [] { return Use(::operator new(huge, std::nothrow)); });

  reserve = new char[100000];
  std::set_new_handler(OnNewFailure);
  Report("new of absurd size with a handler", [] { return Use(::operator new(huge)); });
  printf("the handler was called %d times, its reserve is gone: %s\n", handler_calls,
         YesNo(reserve == nullptr));
  printf("sum %lx\n", Exercise(1, 20000));
  return 0;
}
