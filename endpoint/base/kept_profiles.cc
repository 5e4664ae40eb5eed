#include "endpoint/base/kept_profiles.h"

#include <algorithm>
#include <chrono>

#include "core/base/byte_stream.h"
#include "core/base/text_sink.h"
#include "core/fold/functions.h"
#include "core/fold/measures.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/recording/read_profile.h"
#include "endpoint/base/profile_details.h"
#include "endpoint/base/random_text.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {
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
