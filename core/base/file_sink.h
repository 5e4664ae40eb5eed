// A sink that makes a file which appears whole or not at all (file.h).
//
// Owned by one thread.
#pragma once

#include <memory>
#include <string>

#include "core/base/descriptor_sink.h"
#include "core/base/file.h"
#include "core/base/result.h"

namespace heapgauge {

class FileSink final : public TextSink {
 public:
  static Result<std::unique_ptr<FileSink>> Create(const std::string& path);
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  Status Write(std::string_view text) override { return sink_.Write(text); }
  // Puts the file into its place. Without it nothing remains.
  Status Finish();

 private:
  explicit FileSink(PlacedFile file);

  PlacedFile file_;
  DescriptorSink sink_;
};

}  // namespace heapgauge
