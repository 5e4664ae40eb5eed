// The profiles that people have looked at: the last few of each process and type, so that a link
// shows the same data to whoever opens it, and two of them can be compared.
//
// A profile is kept with its names as compressed proto, together with the facts of its recording
// and, packed as well, what the proto cannot hold (kept_profiles.cc). Ids are 128 random bits:
// they say nothing, cannot be guessed, and are looked up as they are; no file is behind them. Every
// insertion prunes: first to Limits::kept_profiles of that process and type, then the oldest of all
// to Limits::kept_bytes. The newest always stays.
//
// A window is what a client opened and will close later (Envoy's /allocprofiler): the profile at
// its start. There is at most one of each name per process.
//
// Threads: any number; nobody waits while a profile is compressed or read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// One that is kept. Immutable.
struct KeptProfile {
  std::string id;
  uint32_t pid = 0;
  std::string type;  // "heap", "growth"
  int64_t unix_ns = 0;
  RecordingFacts recording;
  Estimate live_bytes;
  Estimate allocated_bytes;
  std::string proto;  // gzip
  std::string details;
  std::weak_ptr<const Profile> source;

  // The profile again.
  Result<Profile> Read() const;
};

class KeptProfiles {
 public:
  explicit KeptProfiles(const Limits& limits);

  // Keeps it. `type` is a name of ours, never the client's. A snapshot that two people share is
  // kept once: both get the same.
  Result<std::shared_ptr<const KeptProfile>> Keep(uint32_t pid, std::string_view type,
                                                  const std::shared_ptr<const Profile>& profile);

  // Null unless there is one of that process and type by that id.
  std::shared_ptr<const KeptProfile> Find(uint32_t pid, std::string_view type,
                                          std::string_view id) const;
  // By its id alone, whatever process and type it is of; null: none.
  std::shared_ptr<const KeptProfile> Find(std::string_view id) const;
  // Newest first.
  std::vector<std::shared_ptr<const KeptProfile>> List(uint32_t pid, std::string_view type) const;
  // All of them, newest first.
  std::vector<std::shared_ptr<const KeptProfile>> List() const;

  // False if that window is open already. Of more than kMostWindows the oldest is forgotten: its
  // client, or its process, is gone.
  static constexpr size_t kMostWindows = 64;
  bool OpenWindow(uint32_t pid, std::string_view name, std::shared_ptr<const Profile> start);
  bool IsOpen(uint32_t pid, std::string_view name) const;
  // What it was opened with, and closes it; null if it is not open.
  std::shared_ptr<const Profile> CloseWindow(uint32_t pid, std::string_view name);

  size_t bytes() const;

 private:
  // REQUIRES: mutex_ is held.
  void Prune(uint32_t pid, std::string_view type);

  const size_t most_;
  const size_t most_bytes_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const KeptProfile>> kept_;  // oldest first
  size_t bytes_ = 0;
  struct Window {
    uint32_t pid;
    std::string name;
    std::shared_ptr<const Profile> start;
  };
  std::deque<Window>::const_iterator FindWindow(uint32_t pid, std::string_view name) const;
  std::deque<Window> windows_;  // oldest first
};

}  // namespace heapgauge::endpoint
