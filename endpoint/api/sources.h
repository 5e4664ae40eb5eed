// The sources that a host shows (Sources): those it was given by name, then every process that it
// serves. Each is kept open with the last answers it gave (Opened). A profile from a file
// (ProfileSource) and one that is kept of a process (SnapshotSource) are sources, too.
//
// Threads: any number.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "endpoint/api/filter.h"
#include "endpoint/api/kept_checks.h"
#include "endpoint/api/recent.h"
#include "endpoint/api/source.h"
#include "endpoint/api/subject.h"
#include "endpoint/base/kept_profiles.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint::api {

// A profile that somebody reads while others may ask for it already.
//
// Threads: one gives it, once; any number wait for it.
class PendingProfile {
 public:
  using Pointer = std::shared_ptr<const Profile>;

  // The profile, or why there is none.
  void Give(Result<Pointer> profile) {
    {
      const std::lock_guard lock(mutex_);
      profile_ = std::move(profile);
    }
    given_.notify_all();
  }

  Result<Pointer> Wait() const {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [this] { return profile_.has_value(); });
    return *profile_;
  }

  // Null if it is not there yet, or never will be.
  Pointer IfThere() const {
    const std::lock_guard lock(mutex_);
    return profile_ && *profile_ ? **profile_ : nullptr;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable given_;
  std::optional<Result<Pointer>> profile_;
};

// A profile that is read once, of any format, as a source. It may still be under way: questions
// wait for it.
class ProfileSource final : public Source {
 public:
  // With names. Says how sure its figures are where the file tells enough for it.
  ProfileSource(Profile profile, std::string name);
  // The same of one that somebody reads meanwhile, made by Finished().
  ProfileSource(std::shared_ptr<const PendingProfile> pending, std::string name);

  // A profile that was just read, as sources have it.
  static PendingProfile::Pointer Finished(Profile profile);

  Facts facts() override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;

 private:
  const std::shared_ptr<const PendingProfile> profile_;
  const std::string name_;
};

}  // namespace heapgauge::endpoint::api

namespace heapgauge::endpoint {
struct KeptProfile;
}

namespace heapgauge::endpoint::api {

// The value of a source whose memory was looked at, beside those of a trace.
inline constexpr std::string_view kLostValue = "lost";

// A source with the last answers it gave, so that a page that moves about in one asks it once.
class Opened {
 public:
  explicit Opened(std::shared_ptr<Source> source, std::shared_ptr<LeakChecker> checker = nullptr)
      : source_(std::move(source)), checks_(source_.get(), std::move(checker)) {}

  Source& source() { return *source_; }
  KeptChecks& checks() { return checks_; }
  Result<std::shared_ptr<Subject>> SubjectOf(const Filter& filter);
  Result<std::shared_ptr<const Timeline>> Over(const Source::Stretch& stretch);

 private:
  struct Answer {
    std::shared_ptr<const Profile> profile;  // as the source gave it
    std::shared_ptr<Subject> subject;
  };

  // Of the figure "lost": the last check as a profile.
  Result<std::shared_ptr<Subject>> LostSubject(const Filter& filter);

  const std::shared_ptr<Source> source_;
  KeptChecks checks_;
  std::mutex mutex_;
  Recent<Answer> answers_{8};
  Recent<std::shared_ptr<const Timeline>> timelines_{8};
};

class Queries;

// Whether and where files of source code may be read, for those who look at their lines. A host
// that answers for other people's programs reads none: their names of files are theirs to choose.
struct SourceLookup {
  bool allowed = false;
  std::string search_path;  // as SourceOptions has them
  std::string trim_path;
  bool use_debuginfod = false;
};

class Sources {
 public:
  // `queries`: SQL, where the host has it; may be null. So may `checker`.
  explicit Sources(std::shared_ptr<Processes> processes, std::shared_ptr<Queries> queries = nullptr,
                   std::shared_ptr<LeakChecker> checker = nullptr)
      : processes_(std::move(processes)),
        queries_(std::move(queries)),
        checker_(std::move(checker)) {}

  const std::shared_ptr<Queries>& queries() const { return queries_; }

  // Before anybody asks.
  void set_lookup(SourceLookup lookup) { lookup_ = std::move(lookup); }
  const SourceLookup& lookup() const { return lookup_; }

  // One more, before all that were not added. Its id is made different from the others'.
  void Add(std::shared_ptr<Source> source);

  // A dump that was just made, behind all others; of more than kMostDumps the oldest is forgotten.
  // Its id.
  static constexpr size_t kMostDumps = 64;
  std::string AddDump(std::shared_ptr<Source> source);

  std::vector<std::shared_ptr<Opened>> List();
  // The one of that id; "": the given process if the path named it, else the first that was added,
  // else the given process, else the first of all.
  Result<std::shared_ptr<Opened>> Find(const std::string& id,
                                       const std::shared_ptr<Process>& process, bool is_named);

  // The id of the source that is this process; "" none.
  std::string IdOf(uint32_t pid);

  // A profile that is kept. The last few stay open; the host knows whether it is still there.
  std::shared_ptr<Opened> OfSnapshot(const std::shared_ptr<const KeptProfile>& kept);

 private:
  // REQUIRES, of these: mutex_ is held.
  std::shared_ptr<Source> WithOwnId(std::shared_ptr<Source> source);
  std::shared_ptr<Opened> OfProcess(const std::shared_ptr<Process>& process);

  const std::shared_ptr<Processes> processes_;
  const std::shared_ptr<Queries> queries_;
  const std::shared_ptr<LeakChecker> checker_;
  SourceLookup lookup_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Opened>> added_;
  std::deque<std::shared_ptr<Opened>> dumps_;  // oldest first
  Recent<std::shared_ptr<Opened>> snapshots_{6};
  std::map<std::shared_ptr<Process>, std::shared_ptr<Opened>> of_processes_;
};

// A profile that is kept of a process (endpoint/base/kept_profiles.h) as a source: every view can
// be about it, and whoever opens the same address sees the same. The server keeps the last few of
// each process as long as it runs.
class SnapshotSource final : public Source {
 public:
  explicit SnapshotSource(std::shared_ptr<const KeptProfile> kept) : kept_(std::move(kept)) {}

  Facts facts() override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;

 private:
  // It is unpacked when somebody first asks.
  Result<ProfileSource*> Unpacked();

  const std::shared_ptr<const KeptProfile> kept_;
  std::mutex mutex_;
  std::unique_ptr<ProfileSource> unpacked_;
};

// "server 4242 at 12:30:05 UTC".
Source::Facts FactsOf(const KeptProfile& kept);

// "snapshot-" and the id that it is kept by.
bool IsSnapshotId(std::string_view id);
// Fails in words for people if it is not kept any more.
Result<std::shared_ptr<Opened>> OpenedSnapshot(const Call& call, std::string_view id);

}  // namespace heapgauge::endpoint::api
