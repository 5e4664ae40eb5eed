#include "cli/ui_sources.h"

#include <filesystem>
#include <mutex>
#include <utility>

#include "cli/pprof/sources.h"
#include "cli/progress_line.h"
#include "cli/source.h"
#include "core/base/byte_stream.h"
#include "core/base/peeking_stream.h"
#include "core/base/text.h"
#include "core/formats/read_profile.h"
#include "core/gauge/gauge_directory.h"
#include "core/symbolize/frame_cache.h"
#include "core/trace/file/trace_file.h"
#include "endpoint/api/process_source.h"
#include "endpoint/api/profile_source.h"
#include "endpoint/api/trace_source.h"

namespace heapgauge::cli {
namespace {

using endpoint::api::PendingProfile;
using endpoint::api::ProcessSource;
using endpoint::api::ProfileSource;
using endpoint::api::Sources;
using endpoint::api::TraceSource;

struct FileFormat {
  ProfileFormat format = ProfileFormat::kUnknown;  // also of what is no file
  bool compressed = false;
};

ProfileFormat FormatIn(std::unique_ptr<ByteStream> bytes) {
  PeekingStream stream(std::move(bytes));
  const auto start = stream.Peek(4096);
  if (!start) return ProfileFormat::kUnknown;
  return trace::IsTrace(*start) ? ProfileFormat::kTrace : DetectFormat(*start);
}

// By what it begins with.
FileFormat FormatOf(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  auto opened = OpenStream(path);
  if (!opened) return {};
  const ProfileFormat plain = FormatIn(*std::move(opened));
  if (plain != ProfileFormat::kUnknown) return {plain, false};
  opened = OpenStream(path);
  if (!opened) return {};
  auto inner = Decompressed(*std::move(opened), path);
  return {inner ? FormatIn(*std::move(inner)) : ProfileFormat::kUnknown, true};
}

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

Result<Profile> ReadWithNames(const std::string& word, const SymbolOptions& symbols) {
  ProgressSink* progress = BeginProgress();
  if (progress != nullptr) progress->Report("reading " + word, 0, 0, "");
  auto profile = ReadMerged({word}, ReadingOptions());
  if (profile) {
    const std::vector<std::string> notes = NameLocations(symbols, &*profile, progress).notes;
    profile->notes.insert(profile->notes.end(), notes.begin(), notes.end());
  }
  EndProgress();
  return profile;
}

Status AddOne(const std::string& asked, const SymbolOptions& symbols,
              const endpoint::GaugeProcessOptions& how, Sources* sources, BackgroundReads* reads) {
  HG_ASSIGN(const std::string word, MeanTrace(asked));
  std::error_code ignored;
  if (std::filesystem::is_directory(word, ignored)) {
    HG_ASSIGN(const std::vector<std::string> paths, ListGaugeFiles(word));
    if (paths.empty()) {
      return Fail(ErrorCode::kNotFound, "'" + Printable(word) + "' holds no gauge files (*.hg)");
    }
    // Its processes come and go (DirectoriesAmong); what was copied of them stays.
    for (const std::string& path : paths) {
      const auto owner = ReadOwner(path);
      if (owner && owner->is_copy) HG_TRY(AddGauge(path, how, sources));
    }
    return {};
  }
  std::string path = word;
  if (auto resolved = ResolveSource(word, "")) path = *std::move(resolved);
  const auto [format, compressed] = FormatOf(path);
  if (format == ProfileFormat::kGauge && !compressed) return AddGauge(path, how, sources);
  if (format == ProfileFormat::kTrace && !compressed) {
    HG_ASSIGN(auto trace, trace::TraceFile::Open(path));
    sources->Add(std::make_shared<TraceSource>(std::move(trace), NameOfFile(path),
                                               [names = std::make_shared<TraceNames>(symbols)](
                                                   Profile* profile) { names->Name(profile); }));
    return {};
  }
  if (format == ProfileFormat::kUnknown || reads == nullptr) {
    HG_ASSIGN(Profile profile, ReadWithNames(word, symbols));
    sources->Add(std::make_shared<ProfileSource>(std::move(profile), NameOfFile(word)));
    return {};
  }
  auto pending = std::make_shared<PendingProfile>();
  sources->Add(std::make_shared<ProfileSource>(pending, NameOfFile(word)));
  reads->Add([pending, word, symbols]() -> Status {
    auto profile = ReadWithNames(word, symbols);
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
