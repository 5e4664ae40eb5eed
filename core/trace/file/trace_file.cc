#include "core/trace/file/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/trace/file/block.h"
#include "core/trace/file/file_index.h"
#include "core/trace/file/segment_decoder.h"
#include "core/trace/file/survivor_codec.h"
#include "core/trace/file/tables.h"
#include "core/trace/file/trace_facts.h"

namespace heapgauge::trace {
namespace {

constexpr size_t kMaxFactsBytes = 1 << 20;

class OpenedTrace final : public TraceFile, public std::enable_shared_from_this<OpenedTrace> {
 public:
  OpenedTrace(std::shared_ptr<const File> file, FileIndex index)
      : shared_file_(std::move(file)),
        file_(*shared_file_),
        size_(file_.Size()),
        index_(std::move(index)) {}

  // `before`: the same file when it was shorter, whose tables are the first of these; may be null.
  Status ReadTables(bool has_writer, const OpenedTrace* before) {
    TableBudget budget(size_);
    size_t first = 0;
    if (before != nullptr && before->size_ <= size_ && IsContinuedBy(before->index_, index_)) {
      facts_ = before->facts_;
      tables_ = before->tables_;
      budget.Spend(before->table_bytes_);
      first = before->index_.chunks.size();
    }
    const auto read = [&](const ChunkReader& chunk) -> Status {
      if (chunk.type() == ChunkType::kTables) {
        return ReadPlainTables(file_, chunk, &budget, &tables_);
      }
      std::vector<uint8_t> bytes;
      HG_TRY(chunk.Column(file_, 1, std::min(budget.plain_bytes(), kMaxFactsBytes), &bytes));
      budget.Spend(bytes.size());
      if (!DecodeFacts(bytes, &facts_)) return chunk.Damaged("bad facts");
      return {};
    };
    HG_TRY(ForEachChunk({ChunkType::kFacts, ChunkType::kTables}, read, first));
    table_bytes_ = budget.spent();
    facts_.complete &= index_.finished;
    facts_.being_written = has_writer && !index_.finished;
    facts_.recording.duration_ns = end_ns();
    // The facts are those of the beginning, when it ran; but those of a copy are its own.
    const bool has_no_end = !facts_.complete && !facts_.being_written &&
                            facts_.recording.state != RecordingState::kSnapshot;
    if (has_no_end) facts_.recording.state = RecordingState::kUnknown;
    facts_.breaks_off = has_no_end || !index_.notes.empty() || facts_.untraced_from_ns != 0;
    facts_.recording.exact = true;
    facts_.recording.has_gaps = facts_.lost_events != 0 || facts_.culled_blocks != 0 ||
                                facts_.missed_frees != 0 || LacksAllocations(facts_) ||
                                facts_.breaks_off;
    notes_ = index_.notes;
    const std::vector<std::string> gaps = GapsOf(facts_, !index_.notes.empty());
    notes_.insert(notes_.end(), gaps.begin(), gaps.end());
    return {};
  }

  static Result<std::shared_ptr<const TraceFile>> Read(std::shared_ptr<const File> file,
                                                       const OpenedTrace* before) {
    // First of all: a writer that ends after this leaves a whole file.
    const bool has_writer = HasWriter(file->fd());
    HG_ASSIGN(FileIndex index, ReadIndex(*file, file->path(), has_writer,
                                         before == nullptr ? nullptr : &before->index_));
    if (before != nullptr && before->facts_.being_written == (has_writer && !index.finished) &&
        index.end == before->index_.end && IsContinuedBy(before->index_, index)) {
      return before->shared_from_this();
    }
    auto trace = std::make_shared<OpenedTrace>(std::move(file), std::move(index));
    HG_TRY(trace->ReadTables(has_writer, before));
    return trace;
  }

  Result<std::shared_ptr<const TraceFile>> Renew() const override {
    if (!facts_.being_written && file_.Size() == size_) return shared_from_this();
    return Read(shared_file_, this);
  }

  const std::string& path() const override { return file_.path(); }
  const Facts& facts() const override { return facts_; }
  const std::vector<SegmentInfo>& segments() const override { return index_.segments; }
  const std::vector<Thread>& threads() const override { return tables_.threads; }
  const std::vector<MemoryPoint>& memory() const override { return tables_.memory; }
  const std::vector<Marker>& markers() const override { return tables_.markers; }
  uint32_t stack_count() const override { return tables_.stack_count; }
  uint64_t file_bytes() const override { return size_; }
  const std::vector<std::string>& notes() const override { return notes_; }

