#include "core/trace/save_trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/gauge/gauge_names.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/file_index.h"
#include "core/trace/trace_file.h"

namespace heapgauge::trace {
namespace {

constexpr size_t kPiece = 1 << 20;
constexpr int kCompressionLevel = 6;

// Where the last chunk ends that the index has.
Result<uint64_t> EndOf(const File& file, const FileIndex& index) {
  uint64_t last = 0;
  for (const FileIndex::Chunk& chunk : index.chunks) last = std::max(last, chunk.offset);
  for (const SegmentInfo& segment : index.segments) last = std::max(last, segment.offset);
  if (last == 0) return sizeof(FileHeader);
  HG_ASSIGN(const ChunkReader chunk, ChunkReader::Read(file, file.Size(), last, file.path()));
  return chunk.end();
}

// A file beside `path` that takes its place when it is complete.
class Replacement {
 public:
  explicit Replacement(const std::string& path)
      : path_(path), temporary_(path + ".XXXXXX"), fd_(mkostemp(temporary_.data(), O_CLOEXEC)) {
    if (fd_ < 0) Remember(errno);
  }
  ~Replacement() {
    if (fd_ < 0) return;
    close(fd_);
    if (!placed_) unlink(temporary_.c_str());
  }

  void Write(std::span<const uint8_t> bytes) {
    if (!status_) return;
    status_ = WriteToDescriptor(fd_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                "'" + Printable(path_) + "'");
    written_ += bytes.size();
  }
  Status Place() {
    if (status_ && rename(temporary_.c_str(), path_.c_str()) != 0) Remember(errno);
    placed_ = status_.has_value();
    return status_;
  }
  uint64_t written() const { return written_; }
  const Status& status() const { return status_; }

 private:
  void Remember(int error) {
    status_ = tl::unexpected<Error>(SystemError("cannot write '" + Printable(path_) + "'", error));
  }

  const std::string path_;
  std::string temporary_;
  const int fd_;
  uint64_t written_ = 0;
  bool placed_ = false;
  Status status_;
};

}  // namespace

Result<SavedTrace> SaveTrace(const std::string& path, const std::string& output,
                             const std::function<void(Profile*)>& symbolize) {
  HG_ASSIGN(const auto trace, TraceFile::Open(path));
  HG_ASSIGN(const auto stacks, trace->ReadStacks());
  Profile profile = stacks->profile;
  symbolize(&profile);
  SavedTrace saved;
  saved.names = CountNames(profile);
  HG_ASSIGN(const std::string names, EncodeNames(profile));

  HG_ASSIGN(const File file, File::OpenForReading(path));
  HG_ASSIGN(FileIndex index, ReadIndex(file, path));
  HG_ASSIGN(const uint64_t end, EndOf(file, index));
  Replacement copy(output);
  std::vector<uint8_t> piece(kPiece);
  while (copy.status() && copy.written() < end) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(kPiece, end - copy.written()));
    if (file.ReadAt(copy.written(), piece.data(), size) != size) {
      return Fail(ErrorCode::kIo, "'" + Printable(path) + "' became shorter while it was copied");
    }
    copy.Write({piece.data(), size});
  }
  std::erase_if(index.chunks,
                [](const FileIndex::Chunk& chunk) { return chunk.type == ChunkType::kNames; });
  ChunkMaker chunk(kCompressionLevel);
  chunk.Begin(ChunkType::kNames);
  chunk.Add(1, {reinterpret_cast<const uint8_t*>(names.data()), names.size()}, false);
  index.chunks.push_back({ChunkType::kNames, copy.written()});
  copy.Write(chunk.Finish());
  const FileTrailer trailer{copy.written(), kTrailerMagic};
  copy.Write(EncodeIndex(index, &chunk));
  copy.Write({reinterpret_cast<const uint8_t*>(&trailer), sizeof trailer});
  HG_TRY(copy.Place());
  saved.bytes = copy.written();
  return saved;
}

}  // namespace heapgauge::trace
