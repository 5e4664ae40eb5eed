// A file that appears whole or not at all: it is written beside its place, under a name of its own,
// and renamed when it is complete. What was there stays until then. An existing device or pipe
// (/dev/stdout) is written to directly. Mode 0600: profiles tell about a program.
//
// Owned by one thread.
#ifndef HEAPGAUGE_CORE_BASE_PLACED_FILE_H_
#define HEAPGAUGE_CORE_BASE_PLACED_FILE_H_

#include <string>

#include "core/base/result.h"

namespace heapgauge {

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

#endif  // HEAPGAUGE_CORE_BASE_PLACED_FILE_H_