  Status ReadSegment(size_t index, uint32_t parts, Segment* out) const override {
    HG_ASSIGN(const ChunkReader chunk, SegmentChunk(index));
    std::unique_ptr<Scratch> scratch = scratches_.Take();
    const Status status =
        DecodeSegment(file_, chunk, index_.segments[index], limits(), parts, scratch.get(), out);
    scratches_.Return(std::move(scratch));
    return status;
  }

  Status ReadSums(size_t index, std::vector<StackSums>* out) const override {
    HG_ASSIGN(const ChunkReader chunk, SegmentChunk(index));
    std::unique_ptr<Scratch> scratch = scratches_.Take();
    const Status status =
        DecodeSegmentSums(file_, chunk, index_.segments[index], limits(), scratch.get(), out);
    scratches_.Return(std::move(scratch));
    return status;
  }

  std::unique_ptr<SurvivorReader> ReadSurvivors() const override {
    if (index_.has_survivors) return std::make_unique<ListedSurvivors>(*this);
    return std::make_unique<FoundSurvivors>(*this);
  }

  Result<std::shared_ptr<const Stacks>> ReadStacks() const override {
    const std::lock_guard lock(stacks_mutex_);
    if (stacks_ != nullptr) return stacks_;
    StackTables tables;
    std::vector<uint8_t> names;
    TableBudget budget(size_);
    const auto read = [&](const ChunkReader& chunk) -> Status {
      if (chunk.type() == ChunkType::kNames) {
        HG_TRY(chunk.Column(file_, 1, budget.plain_bytes(), &names));
        budget.Spend(names.size());
        return {};
      }
      return ReadStackTables(file_, chunk, &budget, &tables);
    };
    HG_TRY(ForEachChunk({ChunkType::kTables, ChunkType::kNames}, read));
    const std::string_view stream(reinterpret_cast<const char*>(names.data()), names.size());
    auto stacks = std::make_shared<Stacks>(MakeStacks(tables, stack_count(), stream, path()));
    Profile& profile = stacks->profile;
    profile.recording = facts_.recording;
    profile.duration_ns = static_cast<int64_t>(facts_.recording.duration_ns);
    if (facts_.recording.start_unix_ns != 0) {
      profile.time_ns = static_cast<int64_t>(facts_.recording.start_unix_ns) + profile.duration_ns;
    }
    profile.notes.insert(profile.notes.begin(), notes_.begin(), notes_.end());
    stacks_ = std::move(stacks);
    return stacks_;
  }

 private:
  SegmentLimits limits() const {
    return {stack_count(), static_cast<uint32_t>(tables_.threads.size())};
  }

  Result<ChunkReader> Chunk(uint64_t offset, ChunkType type) const {
    HG_ASSIGN(ChunkReader chunk, ChunkReader::Read(file_, size_, offset, path()));
    if (chunk.type() != type) return chunk.Damaged("another chunk than the index says");
    return chunk;
  }

  // Chunks of these types, in order. They must not overlap: many that share their bytes would make
  // a small file as much work as a large one.
  template <typename Visit>
  Status ForEachChunk(std::initializer_list<ChunkType> types, const Visit& visit,
                      size_t first = 0) const {
    ChunkPlace at{first, 0};
    for (;;) {
      HG_ASSIGN(const bool any, VisitNextChunk(types, visit, &at));
      if (!any) return {};
    }
  }

  struct ChunkPlace {
    size_t next = 0;   // among the chunks of the index
    uint64_t end = 0;  // of the one before
  };

  // One of those chunks; false if there is none left.
  template <typename Visit>
  Result<bool> VisitNextChunk(std::initializer_list<ChunkType> types, const Visit& visit,
                              ChunkPlace* at) const {
    while (at->next < index_.chunks.size()) {
      const FileIndex::Chunk& entry = index_.chunks[at->next++];
      if (std::find(types.begin(), types.end(), entry.type) == types.end()) continue;
      HG_ASSIGN(const ChunkReader chunk, Chunk(entry.offset, entry.type));
      if (entry.offset < at->end) return chunk.Damaged("it begins within another chunk");
      at->end = chunk.end();
      HG_TRY(visit(chunk));
      return true;
    }
    return false;
  }

