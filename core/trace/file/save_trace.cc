#include "core/trace/file/save_trace.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/file.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/gauge/gauge_names.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/file/file_index.h"
#include "core/trace/file/trace_facts.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {
namespace {

constexpr size_t kPiece = 1 << 20;

// A file as it was when it had so many bytes: one that is being written only grows, and what is
// copied must be what got names.
class FirstBytes final : public ByteSource {
 public:
  FirstBytes(const File& file, uint64_t size) : file_(file), size_(size) {}
  uint64_t Size() const override { return size_; }
  size_t ReadAt(uint64_t offset, void* buffer, size_t size) const override {
    if (offset >= size_) return 0;
    return file_.ReadAt(offset, buffer,
                        static_cast<size_t>(std::min<uint64_t>(size, size_ - offset)));
  }

 private:
  const File& file_;
  const uint64_t size_;
};

// Where the last chunk ends that the index has.
Result<uint64_t> EndOf(const ByteSource& file, const FileIndex& index, const std::string& path) {
  uint64_t last = 0;
  for (const FileIndex::Chunk& chunk : index.chunks) last = std::max(last, chunk.offset);
  for (const SegmentInfo& segment : index.segments) last = std::max(last, segment.offset);
  if (last == 0) return sizeof(FileHeader);
  HG_ASSIGN(const ChunkReader chunk, ChunkReader::Read(file, file.Size(), last, path));
  return chunk.end();
}

// All that the copy will have can be read. Chunks must not overlap: many that share their bytes
// would make a small file as much work as a large one.
Status CheckChunks(const ByteSource& file, const FileIndex& index, const std::string& path) {
  std::vector<uint64_t> offsets;
  for (const FileIndex::Chunk& chunk : index.chunks) offsets.push_back(chunk.offset);
  for (const SegmentInfo& segment : index.segments) offsets.push_back(segment.offset);
  std::sort(offsets.begin(), offsets.end());
  uint64_t end = 0;  // of the one before
  std::vector<uint8_t> room;
  for (const uint64_t offset : offsets) {
    HG_ASSIGN(const ChunkReader chunk, ChunkReader::Read(file, file.Size(), offset, path));
    if (offset < end) return chunk.Damaged("it begins within another chunk");
    end = chunk.end();
    HG_TRY(chunk.Check(file, &room));
  }
  return {};
}

// What has a position in the copy needs to know how far it is.
class Copy {
 public:
  explicit Copy(FileSink* sink) : sink_(sink) {}

  Status Write(std::span<const uint8_t> bytes) {
    written_ += bytes.size();
    return sink_->Write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  uint64_t written() const { return written_; }

 private:
  FileSink* const sink_;
  uint64_t written_ = 0;
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

  HG_ASSIGN(const File grown, File::OpenForReading(path));
  const FirstBytes file(grown, trace->file_bytes());
  HG_ASSIGN(FileIndex index, ReadIndex(file, path));
  HG_TRY(CheckChunks(file, index, path));
  saved.notes = trace->notes();
  HG_ASSIGN(const uint64_t end, EndOf(file, index, path));
  HG_ASSIGN(const auto sink, FileSink::Create(output));
  Copy copy(sink.get());
  std::vector<uint8_t> piece(kPiece);
  while (copy.written() < end) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(kPiece, end - copy.written()));
    if (file.ReadAt(copy.written(), piece.data(), size) != size) {
      return Fail(ErrorCode::kIo, "'" + Printable(path) + "' became shorter while it was copied");
    }
    HG_TRY(copy.Write({piece.data(), size}));
  }
  std::erase_if(index.chunks,
                [](const FileIndex::Chunk& chunk) { return chunk.type == ChunkType::kNames; });
  ChunkMaker chunk;
  chunk.Begin(ChunkType::kNames);
  chunk.Add(1, {reinterpret_cast<const uint8_t*>(names.data()), names.size()}, false);
  index.chunks.push_back({ChunkType::kNames, copy.written()});
  HG_TRY(copy.Write(chunk.Finish()));
  if (trace->facts().being_written && !index.finished) {
    Facts facts = trace->facts();
    facts.recording.state = RecordingState::kSnapshot;
    ColumnWriter column;
    EncodeFacts(facts, &column);
    chunk.Begin(ChunkType::kFacts);
    chunk.Add(1, column.bytes());
    index.chunks.push_back({ChunkType::kFacts, copy.written()});
    HG_TRY(copy.Write(chunk.Finish()));
  }
  const FileTrailer trailer{copy.written(), kTrailerMagic};
  HG_TRY(copy.Write(EncodeIndex(index, &chunk)));
  HG_TRY(copy.Write({reinterpret_cast<const uint8_t*>(&trailer), sizeof trailer}));
  HG_TRY(sink->Finish());
  saved.bytes = copy.written();
  return saved;
}

}  // namespace heapgauge::trace
