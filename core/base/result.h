// Errors as values. Malformed input, a missing file, a process that has gone: all of these are
// normal for a tool that reads what others wrote, so every function that can fail returns
// Result<T>. The message of an Error is one line that can be shown as it is: what is wrong, where,
// what to do.
//
// No exceptions cross a library boundary. Errors are plain values and may be moved between threads.
//
//   Result<File> OpenBoth(const std::string& a) {
//     HG_ASSIGN(File file, File::OpenForReading(a));
//     HG_TRY(file.Check());
//     return file;
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace heapgauge {

enum class ErrorCode {
  kInvalidArgument,  // the caller asked for something that makes no sense
  kNotFound,         // no such file, process, directory
  kPermission,
  kIo,             // the operating system refused
  kUnfinished,     // a file whose writer has not completed it yet, or never will
  kNotRecognized,  // not a file of the expected format
  kUnsupported,    // the right format in a version or shape that this program does not read
  kTruncated,      // the file ends before its contents do
  kCorrupt,        // the contents contradict themselves
  kUnavailable,    // right in itself, but cannot be done now
  kHeld,           // the same, until the process Error::holder lets go
};

inline constexpr uint64_t kNoOffset = ~uint64_t{0};

struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;
  uint64_t offset = kNoOffset;  // byte of the input where it was noticed
  // The word of the request that is wrong, as options and parameters name it: "min-size"; "" none.
  std::string field = {};
  uint32_t holder = 0;  // of kHeld: a PID

  // The line to show. The command line writes its fields with dashes, an address without.
  std::string Text(const char* dashes) const {
    return field.empty() ? message : dashes + field + ": " + message;
  }
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> Fail(ErrorCode code, std::string message,
                                                uint64_t offset = kNoOffset) {
  return tl::unexpected<Error>(Error{code, std::move(message), offset});
}
// The same of a field of the request.
[[nodiscard]] inline tl::unexpected<Error> FailField(std::string_view field, ErrorCode code,
                                                     std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message), kNoOffset, std::string(field)});
}

}  // namespace heapgauge

#define HG_CONCAT_INNER(a, b) a##b
#define HG_CONCAT(a, b) HG_CONCAT_INNER(a, b)

// Returns the error of `expr`, if it is one, from the enclosing function.
#define HG_TRY(expr)                                                                           \
  do {                                                                                         \
    auto hg_status = (expr);                                                                   \
    if (!hg_status) return ::tl::unexpected<::heapgauge::Error>(std::move(hg_status).error()); \
  } while (false)

// Assigns the value of `expr` to `lhs` (which may declare a variable) or returns its error.
#define HG_ASSIGN(lhs, expr) HG_ASSIGN_INNER(HG_CONCAT(hg_result_, __LINE__), lhs, expr)
#define HG_ASSIGN_INNER(result, lhs, expr)                                             \
  auto result = (expr);                                                                \
  if (!result) return ::tl::unexpected<::heapgauge::Error>(std::move(result).error()); \
  lhs = *std::move(result)
