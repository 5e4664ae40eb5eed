// A sink that makes a whole file: it is written beside its place and renamed when it is complete,
// so that nobody sees half of it. An existing device or pipe (/dev/stdout) is written to directly.
// Mode 0600: profiles tell about a program.
//
// Owned by one thread.
#ifndef HEAPGAUGE_CORE_BASE_FILE_SINK_H_
#define HEAPGAUGE_CORE_BASE_FILE_SINK_H_

#include <memory>
#include <string>

#include "core/base/descriptor_sink.h"
#include "core/base/result.h"

namespace heapgauge {

class FileSink final : public TextSink {
 public:
  static Result<std::unique_ptr<FileSink>> Create(const std::string& path);
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override;  // without Finish() nothing remains

  Status Write(std::string_view text) override { return sink_.Write(text); }
  // Puts the file into its place.
  Status Finish();

 private:
  FileSink(int fd, std::string path, std::string temporary);

  int fd_;
  std::string path_;
  std::string temporary_;  // "" if written directly
  DescriptorSink sink_;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_FILE_SINK_H_
