#include "core/trace/record/trace_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/text.h"
#include "core/gauge/gauge_names.h"
#include "core/trace/file/file_index.h"
#include "core/trace/file/segment_columns.h"
#include "core/trace/file/survivor_codec.h"
#include "core/trace/file/tables.h"
#include "core/trace/file/trace_facts.h"
#include "core/trace/file/trace_file.h"
#include "core/trace/record/segment_encoder.h"
#include "wire/gauge_format.h"

namespace heapgauge::trace {

FunctionId FrameNames::FunctionOf(const FrameName& frame) {
  const std::string key = frame.function + '\0' + frame.file;
  const auto next = static_cast<FunctionId>(named_.functions.size());
  const auto [it, added] = functions_.try_emplace(key, next);
  if (added) {
    Function function;
    function.name = frame.function;
    function.file = frame.file;
    named_.functions.push_back(std::move(function));
  }
  return it->second;
}

void FrameNames::Add(uint64_t pc_module, bool exact, const std::vector<FrameName>& frames) {
  if (frames.empty() || !addresses_[exact ? 1 : 0].insert(pc_module).second) return;
  Location location;
  location.address = wire::NodePc(pc_module);
  location.module = wire::NodeModule(pc_module) - 1;  // 0 becomes kNone
  location.exact = exact;
  location.first_frame = static_cast<uint32_t>(named_.frames.size());
  location.frame_count = static_cast<uint32_t>(frames.size());
  bool lines = false;
  for (size_t i = 0; i < frames.size(); ++i) {
    lines |= frames[i].line != 0;
    named_.frames.push_back({FunctionOf(frames[i]), frames[i].line, i + 1 < frames.size()});
  }
  if (location.module != kNone) {
    if (location.module >= named_.modules.size()) named_.modules.resize(location.module + 1);
    named_.modules[location.module].has_functions = true;
    named_.modules[location.module].NoteLines(lines);
  }
  named_.locations.push_back(location);
}

Result<std::string> FrameNames::Encode() const { return EncodeNames(named_); }

namespace {

class Writer final : public TraceWriter {
 public:
  Writer(int fd, std::string path, const Options& options)
      : fd_(fd),
        path_(std::move(path)),
        segment_events_(std::clamp(options.segment_events, uint32_t{1}, kMaxSegmentEvents)) {}
  ~Writer() override { close(fd_); }

  void Begin(const Facts& facts) {
    FileHeader header{};
    std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
    header.version = kTraceVersion;
    header.header_bytes = sizeof header;
    Write({reinterpret_cast<const uint8_t*>(&header), sizeof header});
    WriteFacts(facts, false);
  }

  void AddModule(uint32_t index, const wire::ModuleRecord& module) override {
    tables_.AddModule(index, module);
  }
  void AddNode(uint32_t index, const wire::NodeRecord& node) override {
    tables_.AddNode(index, node);
  }
  void AddStack(uint32_t index, uint32_t leaf_node, uint16_t labels, uint16_t flags) override {
    tables_.AddStack(index, {leaf_node, labels, flags});
  }
  void AddLabelSet(uint32_t index, const wire::LabelRecord& record) override {
    tables_.AddLabelSet(index, record);
  }
  void AddFrames(uint64_t pc_module, bool exact, const std::vector<FrameName>& frames) override {
    names_.Add(pc_module, exact, frames);
  }
  void SetThread(uint32_t index, const Thread& thread) override {
    tables_.SetThread(index, thread);
  }
  void AddMemory(const MemoryPoint& point) override { tables_.AddMemory(point); }
  void AddMarker(const Marker& marker) override { tables_.AddMarker(marker); }

  // Every event goes through one of these: without a call within.
  [[gnu::flatten]] void Born(const Birth& block) override {
    segment_.Born(block);
    WriteIfFull();
  }
  [[gnu::flatten]] void Died(const Birth& block, const Death& death) override {
    segment_.Died(block, death);
    WriteIfFull();
  }
  [[gnu::flatten]] void Resized(const Birth& old, const Death& death, const Birth& block) override {
    segment_.Resized(old, death, block);
    WriteIfFull();
  }
  bool Expect(std::span<const uint32_t> stacks) override { return segment_.Expect(stacks); }

  Status Flush() override {
    WriteSegment();
    return status_;
  }

  Status TellSoFar(const Facts& facts) override {
    WriteFacts(facts, false);
    return status_;
  }

  void BeginSurvivors() override { index_.has_survivors = true; }
  void AddSurvivor(const Block& block) override {
    survivors_.push_back(block);
    if (survivors_.size() == kMaxSurvivors) WriteSurvivors();
  }

  Status Finish(const Facts& ended) override {
    WriteSegment();
    WriteSurvivors();
    if (!names_.empty()) {
      Result<std::string> names = names_.Encode();
      if (!names) return tl::unexpected<Error>(names.error());
      chunk_.Begin(ChunkType::kNames);
      chunk_.Add(1, {reinterpret_cast<const uint8_t*>(names->data()), names->size()}, false);
      WriteChunk(ChunkType::kNames, chunk_.Finish());
    }
    WriteFacts(ended, true);
    const uint64_t offset = written_;
    Write(EncodeIndex(index_, &chunk_));
    const FileTrailer trailer{offset, kTrailerMagic};
    Write({reinterpret_cast<const uint8_t*>(&trailer), sizeof trailer});
    return status_;
  }

