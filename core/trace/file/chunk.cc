#include "core/trace/file/chunk.h"

#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_c_literalCompressionMode; no more is linked by it
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/text.h"

namespace heapgauge::trace {
namespace {

constexpr int kLevel = 1;
// Looks for a repeat here and there; zstd would leave frequencies alone at this level, if not told.
constexpr int kLevelOfFrequency = -100;
// Repeats are worth to be looked for where less than this share is left.
constexpr double kWorthIt = 0.3;
// In a smaller column, a share is chance.
constexpr size_t kLeastBytes = 4096;
constexpr uint8_t kTimesWithout = 15;

}  // namespace

void ColumnPacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

ColumnPacker::ColumnPacker() : by_repeats_(ZSTD_createCCtx()), by_frequency_(ZSTD_createCCtx()) {
  if (failed()) return;
  ZSTD_CCtx_setParameter(by_repeats_.get(), ZSTD_c_compressionLevel, kLevel);
  // A library that does not know the second parameter any more packs less, and all can be read.
  ZSTD_CCtx_setParameter(by_frequency_.get(), ZSTD_c_compressionLevel, kLevelOfFrequency);
  ZSTD_CCtx_setParameter(by_frequency_.get(), ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
}
ColumnPacker::~ColumnPacker() = default;

size_t ColumnPacker::Bound(size_t bytes) { return ZSTD_compressBound(bytes); }

size_t ColumnPacker::Pack(uint32_t column, std::span<const uint8_t> bytes, uint8_t* out) {
  if (column >= not_looked_for_.size()) not_looked_for_.resize(column + 1);
  uint8_t& without = not_looked_for_[column];
  const bool looks = without == 0;
  if (!looks) --without;
  const size_t length = ZSTD_compress2(looks ? by_repeats_.get() : by_frequency_.get(), out,
                                       Bound(bytes.size()), bytes.data(), bytes.size());
  if (ZSTD_isError(length) != 0) return 0;
  const double share = static_cast<double>(length) / static_cast<double>(bytes.size());
  if (looks && bytes.size() >= kLeastBytes && share > kWorthIt) without = kTimesWithout;
  return length < bytes.size() ? length : 0;
}

namespace {

constexpr uint16_t kMaxColumns = 64;
// In front of the columns of a chunk that is being made.
constexpr size_t kRoom = sizeof(ChunkHeader) + kMaxColumns * sizeof(ColumnEntry);
// Shorter columns cost more to compress than they have to give.
constexpr size_t kWorthCompressing = 32;

constexpr uint64_t kPrime1 = 0x9e3779b185ebca87;
constexpr uint64_t kPrime2 = 0xc2b2ae3d27d4eb4f;

uint64_t Word(const uint8_t* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}
uint64_t Mix(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

uint32_t HeaderCheck(const ChunkHeader& header, std::span<const ColumnEntry> entries) {
  ChunkHeader plain = header;
  plain.check = 0;
  const uint32_t first = Checksum({reinterpret_cast<const uint8_t*>(&plain), sizeof plain});
  return Checksum({reinterpret_cast<const uint8_t*>(entries.data()), entries.size_bytes()}, first);
}

bool IsRepeated(std::span<const uint8_t> bytes) {
  return bytes.size() > 1 && bytes[0] == bytes.back() &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

uint32_t Checksum(std::span<const uint8_t> bytes, uint64_t seed) {
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  uint64_t lanes[4] = {seed + kPrime1, seed ^ kPrime2, seed, seed - kPrime1};
  for (; left >= 32; left -= 32, at += 32) {
    for (size_t i = 0; i < 4; ++i) lanes[i] = Mix(lanes[i], Word(at + 8 * i));
  }
  uint64_t sum = bytes.size();
  for (const uint64_t lane : lanes) sum = Mix(sum, lane);
  for (; left >= 8; left -= 8, at += 8) sum = Mix(sum, Word(at));
  if (left != 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, left);
    sum = Mix(sum, word);
  }
  sum ^= sum >> 29;
  sum *= kPrime2;
  return static_cast<uint32_t>(sum >> 32);
}

void ChunkMaker::Begin(ChunkType type) {
  type_ = type;
  entries_.clear();
  chunk_.Resize(kRoom);
  failed_ = packer_.failed();
}

void ChunkMaker::Add(uint16_t id, std::span<const uint8_t> bytes, bool compress) {
  if (bytes.empty() || failed_) return;
  if (bytes.size() > UINT32_MAX || entries_.size() == kMaxColumns) {
    failed_ = true;
    return;
  }
  ColumnEntry entry{};
  entry.id = id;
  entry.plain = static_cast<uint32_t>(bytes.size());
  const size_t start = chunk_.size();
  size_t stored = 0;
  if (IsRepeated(bytes)) {
    entry.coding = static_cast<uint16_t>(Coding::kRepeated);
    stored = 1;
  } else if (compress && bytes.size() >= kWorthCompressing) {
    chunk_.Extend(start + ColumnPacker::Bound(bytes.size()));
    const uint32_t column = static_cast<uint32_t>(type_) * kMaxColumns + id;
    stored = packer_.Pack(column, bytes, chunk_.data() + start);
    if (stored != 0) entry.coding = static_cast<uint16_t>(Coding::kZstd);
  }
  if (entry.coding != static_cast<uint16_t>(Coding::kZstd)) {
    if (stored == 0) stored = bytes.size();
    chunk_.Extend(start + stored);
    std::copy_n(bytes.data(), stored, chunk_.data() + start);
  }
  chunk_.Extend(start + stored);
  entry.stored = static_cast<uint32_t>(stored);
  entry.check = Checksum({chunk_.data() + start, stored});
  entries_.push_back(entry);
}

std::span<const uint8_t> ChunkMaker::Finish() {
  if (failed_) return {};
  const size_t entry_bytes = entries_.size() * sizeof(ColumnEntry);
  ChunkHeader header{};
  header.magic = kChunkMagic;
  header.type = static_cast<uint16_t>(type_);
  header.columns = static_cast<uint16_t>(entries_.size());
  header.bytes = entry_bytes + chunk_.size() - kRoom;
  header.check = HeaderCheck(header, entries_);
  const size_t start = kRoom - entry_bytes - sizeof header;
  std::memcpy(chunk_.data() + start, &header, sizeof header);
  if (entry_bytes != 0) {
    std::memcpy(chunk_.data() + start + sizeof header, entries_.data(), entry_bytes);
  }
  return chunk_.bytes().subspan(start);
}

tl::unexpected<Error> ChunkReader::Damaged(const std::string& what) const {
  return Fail(ErrorCode::kCorrupt,
              fmt::format("'{}' is damaged at byte {}: {}", Printable(name_), offset_, what),
              offset_);
}

Result<ChunkReader> ChunkReader::Read(const ByteSource& source, uint64_t size, uint64_t offset,
                                      const std::string& name) {
  ChunkReader chunk;
  chunk.name_ = name;
  chunk.offset_ = offset;
  const auto cut = [&] {
    return Fail(ErrorCode::kTruncated,
                fmt::format("'{}' ends within what begins at byte {}", Printable(name), offset),
                offset);
  };
  ChunkHeader& header = chunk.header_;
  if (offset > size || size - offset < sizeof header ||
      source.ReadAt(offset, &header, sizeof header) != sizeof header) {
    return cut();
  }
  if (header.magic != kChunkMagic) return chunk.Damaged("there is no chunk of a trace");
  if (header.columns > kMaxColumns) return chunk.Damaged("too many columns");
  const size_t entry_bytes = header.columns * sizeof(ColumnEntry);
  if (header.bytes > size - offset - sizeof header) return cut();
  if (header.bytes < entry_bytes) return chunk.Damaged("its length makes no sense");
  chunk.entries_.resize(header.columns);
  if (source.ReadAt(offset + sizeof header, chunk.entries_.data(), entry_bytes) != entry_bytes) {
    return cut();
  }
  if (header.check != HeaderCheck(header, chunk.entries_)) {
    return chunk.Damaged("its header does not fit its checksum");
  }
  uint64_t stored = entry_bytes;
  for (const ColumnEntry& entry : chunk.entries_) stored += entry.stored;
  if (stored != header.bytes) return chunk.Damaged("its columns do not fit its length");
  return chunk;
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {}
Decompressor::~Decompressor() { ZSTD_freeDCtx(context_); }

bool ChunkReader::has(uint16_t id) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const ColumnEntry& entry) { return entry.id == id; });
}

Status ChunkReader::Check(const ByteSource& source, std::vector<uint8_t>* room) const {
  uint64_t at = offset_ + sizeof header_ + entries_.size() * sizeof(ColumnEntry);
  for (const ColumnEntry& entry : entries_) {
    room->resize(entry.stored);
    if (source.ReadAt(at, room->data(), room->size()) != room->size() ||
        Checksum(*room) != entry.check) {
      return Damaged(fmt::format("column {} does not fit its checksum", entry.id));
    }
    at += entry.stored;
  }
  return {};
}

Status ChunkReader::Column(const ByteSource& source, uint16_t id, size_t limit,
                           std::vector<uint8_t>* out) const {
  Decompressor decompressor;
  ColumnBuffer buffer;
  HG_TRY(Column(source, id, limit, &decompressor, &buffer));
  out->assign(buffer.data(), buffer.data() + buffer.size());
  return {};
}

Status ChunkReader::Column(const ByteSource& source, uint16_t id, size_t limit,
                           Decompressor* decompressor, ColumnBuffer* out) const {
  out->Resize(0);
  uint64_t at = offset_ + sizeof header_ + entries_.size() * sizeof(ColumnEntry);
  for (const ColumnEntry& entry : entries_) {
    if (entry.id != id) {
      at += entry.stored;
      continue;
    }
    const auto damaged = [&](const char* what) {
      return Damaged(fmt::format("column {} {}", id, what));
    };
    if (entry.plain > limit) return damaged("is too long");
    const auto coding = static_cast<Coding>(entry.coding);
    const bool direct = coding == Coding::kPlain;
    if (direct && entry.plain != entry.stored) return damaged("contradicts itself");
    out->Resize(entry.plain);
    ColumnBuffer& target = direct ? *out : decompressor->stored_;
    target.Resize(entry.stored);
    if (source.ReadAt(at, target.data(), target.size()) != target.size()) {
      return damaged("cannot be read");
    }
    if (Checksum(target.bytes()) != entry.check) return damaged("does not fit its checksum");
    switch (coding) {
      case Coding::kPlain:
        return {};
      case Coding::kRepeated:
        if (target.size() != 1) return damaged("contradicts itself");
        std::fill_n(out->data(), out->size(), target.data()[0]);
        return {};
      case Coding::kZstd: {
        if (decompressor->context_ == nullptr) return damaged("finds no memory");
        const size_t got = ZSTD_decompressDCtx(decompressor->context_, out->data(), out->size(),
                                               target.data(), target.size());
        if (ZSTD_isError(got) != 0) return damaged(ZSTD_getErrorName(got));
        if (got != out->size()) return damaged("is shorter than it says");
        return {};
      }
    }
    return damaged("has an unknown coding");
  }
  return {};
}

}  // namespace heapgauge::trace