  Result<ChunkReader> SegmentChunk(size_t index) const {
    if (index >= index_.segments.size()) {
      return Fail(ErrorCode::kInvalidArgument, "there is no such segment");
    }
    const SegmentInfo& info = index_.segments[index];
    HG_ASSIGN(ChunkReader chunk, Chunk(info.offset, ChunkType::kSegment));
    if (chunk.bytes() != info.bytes) return chunk.Damaged("another segment than the index says");
    return chunk;
  }

  // One chunk at a time.
  class ListedSurvivors final : public SurvivorReader {
   public:
    explicit ListedSurvivors(const OpenedTrace& trace) : trace_(trace) {}

    Result<bool> Next(std::vector<Block>* portion) override {
      portion->clear();
      const auto read = [&](const ChunkReader& chunk) -> Status {
        HG_TRY(DecodeSurvivors(trace_.file_, chunk, trace_.limits(), trace_.blocks(), portion));
        if (portion->empty()) return {};
        if (portion->front().number < least_) return chunk.Damaged("survivors out of order");
        least_ = portion->back().number + 1;
        return {};
      };
      return trace_.VisitNextChunk({ChunkType::kSurvivors}, read, &at_);
    }

   private:
    const OpenedTrace& trace_;
    ChunkPlace at_;
    uint64_t least_ = 0;
  };

  // One bit for each block of the trace, then all segments in order; one segment at a time.
  class FoundSurvivors final : public SurvivorReader {
   public:
    explicit FoundSurvivors(const OpenedTrace& trace) : trace_(trace), dead_(trace.blocks()) {}

    Result<bool> Next(std::vector<Block>* portion) override {
      portion->clear();
      const size_t count = trace_.segments().size();
      if (step_ == 2 * count) return false;
      const size_t step = step_++;
      if (step < count) {
        HG_TRY(trace_.ReadSegment(step, kOldBlocks, &segment_));
        for (const Block& block : segment_.blocks) dead_.Mark(block.number);
        return true;
      }
      HG_TRY(trace_.ReadSegment(step - count, kNewBlocks | kAddresses | kDetails, &segment_));
      for (const Block& block : segment_.blocks) {
        if (block.is_live() && !dead_.IsMarked(block.number)) portion->push_back(block);
      }
      return true;
    }

   private:
    const OpenedTrace& trace_;
    MarkedBlocks dead_;
    Segment segment_;
    size_t step_ = 0;  // the next one
  };

  const std::shared_ptr<const File> shared_file_;  // with what it is renewed to
  const File& file_;
  const uint64_t size_;
  FileIndex index_;
  Facts facts_;
  PlainTables tables_;
  std::vector<std::string> notes_;
  uint64_t table_bytes_ = 0;  // that were read for them
  mutable ScratchPool scratches_;
  mutable std::mutex stacks_mutex_;
  mutable std::shared_ptr<const Stacks> stacks_;
};

}  // namespace

bool IsTrace(std::string_view start) {
  return start.substr(0, sizeof kTraceMagic) == std::string_view(kTraceMagic, sizeof kTraceMagic);
}

Result<std::shared_ptr<const TraceFile>> TraceFile::Open(const std::string& path) {
  HG_ASSIGN(File file, File::OpenForReading(path));
  return OpenedTrace::Read(std::make_shared<const File>(std::move(file)), nullptr);
}

uint64_t TraceFile::events() const {
  return segments().empty() ? 0 : segments().back().first_event + segments().back().events;
}

uint64_t TraceFile::blocks() const {
  return segments().empty() ? 0 : segments().back().first_block + segments().back().births;
}

uint64_t TraceFile::end_ns() const {
  const uint64_t last = segments().empty() ? 0 : segments().back().end_ns;
  return std::max(last, facts().recording.duration_ns);
}

Status TraceFile::ForEachSurvivor(const std::function<void(const Block&)>& visit) const {
  const std::unique_ptr<SurvivorReader> reader = ReadSurvivors();
  std::vector<Block> portion;
  for (;;) {
    HG_ASSIGN(const bool any, reader->Next(&portion));
    if (!any) return {};
    for (const Block& block : portion) visit(block);
  }
}

namespace {

// All of the file.
struct flock LockOf(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

bool LockAsWriter(int fd) {
  struct flock lock = LockOf(F_WRLCK);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool HasWriter(int fd) {
  struct flock lock = LockOf(F_RDLCK);
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace heapgauge::trace