  uint64_t bytes_written() const override { return written_; }

  Totals totals() const override {
    const SegmentInfo now = segment_.info();
    Totals totals;
    totals.events = now.first_event + now.events;
    totals.blocks = now.first_block + now.births;
    totals.live_blocks = now.live_blocks_after;
    totals.live_bytes = now.live_bytes_after;
    const bool is_higher = now.peak_bytes > peak_bytes_;
    totals.peak_bytes = is_higher ? now.peak_bytes : peak_bytes_;
    totals.peak_ns = is_higher ? now.peak_ns : peak_ns_;
    return totals;
  }

 private:
  void Write(std::span<const uint8_t> bytes) {
    if (bytes.empty() && status_) status_ = Fail(ErrorCode::kIo, "cannot compress the trace");
    while (status_ && !bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        const int error = n < 0 ? errno : EIO;
        status_ = tl::unexpected<Error>(
            SystemError("cannot write the trace to '" + Printable(path_) + "'", error));
        return;
      }
      written_ += static_cast<uint64_t>(n);
      bytes = bytes.subspan(static_cast<size_t>(n));
    }
  }

  void WriteChunk(ChunkType type, std::span<const uint8_t> bytes) {
    index_.chunks.push_back({type, written_});
    Write(bytes);
  }

  void WriteFacts(Facts facts, bool complete) {
    facts.complete = complete;
    ColumnWriter column;
    EncodeFacts(facts, &column);
    column.Byte(0);  // so that it is never empty: field 0 of no bytes
    column.Byte(0);
    chunk_.Begin(ChunkType::kFacts);
    chunk_.Add(1, column.bytes());
    WriteChunk(ChunkType::kFacts, chunk_.Finish());
  }

  void WriteIfFull() {
    if (segment_.events() >= segment_events_) WriteSegment();
  }

  // Readers may rely on it that tables have whatever events name.
  void WriteTables() {
    if (segment_.events() != 0) {
      if (segment_.highest_stack() >= tables_.stack_count()) {
        tables_.AddStack(segment_.highest_stack(), {});
      }
      if (segment_.highest_thread() >= tables_.thread_count()) {
        tables_.SetThread(segment_.highest_thread(), {});
      }
    }
    if (!tables_.pending()) return;
    chunk_.Begin(ChunkType::kTables);
    tables_.Encode(&chunk_);
    WriteChunk(ChunkType::kTables, chunk_.Finish());
  }

  [[gnu::noinline]] void WriteSegment() {
    WriteTables();
    if (segment_.events() == 0) return;
    SegmentInfo info;
    const std::span<const uint8_t> bytes = segment_.Encode(&chunk_, &info);
    info.offset = written_;
    index_.segments.push_back(info);
    if (info.peak_bytes > peak_bytes_) {
      peak_bytes_ = info.peak_bytes;
      peak_ns_ = info.peak_ns;
    }
    Write(bytes);
  }

  void WriteSurvivors() {
    if (survivors_.empty()) return;
    WriteChunk(ChunkType::kSurvivors, EncodeSurvivors(survivors_, &chunk_));
    survivors_.clear();
  }

  const int fd_;
  const std::string path_;
  const uint32_t segment_events_;
  ChunkMaker chunk_;
  TableWriter tables_;
  FrameNames names_;
  SegmentEncoder segment_;
  std::vector<Block> survivors_;
  FileIndex index_;
  uint64_t written_ = 0;
  uint64_t peak_bytes_ = 0;  // of the segments that were written
  uint64_t peak_ns_ = 0;
  Status status_;
};

// What was begun in vain; no device, and nothing that has taken its name since.
void RemoveIfFile(int fd, const std::string& path) {
  struct stat ours {};
  struct stat named {};
  if (fstat(fd, &ours) != 0 || lstat(path.c_str(), &named) != 0) return;
  if (!S_ISREG(named.st_mode) || named.st_dev != ours.st_dev || named.st_ino != ours.st_ino) return;
  unlink(path.c_str());
}

}  // namespace

Result<std::unique_ptr<TraceWriter>> TraceWriter::Create(const std::string& path,
                                                         const Facts& facts, const Options& options,
                                                         bool replace) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (replace ? 0 : O_EXCL);
  const int fd = open(path.c_str(), flags, 0600);
  if (fd < 0) {
    return tl::unexpected<Error>(
        SystemError("cannot create the trace '" + Printable(path) + "'", errno));
  }
  auto writer = std::make_unique<Writer>(fd, path, options);
  if (!LockAsWriter(fd)) {
    return Fail(ErrorCode::kUnavailable,
                "the trace '" + Printable(path) +
                    "' is being written by another recorder: give this one "
                    "another name (-o)");
  }
  // What is no file has no length.
  if (replace && ftruncate(fd, 0) != 0 && errno != EINVAL) {
    return tl::unexpected<Error>(
        SystemError("cannot replace the trace '" + Printable(path) + "'", errno));
  }
  writer->Begin(facts);
  if (const Status status = writer->Flush(); !status) {
    RemoveIfFile(fd, path);
    return tl::unexpected<Error>(status.error());
  }
  return writer;
}

}  // namespace heapgauge::trace
