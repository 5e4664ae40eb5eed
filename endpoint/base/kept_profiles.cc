#include "endpoint/base/kept_profiles.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/functions.h"
#include "core/fold/measures.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/model/profile.h"
#include "core/recording/read_profile.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// What a profile of our own knows beyond profile.proto: how sure each figure is, on how many
// samples it rests, and the live blocks themselves, by which two profiles of a process can be
// compared block by block. Packed to be kept beside the proto.
//
// The bytes never leave this process. Both functions are pure.
//
// Of the rows that WritePprof() writes: those with a value. "" if there are no details.
Result<std::string> PackDetails(const Profile& profile);

// `profile` was read from the proto that was written of the same one. Does nothing for "".
Status UnpackDetails(const std::string& packed, Profile* profile);

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

namespace {

// What an entry takes beside its proto: facts, texts, the entry itself.
constexpr size_t kEntryBytes = 4096;

size_t SizeOf(const KeptProfile& kept) {
  return kept.proto.capacity() + kept.details.capacity() + kEntryBytes;
}

Estimate TotalOf(const Profile& profile, std::string_view type) {
  const size_t at = profile.FindType(type);
  return at < profile.sample_types.size() ? profile.Total(at) : Estimate();
}

}  // namespace

Result<Profile> KeptProfile::Read() const {
  HG_ASSIGN(Profile profile, ReadProfile(StreamOf(proto), "a kept profile"));
  profile.recording = recording;
  HG_TRY(UnpackDetails(details, &profile));
  if (type == "growth") {
    if (const size_t at = profile.FindType("alloc_space"); at < profile.sample_types.size()) {
      profile.default_type = at;
    }
  }
  EstimateFromPeriod(&profile);
  return profile;
}

KeptProfiles::KeptProfiles(const Limits& limits)
    : most_(std::max<size_t>(1, limits.kept_profiles)), most_bytes_(limits.kept_bytes) {}

Result<std::shared_ptr<const KeptProfile>> KeptProfiles::Keep(
    uint32_t pid, std::string_view type, const std::shared_ptr<const Profile>& shared) {
  const Profile& profile = *shared;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& kept : kept_) {
      if (kept->pid == pid && kept->type == type && kept->source.lock() == shared) return kept;
    }
  }
  auto kept = std::make_shared<KeptProfile>();
  kept->id = RandomText();
  if (kept->id.empty()) {
    return Fail(ErrorCode::kUnavailable, "the kernel has no random numbers for an id");
  }
  kept->pid = pid;
  kept->type = type;
  kept->source = shared;
  kept->recording = profile.recording;
  kept->unix_ns = profile.time_ns;
  if (kept->unix_ns <= 0) {
    kept->unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  }
  kept->live_bytes = TotalOf(profile, "inuse_space");
  kept->allocated_bytes = TotalOf(profile, "alloc_space");
  StringSink sink;
  HG_TRY(WritePprof(profile, {}, &sink));
  kept->proto = sink.Take();
  kept->proto.shrink_to_fit();
  HG_ASSIGN(kept->details, PackDetails(profile));
  kept->details.shrink_to_fit();

  const std::lock_guard lock(mutex_);
  bytes_ += SizeOf(*kept);
  kept_.push_back(kept);
  Prune(pid, type);
  return kept;
}

void KeptProfiles::Prune(uint32_t pid, std::string_view type) {
  const auto of_type = [&](const auto& kept) { return kept->pid == pid && kept->type == type; };
  auto count = static_cast<size_t>(std::count_if(kept_.begin(), kept_.end(), of_type));
  for (; count > most_; --count) {
    const auto oldest = std::find_if(kept_.begin(), kept_.end(), of_type);
    bytes_ -= SizeOf(**oldest);
    kept_.erase(oldest);
  }
  while (bytes_ > most_bytes_ && kept_.size() > 1) {
    bytes_ -= SizeOf(*kept_.front());
    kept_.pop_front();
  }
}

std::shared_ptr<const KeptProfile> KeptProfiles::Find(uint32_t pid, std::string_view type,
                                                      std::string_view id) const {
  const std::lock_guard lock(mutex_);
  for (const auto& kept : kept_) {
    if (kept->pid == pid && kept->type == type && kept->id == id) return kept;
  }
  return nullptr;
}

std::shared_ptr<const KeptProfile> KeptProfiles::Find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  for (const auto& kept : kept_) {
    if (kept->id == id) return kept;
  }
  return nullptr;
}

std::vector<std::shared_ptr<const KeptProfile>> KeptProfiles::List() const {
  const std::lock_guard lock(mutex_);
  return {kept_.rbegin(), kept_.rend()};
}

std::vector<std::shared_ptr<const KeptProfile>> KeptProfiles::List(uint32_t pid,
                                                                   std::string_view type) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const KeptProfile>> list;
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    if ((*kept)->pid == pid && (*kept)->type == type) list.push_back(*kept);
  }
  return list;
}

std::deque<KeptProfiles::Window>::const_iterator KeptProfiles::FindWindow(
    uint32_t pid, std::string_view name) const {
  return std::find_if(windows_.begin(), windows_.end(), [&](const Window& window) {
    return window.pid == pid && window.name == name;
  });
}

bool KeptProfiles::OpenWindow(uint32_t pid, std::string_view name,
                              std::shared_ptr<const Profile> start) {
  const std::lock_guard lock(mutex_);
  if (FindWindow(pid, name) != windows_.end()) return false;
  windows_.push_back({pid, std::string(name), std::move(start)});
  if (windows_.size() > kMostWindows) windows_.pop_front();
  return true;
}

bool KeptProfiles::IsOpen(uint32_t pid, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return FindWindow(pid, name) != windows_.end();
}

std::shared_ptr<const Profile> KeptProfiles::CloseWindow(uint32_t pid, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto window = FindWindow(pid, name);
  if (window == windows_.end()) return nullptr;
  std::shared_ptr<const Profile> start = window->start;
  windows_.erase(window);
  return start;
}

size_t KeptProfiles::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace heapgauge::endpoint
