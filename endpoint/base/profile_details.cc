#include "endpoint/base/profile_details.h"

#include <cstring>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/gzip_sink.h"
#include "core/base/text_sink.h"

namespace heapgauge::endpoint {
namespace {

// What comes first. All numbers are of this machine.
struct Head {
  uint64_t rows = 0;
  uint64_t types = 0;
  uint64_t blocks = 0;
  uint64_t has_estimates = 0;
};

struct RowDetails {
  uint64_t samples = 0;
  uint64_t live_samples = 0;
};

template <typename T>
Status Put(const T& value, TextSink* out) {
  static_assert(std::is_trivially_copyable_v<T>);
  return out->Write({reinterpret_cast<const char*>(&value), sizeof value});
}

// A whole value, or an error.
template <typename T>
Status Get(ByteStream* in, T* value) {
  static_assert(std::is_trivially_copyable_v<T>);
  char* to = reinterpret_cast<char*>(value);
  for (size_t have = 0; have < sizeof *value;) {
    HG_ASSIGN(const size_t got, in->Read(to + have, sizeof *value - have));
    if (got == 0) return Fail(ErrorCode::kTruncated, "details of a kept profile are cut");
    have += got;
  }
  return {};
}

// The number that each row has in the proto; kNone for those that are not written.
std::vector<RowId> WrittenRows(const Profile& profile, uint64_t* count) {
  std::vector<RowId> numbers(profile.rows.size(), kNone);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    for (size_t type = 0; type < profile.sample_types.size(); ++type) {
      if (profile.value(row, type) == 0) continue;
      numbers[row] = static_cast<RowId>((*count)++);
      break;
    }
  }
  return numbers;
}

}  // namespace

Result<std::string> PackDetails(const Profile& profile) {
  if (profile.estimates.empty() && profile.blocks.empty()) return std::string();
  Head head;
  const std::vector<RowId> numbers = WrittenRows(profile, &head.rows);
  head.types = profile.sample_types.size();
  head.has_estimates = profile.estimates.empty() ? 0 : 1;
  for (const SampledBlock& block : profile.blocks) {
    if (block.row < numbers.size() && numbers[block.row] != kNone) ++head.blocks;
  }
  StringSink packed;
  GzipSink sink(&packed);
  HG_TRY(Put(head, &sink));
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (numbers[row] == kNone) continue;
    HG_TRY(Put(RowDetails{profile.rows[row].samples, profile.rows[row].live_samples}, &sink));
    for (size_t type = 0; type < head.types && head.has_estimates != 0; ++type) {
      HG_TRY(Put(profile.estimates[row * head.types + type], &sink));
    }
  }
  for (SampledBlock block : profile.blocks) {
    if (block.row >= numbers.size() || numbers[block.row] == kNone) continue;
    block.row = numbers[block.row];
    HG_TRY(Put(block, &sink));
  }
  HG_TRY(sink.Finish());
  return packed.Take();
}

Status UnpackDetails(const std::string& packed, Profile* profile) {
  if (packed.empty()) return {};
  HG_ASSIGN(const auto stream, Decompressed(StreamOf(packed), "details of a kept profile"));
  Head head;
  HG_TRY(Get(stream.get(), &head));
  if (head.rows != profile->rows.size() || head.types != profile->sample_types.size()) {
    return Fail(ErrorCode::kCorrupt, "details of a kept profile are of another one");
  }
  std::vector<Estimate> estimates;
  for (Row& row : profile->rows) {
    RowDetails details;
    HG_TRY(Get(stream.get(), &details));
    row.samples = details.samples;
    row.live_samples = details.live_samples;
    for (size_t type = 0; type < head.types && head.has_estimates != 0; ++type) {
      HG_TRY(Get(stream.get(), &estimates.emplace_back()));
    }
  }
  std::vector<SampledBlock> blocks(head.blocks);
  for (SampledBlock& block : blocks) HG_TRY(Get(stream.get(), &block));
  profile->estimates = std::move(estimates);
  profile->blocks = std::move(blocks);
  return {};
}

}  // namespace heapgauge::endpoint
