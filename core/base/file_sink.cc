#include "core/base/file_sink.h"

#include <utility>

namespace heapgauge {

FileSink::FileSink(PlacedFile file) : file_(std::move(file)), sink_(file_.fd(), file_.quoted()) {}

Result<std::unique_ptr<FileSink>> FileSink::Create(const std::string& path) {
  HG_ASSIGN(PlacedFile file, PlacedFile::Create(path));
  return std::unique_ptr<FileSink>(new FileSink(std::move(file)));
}

Status FileSink::Finish() {
  HG_TRY(sink_.Finish());
  return file_.Place();
}

}  // namespace heapgauge
