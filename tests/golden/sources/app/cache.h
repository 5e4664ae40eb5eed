// What the shop keeps: a template and an inlined call for the reports to show.
#ifndef HEAPGAUGE_TESTS_GOLDEN_SOURCES_APP_CACHE_H_
#define HEAPGAUGE_TESTS_GOLDEN_SOURCES_APP_CACHE_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace shop {

template <typename Value>
class Cache {
 public:
  __attribute__((noinline)) void Insert(int key, size_t size) { entries_[key] = Make(size); }
  void Erase(int key) { entries_.erase(key); }

 private:
  static inline __attribute__((always_inline)) std::vector<Value> Make(size_t size) {
    return std::vector<Value>(size / sizeof(Value));
  }

  std::map<int, std::vector<Value>> entries_;
};

// session.cc
char* ReadRequest(size_t size);
void GrowLog(size_t bytes);
void LoseSession(int number);
void* MapTable(size_t bytes);

}  // namespace shop

#endif  // HEAPGAUGE_TESTS_GOLDEN_SOURCES_APP_CACHE_H_
