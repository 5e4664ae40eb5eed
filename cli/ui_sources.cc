#include "cli/ui_sources.h"

#include <filesystem>
#include <mutex>
#include <utility>

#include "cli/progress_line.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/gauge/gauge_directory.h"
#include "core/recording/recording.h"
#include "core/symbolize/frame_cache.h"
#include "endpoint/api/process_source.h"
#include "endpoint/api/sources.h"
#include "endpoint/api/trace_source.h"

namespace heapgauge::cli {

BackgroundReads::~BackgroundReads() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundReads::Start() {
  const BlockedSignals blocked;
  if (!reads_.empty()) thread_ = TryThread([this] { Run(); });
  if (!thread_.joinable()) Run();
}

Status BackgroundReads::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  finished_.wait_for(lock, time, [this] { return is_finished_; });
  return status_;
}

Status BackgroundReads::Wait() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return is_finished_; });
  return status_;
}

// What comes after a failure is read all the same: somebody may be waiting for it.
void BackgroundReads::Run() {
  for (const auto& read : reads_) {
    const Status done = read();
    const std::lock_guard lock(mutex_);
    if (!done && status_) status_ = done;
  }
  const std::lock_guard lock(mutex_);
  is_finished_ = true;
  finished_.notify_all();
}

namespace {

using endpoint::api::PendingProfile;
using endpoint::api::ProcessSource;
using endpoint::api::ProfileSource;
using endpoint::api::Sources;
using endpoint::api::TraceSource;

// Names the stacks of a trace. While it grows they are wanted again and again, and those that were
// found once are kept. Threads: any number.
class TraceNames {
 public:
  explicit TraceNames(SymbolOptions symbols) : symbols_(std::move(symbols)) {}

  void Name(Profile* profile) {
    const std::lock_guard lock(mutex_);
    const bool grows = profile->recording.state == RecordingState::kLive;
    if (known_.size() > 0) known_.Fill(profile);
    const std::vector<std::string> notes = NameLocations(symbols_, profile).notes;
    if (grows) {
      known_.Learn(*profile, notes);
    } else {
      known_ = {};
    }
  }

 private:
  const SymbolOptions symbols_;
  std::mutex mutex_;
  FrameCache known_;
};

std::string NameOfFile(const std::string& path) { return Printable(BaseName(path)); }

Status AddGauge(const std::string& path, const endpoint::GaugeProcessOptions& how,
                Sources* sources) {
  HG_TRY(ReadOwner(path));
  auto process = std::make_shared<endpoint::GaugeProcess>(path, how);
  HG_TRY(process->Facts());
  sources->Add(std::make_shared<ProcessSource>(std::move(process), NameOfFile(path)));
  return {};
}

Result<Profile> ReadWithNames(Recording* recording, const SymbolOptions& symbols) {
  ProgressSink* progress = BeginProgress();
  if (progress != nullptr) progress->Report("reading " + recording->spec(), 0, 0, "");
  auto profile = recording->ReadProfile();
  if (profile) {
    const std::vector<std::string> notes = NameLocations(symbols, &*profile, progress).notes;
    profile->notes.insert(profile->notes.end(), notes.begin(), notes.end());
  }
  EndProgress();
  return profile;
}

// Its processes come and go (DirectoriesAmong); what was copied of them stays.
Status AddDumps(const std::string& directory, const endpoint::GaugeProcessOptions& how,
                Sources* sources) {
  HG_ASSIGN(const std::vector<std::string> paths, ListGaugeFiles(directory));
  if (paths.empty()) {
    return Fail(ErrorCode::kNotFound, "'" + Printable(directory) + "' holds no gauge files (*.hg)");
  }
  for (const std::string& path : paths) {
    const auto owner = ReadOwner(path);
    if (owner && owner->is_copy) HG_TRY(AddGauge(path, how, sources));
  }
  return {};
}

Status AddOne(const std::string& asked, const SymbolOptions& symbols,
              const endpoint::GaugeProcessOptions& how, Sources* sources, BackgroundReads* reads) {
  HG_ASSIGN(const std::string word, MeantTrace(asked));
  std::error_code ignored;
  if (std::filesystem::is_directory(word, ignored)) return AddDumps(word, how, sources);
  HG_ASSIGN(Recording opened, Recording::Open(word));
  if (opened.is_gauge() && opened.moment().empty()) return AddGauge(opened.path(), how, sources);
  if (opened.is_whole_trace()) {
    HG_ASSIGN(auto trace, opened.Trace());
    sources->Add(std::make_shared<TraceSource>(std::move(trace), NameOfFile(opened.path()),
                                               [names = std::make_shared<TraceNames>(symbols)](
                                                   Profile* profile) { names->Name(profile); }));
    return {};
  }
  // Of files it is known that they end.
  const bool later = reads != nullptr && opened.is_file() && opened.moment().empty() &&
                     opened.format() != ProfileFormat::kUnknown;
  if (!later) {
    HG_ASSIGN(Profile profile, ReadWithNames(&opened, symbols));
    sources->Add(std::make_shared<ProfileSource>(std::move(profile), NameOfFile(word)));
    return {};
  }
  auto pending = std::make_shared<PendingProfile>();
  sources->Add(std::make_shared<ProfileSource>(pending, NameOfFile(word)));
  auto recording = std::make_shared<Recording>(std::move(opened));
  reads->Add([pending, recording, symbols]() -> Status {
    auto profile = ReadWithNames(recording.get(), symbols);
    if (!profile) {
      pending->Give(tl::unexpected<Error>(profile.error()));
      return tl::unexpected<Error>(profile.error());
    }
    pending->Give(ProfileSource::Finished(*std::move(profile)));
    return {};
  });
  return {};
}

}  // namespace

std::vector<std::string> DirectoriesAmong(const std::vector<std::string>& words) {
  std::vector<std::string> directories;
  std::error_code ignored;
  for (const std::string& word : words) {
    if (std::filesystem::is_directory(word, ignored)) directories.push_back(word);
  }
  return directories;
}

Status AddSources(const std::vector<std::string>& words, const SymbolOptions& symbols,
                  const endpoint::GaugeProcessOptions& how, Sources* sources,
                  BackgroundReads* reads) {
  for (const std::string& word : words) HG_TRY(AddOne(word, symbols, how, sources, reads));
  return {};
}

}  // namespace heapgauge::cli
