#include "core/trace/file/file_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/text.h"
#include "core/trace/file/column.h"
#include "core/trace/file/segment_columns.h"
#include "core/trace/file/trace_facts.h"

namespace heapgauge::trace {
namespace {

constexpr size_t kMaxInfoBytes = 256;

// Checks each number against its limit, and remembers if one did not fit.
class Checked {
 public:
  uint32_t Below(uint64_t value, uint64_t limit) {
    ok_ &= value < limit;
    return static_cast<uint32_t>(value);
  }
  bool ok() const { return ok_; }
  void Require(bool holds) { ok_ &= holds; }

 private:
  bool ok_ = true;
};

}  // namespace

void EncodeInfo(const SegmentInfo& i, ColumnWriter* out) {
  for (const uint64_t v :
       {i.first_event, i.first_block, uint64_t{i.events}, uint64_t{i.births}, uint64_t{i.deaths},
        uint64_t{i.old_deaths}, i.oldest_birth + 1, i.begin_ns, i.end_ns, i.live_bytes_before,
        i.live_blocks_before, i.live_bytes_after, i.live_blocks_after, i.peak_bytes,
        uint64_t{i.peak_event}, i.peak_ns - i.begin_ns}) {
    out->Number(v);
  }
}

bool DecodeInfo(ColumnReader* in, SegmentInfo* i) {
  Checked checked;
  constexpr uint64_t kLimit = kLatestNs;
  i->first_event = in->Number();
  i->first_block = in->Number();
  checked.Require(i->first_event < kLimit && i->first_block < kLimit);
  i->events = checked.Below(in->Number(), kMaxSegmentEvents + 1);
  i->births = checked.Below(in->Number(), uint64_t{i->events} + 1);
  i->deaths = checked.Below(in->Number(), uint64_t{i->events} + 1);
  i->old_deaths = checked.Below(in->Number(), uint64_t{i->deaths} + 1);
  checked.Require(uint64_t{i->births} + i->deaths >= i->events);
  i->oldest_birth = in->Number() - 1;
  i->begin_ns = in->Number();
  i->end_ns = in->Number();
  checked.Require(i->begin_ns <= i->end_ns && i->end_ns < kLimit);
  i->live_bytes_before = in->Number();
  i->live_blocks_before = in->Number();
  i->live_bytes_after = in->Number();
  i->live_blocks_after = in->Number();
  i->peak_bytes = in->Number();
  i->peak_event = checked.Below(in->Number(), std::max<uint64_t>(i->events, 1));
  i->peak_ns = i->begin_ns + in->Number();
  checked.Require(i->begin_ns <= i->peak_ns && i->peak_ns <= i->end_ns);
  return in->ok() && checked.ok();
}

Result<SegmentInfo> ReadSegmentInfo(const ByteSource& source, const ChunkReader& chunk) {
  std::vector<uint8_t> bytes;
  HG_TRY(chunk.Column(source, kInfoColumn, kMaxInfoBytes, &bytes));
  ColumnReader in(bytes);
  SegmentInfo info;
  if (!DecodeInfo(&in, &info)) return chunk.Damaged("bad figures of a segment");
  info.offset = chunk.offset();
  info.bytes = chunk.bytes();
  return info;
}

namespace {

enum IndexColumn : uint16_t { kChunks = 1, kSegments = 2, kFlags = 3 };
constexpr uint64_t kHasSurvivors = 1;
constexpr size_t kMaxIndexBytes = 1 << 30;

// Segments follow each other without gaps.
bool Follows(const FileIndex& index, const SegmentInfo& next) {
  if (index.segments.empty()) return next.first_event == 0 && next.first_block == 0;
  const SegmentInfo& last = index.segments.back();
  return next.first_event == last.first_event + last.events &&
         next.first_block == last.first_block + last.births && next.begin_ns >= last.end_ns;
}

bool DecodeIndex(ColumnReader chunks, ColumnReader segments, ColumnReader flags, uint64_t size,
                 FileIndex* out) {
  uint64_t offset = 0;
  while (chunks.left() != 0) {
    const uint64_t type = chunks.Number();
    const uint64_t step = chunks.Number();
    if (!chunks.ok() || step == 0 || step >= size - offset) return false;
    offset += step;
    out->chunks.push_back({static_cast<ChunkType>(type), offset});
  }
  offset = 0;
  while (segments.left() != 0) {
    SegmentInfo info;
    const uint64_t step = segments.Number();
    const uint64_t least = out->segments.empty() ? 1 : out->segments.back().bytes;
    if (step < least || step >= size - offset) return false;
    offset += step;
    info.offset = offset;
    info.bytes = segments.Number();
    if (!DecodeInfo(&segments, &info) || info.bytes < sizeof(ChunkHeader) ||
        info.bytes > size - offset || !Follows(*out, info)) {
      return false;
    }
    out->segments.push_back(info);
  }
  out->has_survivors = (flags.Number() & kHasSurvivors) != 0;
  out->finished = true;
  return flags.ok();
}

// What the end of the file tells, if it does.
bool ReadWritten(const ByteSource& source, uint64_t size, const std::string& name, FileIndex* out) {
  FileTrailer trailer{};
  if (size < sizeof(FileHeader) + sizeof trailer ||
      source.ReadAt(size - sizeof trailer, &trailer, sizeof trailer) != sizeof trailer ||
      trailer.magic != kTrailerMagic) {
    return false;
  }
  const Result<ChunkReader> chunk = ChunkReader::Read(source, size, trailer.index_offset, name);
  if (!chunk || chunk->type() != ChunkType::kIndex) return false;
  std::vector<uint8_t> chunks;
  std::vector<uint8_t> segments;
  std::vector<uint8_t> flags;
  const auto limit = static_cast<size_t>(std::min<uint64_t>(kMaxIndexBytes, size * 64));
  if (!chunk->Column(source, kChunks, limit, &chunks) ||
      !chunk->Column(source, kSegments, limit, &segments) ||
      !chunk->Column(source, kFlags, limit, &flags)) {
    return false;
  }
  return DecodeIndex(ColumnReader(chunks), ColumnReader(segments), ColumnReader(flags), size, out);
}

// Goes on from where `out` ends.
void Scan(const ByteSource& source, uint64_t size, const std::string& name, bool growing,
          FileIndex* out) {
  out->end = std::max<uint64_t>(out->end, sizeof(FileHeader));
  while (out->end < size) {
    const uint64_t offset = out->end;
    const Result<ChunkReader> chunk = ChunkReader::Read(source, size, offset, name);
    if (!chunk) {
      if (growing) break;
      // The trailer of a file that was finished and then damaged elsewhere is no chunk either.
      if (size - offset > sizeof(FileTrailer)) {
        out->notes.push_back(fmt::format(
            "the trace is not whole: {} bytes from byte {} on cannot be read; what is before is "
            "shown",
            size - offset, offset));
      }
      break;
    }
    if (chunk->type() != ChunkType::kSegment) {
      out->end = chunk->end();
      if (chunk->type() != ChunkType::kIndex) {
        out->chunks.push_back({chunk->type(), chunk->offset()});
      }
      continue;
    }
    const Result<SegmentInfo> info = ReadSegmentInfo(source, *chunk);
    if (!info || !Follows(*out, *info)) {
      out->notes.push_back(
          fmt::format("the trace is damaged at byte {}; what is before is shown", chunk->offset()));
      break;
    }
    out->end = chunk->end();
    out->segments.push_back(*info);
  }
}

// The last segment that is known is where it was: the file is the same, and has only grown.
bool HasGrown(const ByteSource& source, uint64_t size, const std::string& name,
              const FileIndex& known) {
  if (known.finished || size < known.end) return false;
  if (known.segments.empty()) return true;
  const SegmentInfo& last = known.segments.back();
  const Result<ChunkReader> chunk = ChunkReader::Read(source, size, last.offset, name);
  if (!chunk || chunk->type() != ChunkType::kSegment || chunk->bytes() != last.bytes) return false;
  const Result<SegmentInfo> info = ReadSegmentInfo(source, *chunk);
  return info && info->first_event == last.first_event && info->events == last.events &&
         info->begin_ns == last.begin_ns && info->end_ns == last.end_ns;
}

}  // namespace

std::span<const uint8_t> EncodeIndex(const FileIndex& index, ChunkMaker* chunk) {
  ColumnWriter chunks;
  ColumnWriter segments;
  ColumnWriter flags;
  uint64_t last = 0;
  for (const FileIndex::Chunk& c : index.chunks) {
    chunks.Number(static_cast<uint64_t>(c.type));
    chunks.Number(c.offset - last);
    last = c.offset;
  }
  last = 0;
  for (const SegmentInfo& info : index.segments) {
    segments.Number(info.offset - last);
    last = info.offset;
    segments.Number(info.bytes);
    EncodeInfo(info, &segments);
  }
  flags.Number(index.has_survivors ? kHasSurvivors : 0);
  chunk->Begin(ChunkType::kIndex);
  chunk->Add(kChunks, chunks.bytes());
  chunk->Add(kSegments, segments.bytes());
  chunk->Add(kFlags, flags.bytes());
  return chunk->Finish();
}

bool IsContinuedBy(const FileIndex& index, const FileIndex& next) {
  const auto same_chunk = [](const FileIndex::Chunk& a, const FileIndex::Chunk& b) {
    return a.type == b.type && a.offset == b.offset;
  };
  const auto same_segment = [](const SegmentInfo& a, const SegmentInfo& b) {
    return a.offset == b.offset && a.bytes == b.bytes && a.first_event == b.first_event &&
           a.events == b.events;
  };
  return index.chunks.size() <= next.chunks.size() &&
         index.segments.size() <= next.segments.size() &&
         std::equal(index.chunks.begin(), index.chunks.end(), next.chunks.begin(), same_chunk) &&
         std::equal(index.segments.begin(), index.segments.end(), next.segments.begin(),
                    same_segment);
}

Result<FileIndex> ReadIndex(const ByteSource& source, const std::string& name, bool growing,
                            const FileIndex* known) {
  FileHeader header{};
  const uint64_t size = source.Size();
  const size_t got = source.ReadAt(0, &header, sizeof header);
  if (got < sizeof header.magic ||
      std::memcmp(header.magic, kTraceMagic, sizeof kTraceMagic) != 0) {
    return Fail(ErrorCode::kNotRecognized, "'" + Printable(name) + "' is not a trace", 0);
  }
  if (got < sizeof header) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(name) + "' ends within its header", got);
  }
  if (header.version != kTraceVersion || header.header_bytes != sizeof header) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("'{}' is a trace of version {}, this program reads version {}",
                            Printable(name), header.version, kTraceVersion),
                8);
  }
  FileIndex index;
  if (ReadWritten(source, size, name, &index)) return index;
  index = {};
  if (known != nullptr && HasGrown(source, size, name, *known)) {
    index = *known;
    index.notes.clear();
  }
  Scan(source, size, name, growing, &index);
  return index;
}

}  // namespace heapgauge::trace
