#include "core/elf/demangle.h"

#include <libiberty/demangle.h>

#include <csetjmp>
#include <cstddef>

namespace heapgauge {
namespace {

// The demanglers are recursive and their output can be exponential in their input (each
// substitution may hold two of the one before), so both are bounded. Longer names are not worth it.
constexpr size_t kMaxMangled = 4096;
constexpr size_t kMaxReadable = 32 << 10;

struct Output {
  std::jmp_buf full;
  std::string text;
};

// The only way to stop libiberty in the middle. It is C and holds no memory while it prints C++
// names; of a Rust name with punycode in it some bytes are lost in this rare case.
void Append(const char* text, size_t size, void* opaque) {
  auto* output = static_cast<Output*>(opaque);
  if (size > kMaxReadable - output->text.size()) std::longjmp(output->full, 1);
  output->text.append(text, size);
}

using DemangleFunction = int (*)(const char*, int, demangle_callbackref, void*);

bool Run(DemangleFunction demangle, const std::string& name, Output* output,
         int options = DMGL_PARAMS | DMGL_ANSI) {
  output->text.clear();
  output->text.reserve(256);
  if (setjmp(output->full) != 0) return false;
  return demangle(name.c_str(), options, Append, output) != 0;
}

// Rust first: its older names are C++ names as well, with a hash of 17 letters at the end.
bool DemangleRust(const std::string& name, Output* output) {
  const bool maybe = name[1] == 'R' || name.find("17h") != std::string::npos;
  return maybe && Run(rust_demangle_callback, name, output);
}

}  // namespace

std::string Demangle(const std::string& full_name) {
  const size_t version = full_name.find('@');
  std::string name =
      version == std::string::npos || version == 0 ? full_name : full_name.substr(0, version);
  // glibc's own calls go to a second name of the function.
  if (name.starts_with("__GI_") && name.size() > 5) return name.substr(5);
  if (name.size() > kMaxMangled || name.size() < 3 || name[0] != '_') return name;
  if (name[1] != 'Z' && name[1] != 'R') return name;
  Output output;
  if (DemangleRust(name, &output)) return std::move(output.text);
  if (name[1] == 'Z' && Run(cplus_demangle_v3_callback, name, &output)) {
    return std::move(output.text);
  }
  return name;
}

std::string DemangleWithoutParameters(const std::string& name) {
  if (name.size() > kMaxMangled || name.size() < 3 || name[0] != '_') return name;
  Output output;
  if (name[1] != 'Z' && name[1] != 'R') return name;
  if (DemangleRust(name, &output)) return std::move(output.text);
  if (name[1] == 'Z' && Run(cplus_demangle_v3_callback, name, &output, DMGL_ANSI)) {
    return std::move(output.text);
  }
  return name;
}

}  // namespace heapgauge
