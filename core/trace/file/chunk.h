// Chunks, of which a trace file is a sequence, and how the columns in them are compressed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"

struct ZSTD_CCtx_s;

namespace heapgauge::trace {

// Compresses columns while a program is being traced, so quickly rather than small. Of most columns
// the savings are in sequences of bytes that repeat; but some, as times, have none, and there to
// look for them is most of the work. So each column is remembered by what it gained: where that was
// little, only the frequencies of its bytes are made use of for a while, which takes half as long.
//
// One thread. Both are plain zstd to whoever reads them.
class ColumnPacker {
 public:
  ColumnPacker();
  ~ColumnPacker();

  // There was no memory.
  bool failed() const { return by_repeats_ == nullptr || by_frequency_ == nullptr; }
  // The most bytes that Pack may write.
  static size_t Bound(size_t bytes);
  // Packs `bytes` into `out`, of Bound() bytes; how many were written, 0 if they would not be
  // fewer. `column` is any small number, the same for what is alike. REQUIRES: not failed().
  size_t Pack(uint32_t column, std::span<const uint8_t> bytes, uint8_t* out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  using Context = std::unique_ptr<ZSTD_CCtx_s, Free>;

  Context by_repeats_;
  Context by_frequency_;
  // Of each column, how often it is to be packed by frequency before repeats are looked for again.
  std::vector<uint8_t> not_looked_for_;
};

}  // namespace heapgauge::trace

struct ZSTD_DCtx_s;

namespace heapgauge::trace {

inline constexpr char kTraceMagic[8] = {'H', 'G', 'T', 'R', 'A', 'C', 'E', '\n'};
inline constexpr uint32_t kTraceVersion = 2;

// At the start of the file.
struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t reserved[2];
};
static_assert(sizeof(FileHeader) == 32);

// At the very end of a file that was finished.
struct FileTrailer {
  uint64_t index_offset;
  uint64_t magic;
};
static_assert(sizeof(FileTrailer) == 16);
inline constexpr uint64_t kTrailerMagic = 0x0a444e4554474831;

enum class ChunkType : uint16_t {
  kFacts = 1,
  kTables = 2,
  kSegment = 3,
  kSurvivors = 4,
  kNames = 5,
  kIndex = 6,
};

// Chunks, of which a trace file is a sequence: each says what it is and how long, and holds columns
// that are compressed and checked by themselves, so that a reader takes what it needs and skips the
// rest. docs/formats/trace.md has the bytes.
//
// ChunkMaker: one thread. ChunkReader: plain data, reads through the source it is given.
struct ChunkHeader {
  uint32_t magic;
  uint16_t type;
  uint16_t columns;
  uint64_t bytes;  // behind this header: column entries, then columns
  uint32_t check;  // of this header with 0 here, and the column entries
  uint32_t reserved;
};
static_assert(sizeof(ChunkHeader) == 24);
inline constexpr uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"

enum class Coding : uint16_t {
  kPlain = 0,
  kZstd = 1,
  kRepeated = 2,  // one byte, `plain` times
};

struct ColumnEntry {
  uint16_t id;
  uint16_t coding;  // Coding
  uint32_t stored;  // bytes in the file
  uint32_t plain;   // bytes that they stand for
  uint32_t check;   // of the stored bytes
};
static_assert(sizeof(ColumnEntry) == 16);

// A checksum against damage, not against malice.
uint32_t Checksum(std::span<const uint8_t> bytes, uint64_t seed = 0);

// Bytes that are written before they are read, and so need no zeros.
class ColumnBuffer {
 public:
  // What was there is lost if it grows.
  void Resize(size_t size) {
    if (size > capacity_) {
      bytes_.reset(new uint8_t[size]);
      capacity_ = size;
    }
    size_ = size;
  }
  // What was there stays.
  void Extend(size_t size) {
    if (size > capacity_) {
      const size_t capacity = size + size / 2;
      std::unique_ptr<uint8_t[]> larger(new uint8_t[capacity]);
      std::copy_n(bytes_.get(), size_, larger.get());
      bytes_ = std::move(larger);
      capacity_ = capacity;
    }
    size_ = size;
  }
  uint8_t* data() { return bytes_.get(); }
  size_t size() const { return size_; }
  std::span<const uint8_t> bytes() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

class ChunkMaker {
 public:
  void Begin(ChunkType type);
  // An empty column is left out.
  void Add(uint16_t id, std::span<const uint8_t> bytes, bool compress = true);
  // The whole chunk, valid until the next Begin; empty if something went wrong.
  std::span<const uint8_t> Finish();

 private:
  ColumnPacker packer_;
  ChunkType type_ = ChunkType::kFacts;
  std::vector<ColumnEntry> entries_;
  ColumnBuffer chunk_;  // room for header and entries, then columns
  bool failed_ = false;
};

// A context of zstd and a buffer, for one column after the other.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

 private:
  friend class ChunkReader;
  ZSTD_DCtx_s* context_;
  ColumnBuffer stored_;
};

class ChunkReader {
 public:
  // Reads and checks the header at `offset` and the column entries. kTruncated: the file ends
  // within the chunk. `name` is that of the file, for messages.
  static Result<ChunkReader> Read(const ByteSource& source, uint64_t size, uint64_t offset,
                                  const std::string& name);

  ChunkType type() const { return static_cast<ChunkType>(header_.type); }
  uint64_t offset() const { return offset_; }
  uint64_t bytes() const { return sizeof(ChunkHeader) + header_.bytes; }  // header included
  uint64_t end() const { return offset_ + bytes(); }

  bool has(uint16_t id) const;
  // The plain bytes of a column, none if the chunk does not have it. Fails if they are more than
  // `limit`.
  Status Column(const ByteSource& source, uint16_t id, size_t limit, Decompressor* decompressor,
                ColumnBuffer* out) const;
  Status Column(const ByteSource& source, uint16_t id, size_t limit,
                std::vector<uint8_t>* out) const;
  // Whether the stored bytes of all columns fit their checksums. `room` is for them.
  Status Check(const ByteSource& source, std::vector<uint8_t>* room) const;
  const std::vector<ColumnEntry>& columns() const { return entries_; }

  // An Error that names this chunk.
  tl::unexpected<Error> Damaged(const std::string& what) const;

 private:
  std::string name_;
  uint64_t offset_ = 0;
  ChunkHeader header_{};
  std::vector<ColumnEntry> entries_;
};

}  // namespace heapgauge::trace
