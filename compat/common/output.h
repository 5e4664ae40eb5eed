// Files and messages, as the libraries that this one stands in for write them.
//
// Async-signal-safe writes; no stdio, whose locks the program may hold.
#pragma once

#include <string>
#include <string_view>

namespace heapgauge::compat {

// To standard error, whole.
void Say(std::string_view text);

// Makes the file or replaces its contents; false if that is impossible. Readable by all that the
// umask lets, as the real ones are.
bool WriteFile(const std::string& path, std::string_view text);

// A function of the real library that comes after this one in the order of symbols, or null. Then
// this one steps aside.
void* NextFunction(const char* name);
template <typename Function>
Function* NextAs(const char* name) {
  return reinterpret_cast<Function*>(NextFunction(name));
}

}  // namespace heapgauge::compat
