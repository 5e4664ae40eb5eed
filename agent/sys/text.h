// The few string operations the agent needs, on fixed buffers. Allocation-free and signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapgauge::agent {

// Builds a NUL-terminated text in a fixed buffer. What does not fit is cut off, and cut() tells.
template <size_t kBytes>
class FixedText {
 public:
  FixedText& Add(const char* text) {
    while (*text != '\0') Add(*text++);
    return *this;
  }
  FixedText& Add(char c) {
    if (length_ + 1 < kBytes) {
      text_[length_++] = c;
      text_[length_] = '\0';
    } else {
      cut_ = true;
    }
    return *this;
  }
  FixedText& Add(uint64_t number) {
    char digits[20];
    int n = 0;
    do {
      digits[n++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (n > 0) Add(digits[--n]);
    return *this;
  }
  void Clear() {
    length_ = 0;
    text_[0] = '\0';
    cut_ = false;
  }
  const char* c_str() const { return text_; }
  size_t length() const { return length_; }
  bool cut() const { return cut_; }

 private:
  char text_[kBytes] = {};
  size_t length_ = 0;
  bool cut_ = false;
};

// Copies a NUL-terminated text into a field of a record; true if all of it fitted.
template <size_t kBytes>
bool CopyText(char (&field)[kBytes], const char* text) {
  size_t i = 0;
  for (; text[i] != '\0' && i + 1 < kBytes; ++i) field[i] = text[i];
  field[i] = '\0';
  return text[i] == '\0';
}

inline const char* BaseName(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace heapgauge::agent
