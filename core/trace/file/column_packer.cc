#include "core/trace/file/column_packer.h"

#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_c_literalCompressionMode; no more is linked by it
#include <zstd.h>

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

}  // namespace heapgauge::trace
