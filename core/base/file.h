// Files by descriptor, read and written by position. There is no mapping on purpose: a file that
// belongs to somebody else may be cut short at any moment, and a mapping turns that into SIGBUS,
// while a read just comes back short.
//
// A File is owned by one thread at a time. Opening never blocks: a FIFO or a device is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heapgauge {

// Where bytes come from: a file, or memory in tests. Reads past the end come back short.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The size at this moment; it may change between calls.
  virtual uint64_t Size() const = 0;
  // Copies up to `size` bytes from `offset`; returns how many there were.
  virtual size_t ReadAt(uint64_t offset, void* buffer, size_t size) const = 0;
};

class MemorySource final : public ByteSource {
 public:
  // The bytes must outlive the source.
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  uint64_t Size() const override { return bytes_.size(); }
  size_t ReadAt(uint64_t offset, void* buffer, size_t size) const override;

 private:
  std::string_view bytes_;
};

class File final : public ByteSource {
 public:
  static Result<File> OpenForReading(const std::string& path);
  static Result<File> OpenForUpdate(const std::string& path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() override;

  uint64_t Size() const override;
  size_t ReadAt(uint64_t offset, void* buffer, size_t size) const override;
  // Writes all of it or fails.
  Status WriteAt(uint64_t offset, const void* data, size_t size) const;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  static Result<File> Open(const std::string& path, int flags);

  int fd_ = -1;
  std::string path_;
};

// For those who can do without: nullptr if it cannot be read.
std::unique_ptr<ByteSource> OpenSource(const std::string& path);

// Reads a whole file that may be a pseudo file of size 0 (/proc); stops at `limit` bytes.
Result<std::string> ReadWholeFile(const std::string& path, size_t limit);

// Writes `data` beside `path` and renames it into place, so that nobody sees half a file. An
// existing device or pipe (/dev/stdout) is written to directly. Mode 0600: profiles tell about a
// program.
Status WriteWholeFile(const std::string& path, std::string_view data);

// Writes all of `data` to a descriptor such as standard output.
Status WriteToDescriptor(int fd, std::string_view data, const std::string& name);

// One line such as "cannot open 'x': Permission denied", with the code that fits `errno_value`.
Error SystemError(const std::string& what, int errno_value);

// A file that appears whole or not at all: it is written beside its place, under a name of its own,
// and renamed when it is complete. What was there stays until then. An existing device or pipe
// (/dev/stdout) is written to directly. Mode 0600: profiles tell about a program.
//
// Owned by one thread.
class PlacedFile {
 public:
  // Fails with "cannot write 'path': ..." as Place() does.
  static Result<PlacedFile> Create(const std::string& path);
  PlacedFile(PlacedFile&& other) noexcept;
  PlacedFile& operator=(PlacedFile&& other) noexcept;
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;
  ~PlacedFile();  // without Place() nothing remains

  int fd() const { return fd_; }
  // The name it has until it is placed, for writers that open files themselves.
  const std::string& written_path() const { return temporary_.empty() ? path_ : temporary_; }
  // 'path', for messages.
  std::string quoted() const;

  // Closes the descriptor and puts the file into its place. Once.
  Status Place();

 private:
  PlacedFile(int fd, std::string path, std::string temporary);

  int fd_;
  std::string path_;
  std::string temporary_;  // "" if written directly, or placed
};

}  // namespace heapgauge
