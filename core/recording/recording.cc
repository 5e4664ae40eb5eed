#include "core/recording/recording.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/fold/merge.h"
#include "core/formats/massif/massif_file.h"
#include "core/gauge/gauge_directory.h"
#include "core/trace/answer/trace_profile.h"
#include "core/trace/file/live_trace.h"

namespace heapgauge {
namespace {

Result<std::string> PickFrom(const std::string& directory, const std::string& pick) {
  HG_ASSIGN(const std::vector<std::string> paths, ListGaugeFiles(directory));
  const std::string quoted = "'" + Printable(directory) + "'";
  if (paths.empty()) {
    return Fail(ErrorCode::kNotFound, quoted +
                                          " holds no gauge files (*.hg); heapgauge ps lists "
                                          "what is profiled");
  }
  if (paths.size() == 1) return paths.front();
  if (pick.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                quoted + " holds " + std::to_string(paths.size()) +
                    " gauge files; name one of them, a PID, or add --pick newest");
  }
  const auto start = [](const std::string& path) {
    const auto owner = ReadOwner(path);
    return owner ? owner->start_realtime_ns + owner->dump_ns : 0;
  };
  std::string chosen;
  uint64_t chosen_start = 0;
  for (const std::string& path : paths) {
    const uint64_t at = start(path);
    if (at == 0) continue;
    if (chosen.empty() || (pick == "newest" ? at > chosen_start : at < chosen_start)) {
      chosen = path;
      chosen_start = at;
    }
  }
  if (chosen.empty()) return Fail(ErrorCode::kNotFound, quoted + " holds no readable gauge file");
  return chosen;
}

// 0 if it is none.
uint32_t PidOf(std::string_view spec) { return NumberIn<uint32_t>(spec).value_or(0); }

// "" if it is not recorded whole.
Result<std::string> TraceBeingWritten(const std::string& spec, const std::string& pick) {
  struct stat st {};
  const bool exists = stat(spec.c_str(), &st) == 0;
  if (!exists && PidOf(spec) == 0) return "";
  if (exists && !S_ISDIR(st.st_mode) && !IsGaugeFileName(BaseName(spec))) return "";
  const auto gauge = LocateFile(spec, pick);
  const auto owner = gauge ? ReadOwner(*gauge) : Result<GaugeOwner>(Fail(ErrorCode::kNotFound, ""));
  if (!owner || owner->is_copy || !OwnerRuns(*owner)) return "";
  if (!trace::TracedSince(*gauge)) return "";
  std::string path = trace::FindLiveTrace(*gauge);
  if (path.empty()) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("every call of process {} goes into a trace, and nobody is seen to "
                            "write it: heapgauge doctor {} tells more, heapgauge top FILE.hgt what "
                            "was recorded",
                            owner->pid, owner->pid));
  }
  trace::HaveTraceWritten(*gauge);
  return path;
}

// By the last '@', with something on both sides of it.
struct Split {
  std::string spec;
  std::string moment;
};
std::optional<Split> SplitAtSign(const std::string& spec) {
  const size_t at = spec.rfind('@');
  if (at == std::string::npos || at == 0 || at + 1 == spec.size()) return std::nullopt;
  return Split{spec.substr(0, at), spec.substr(at + 1)};
}

std::optional<Split> SplitMoment(const std::string& spec) {
  auto split = SplitAtSign(spec);
  if (split && (Exists(spec) || !Exists(split->spec))) split.reset();
  return split;
}

}  // namespace

bool Exists(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0;
}

bool NamesMoment(const std::string& spec) { return SplitMoment(spec).has_value(); }

Result<std::string> MeantTrace(const std::string& spec, const std::string& pick) {
  HG_ASSIGN(std::string path, TraceBeingWritten(spec, pick));
  if (!path.empty()) return path;
  const auto split = SplitAtSign(spec);
  if (!split) return spec;
  HG_ASSIGN(path, TraceBeingWritten(split->spec, pick));
  return path.empty() ? spec : path + "@" + split->moment;
}

Status CheckWhole(const std::string& spec, const std::string& instead) {
  if (!NamesMoment(spec)) return {};
  return Fail(ErrorCode::kInvalidArgument, "'" + Printable(spec) +
                                               "' is a moment or range of a file, and the whole is "
                                               "needed here: name the file, and " +
                                               instead);
}

Result<std::string> MeantWhole(const std::string& spec, const std::string& pick,
                               const std::string& instead) {
  HG_ASSIGN(std::string meant, MeantTrace(spec, pick));
  HG_TRY(CheckWhole(meant, instead));
  return meant;
}

Result<std::string> LocateFile(const std::string& spec, const std::string& pick) {
  struct stat st {};
  if (stat(spec.c_str(), &st) == 0) return S_ISDIR(st.st_mode) ? PickFrom(spec, pick) : spec;
  if (const uint32_t pid = PidOf(spec); pid != 0) return FindGaugeOf(pid);
  return Fail(ErrorCode::kNotFound,
              "there is no file '" + Printable(spec) +
                  "', and it is not a PID; heapgauge ps lists what is profiled");
}

Result<NamedPlace> Locate(const std::string& spec, const std::string& pick) {
  NamedPlace place;
  HG_ASSIGN(place.spec, MeantTrace(spec, pick));
  place.path = place.spec;
  if (auto split = SplitMoment(place.spec)) {
    place.path = std::move(split->spec);
    place.moment = std::move(split->moment);
  }
  if (place.path != "-") {
    HG_ASSIGN(place.path, LocateFile(place.path, pick));
  }
  return place;
}

namespace {

constexpr size_t kAtOnce = 64;  // servers

bool IsRegularFile(const std::string& path) {
  struct stat st {};
  return path != "-" && stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

bool IsReadByPosition(ProfileFormat format) {
  return format == ProfileFormat::kGauge || format == ProfileFormat::kTrace;
}

// The plan for one that is on a server. What exists as a file is one, whatever it looks like.
std::optional<FetchPlan> PlanOf(const std::string& spec, const OpenOptions& options) {
  if (spec == "-" || Exists(spec) || NamesMoment(spec)) return std::nullopt;
  return PlanFetch(spec, options.default_path, options.seconds, options.timeout);
}

// "30s", "1m30s", "1h0m0s"
std::string DurationText(int seconds) {
  std::string text;
  if (seconds >= 3600) text += std::to_string(seconds / 3600) + "h";
  if (seconds >= 60) text += std::to_string(seconds / 60 % 60) + "m";
  return text + std::to_string(seconds % 60) + "s";
}

// An answer that is under way.
struct Fetch {
  Url url;
  std::future<Result<std::string>> body;
};

Fetch Begin(const FetchPlan& plan, const OpenOptions& options) {
  if (options.say) {
    options.say("Fetching profile over HTTP from " + plan.url.Text());
    if (options.seconds > 0) {
      options.say("Please wait... (" + DurationText(options.seconds) + ")");
    }
  }
  HttpOptions http = options.http;
  http.timeout_seconds = plan.timeout_seconds;
  return {plan.url,
          std::async(std::launch::async, [url = plan.url, http] { return HttpGet(url, http); })};
}

// The moment that a spec names, as the options of traces do.
Status AskAt(const NamedPlace& place, trace::Question* question) {
  if (!question->at.empty() || !question->from.empty() || !question->to.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "'" + Printable(place.path + "@" + place.moment) +
                    "' names a moment or range already: leave it out, or --at, --from and --to");
  }
  const std::string& moment = place.moment;
  const size_t dots = moment.find("..");
  question->at = dots == std::string::npos ? moment : "";
  question->from = dots == std::string::npos ? "" : moment.substr(0, dots);
  question->to = dots == std::string::npos ? "" : moment.substr(dots + 2);
  return {};
}

// The options of gauge files mean the same here.
Result<Profile> ProfileOfTrace(const trace::TraceFile& trace, const std::string& path,
                               const ReadOptions& options) {
  trace::Question question = options.question;
  if (options.gauge.peak && question.at.empty()) question.at = "peak";
  if (options.gauge.kind == ProfileKind::kMmap) question.filter.mappings = true;
  if (options.gauge.kind == ProfileKind::kPool) {
    return Fail(ErrorCode::kInvalidArgument,
                Printable(path) + ": a trace has heap blocks and mappings, not those of pools");
  }
  HG_ASSIGN(const trace::ProfileRequest request, trace::RequestOf(question, trace));
  return trace::ReadTraceProfile(trace, request, options.progress, options.name_stacks);
}

}  // namespace

Result<Recording> Recording::OfServer(NamedPlace place, Url url, std::string body) {
  Recording recording;
  recording.place_ = std::move(place);
  recording.name_ = url.Text();
  recording.url_ = std::move(url);
  recording.body_ = std::make_shared<const std::string>(std::move(body));
  HG_TRY(recording.Begin());
  return recording;
}

Result<Recording> Recording::OpenFile(const std::string& path) {
  Recording recording;
  recording.place_ = {path, path, ""};
  HG_TRY(recording.Begin());
  return recording;
}

Result<Recording> Recording::Open(const std::string& spec, const OpenOptions& options) {
  std::optional<Result<Recording>> opened;
  OpenEach({spec}, options, [&](Result<Recording> one) { opened = std::move(one); });
  return *std::move(opened);
}

void Recording::OpenEach(const std::vector<std::string>& specs, const OpenOptions& options,
                         const std::function<void(Result<Recording>)>& take) {
  const auto open = [&](const std::string& spec) -> Result<Recording> {
    Recording recording;
    HG_ASSIGN(recording.place_, Locate(spec, options.pick));
    HG_TRY(recording.Begin());
    return recording;
  };
  const auto await = [](const std::string& spec, Fetch* fetch) -> Result<Recording> {
    HG_ASSIGN(std::string body, fetch->body.get());
    return OfServer({spec, spec, ""}, std::move(fetch->url), std::move(body));
  };
  for (size_t begin = 0; begin < specs.size(); begin += kAtOnce) {
    const size_t end = std::min(begin + kAtOnce, specs.size());
    std::vector<std::optional<Fetch>> fetches(end - begin);
    for (size_t i = begin; i < end; ++i) {
      if (const auto plan = PlanOf(specs[i], options)) {
        fetches[i - begin] = heapgauge::Begin(*plan, options);
      }
    }
    for (size_t i = begin; i < end; ++i) {
      auto& fetch = fetches[i - begin];
      take(fetch ? await(specs[i], &*fetch) : open(specs[i]));
    }
  }
}

// Looks at the first bytes, and keeps the stream for who reads it: a pipe can be read once.
Status Recording::Begin() {
  std::unique_ptr<ByteStream> stream;
  if (body_ != nullptr) {
    stream = StreamOf(*body_);
  } else {
    const std::string& path = place_.path;
    name_ = path == "-" ? "standard input" : path;
    is_file_ = IsRegularFile(path);
    HG_ASSIGN(stream, OpenStream(path));
  }
  if (is_file_) {
    auto peeking = std::make_unique<PeekingStream>(std::move(stream));
    HG_ASSIGN(const std::string_view start, peeking->Peek(kFormatBytes));
    format_ = DetectFormat(start);
    by_position_ = IsReadByPosition(format_);
    if (by_position_) return {};
    stream = std::move(peeking);
  }
  HG_ASSIGN(auto plain, Decompressed(std::move(stream), name_));
  bytes_ = std::make_unique<PeekingStream>(std::move(plain));
  HG_ASSIGN(const std::string_view start, bytes_->Peek(kFormatBytes));
  format_ = DetectFormat(start);
  return {};
}

Result<std::unique_ptr<PeekingStream>> Recording::Bytes() {
  if (bytes_ == nullptr) HG_TRY(Begin());
  if (bytes_ == nullptr) {
    HG_ASSIGN(auto stream, OpenStream(place_.path));
    bytes_ = std::make_unique<PeekingStream>(std::move(stream));
  }
  return std::move(bytes_);
}

Result<Profile> Recording::ReadProfile(const ReadOptions& options) {
  ReadOptions asked = options;
  if (!moment().empty()) HG_TRY(AskAt(place_, &asked.question));
  if (is_gauge()) return ReadGaugeAt(path(), asked);
  if (is_trace()) {
    HG_TRY(CheckInherited(path(), format_, asked));
    HG_ASSIGN(const auto trace, Trace());
    return ProfileOfTrace(*trace, path(), asked);
  }
  HG_ASSIGN(auto bytes, Bytes());
  HG_ASSIGN(const std::string_view start, bytes->Peek(kFormatBytes));
  HG_TRY(CheckReadable(format_, start, name_, asked));
  // A pipe may stall for ever, and then nobody could stop the thread that waits for it.
  std::unique_ptr<ByteStream> stream = std::move(bytes);
  if (is_file_) stream = ReadAhead(std::move(stream));
  return ReadStream(stream.get(), format_, name_, asked);
}

Result<std::shared_ptr<const trace::TraceFile>> Recording::Trace() const {
  if (is_trace()) return trace::TraceFile::Open(path());
  return NeedsTrace(name_, format_);
}

Result<MassifFile> Recording::Massif() {
  if (!is_massif()) {
    return Fail(ErrorCode::kInvalidArgument,
                Printable(name_) + ": a " + FormatName(format_) + " has no snapshots of massif's");
  }
  HG_ASSIGN(const auto bytes, Bytes());
  return ParseMassif(bytes.get(), name_);
}

ProfileFormat FormatAt(const std::string& path) {
  if (!IsRegularFile(path)) return ProfileFormat::kUnknown;
  auto opened = OpenStream(path);
  if (!opened) return ProfileFormat::kUnknown;
  PeekingStream stream(*std::move(opened));
  const auto start = stream.Peek(kFormatBytes);
  return start ? DetectFormat(*start) : ProfileFormat::kUnknown;
}

Result<Profile> ReadMerged(const std::vector<std::string>& specs, const OpenOptions& options,
                           const ReadOptions& read, std::vector<std::string>* meant) {
  std::vector<Profile> profiles;
  Status failed;
  Recording::OpenEach(specs, options, [&](Result<Recording> opened) {
    if (!failed) return;
    if (opened && meant != nullptr) meant->push_back(opened->spec());
    auto profile = opened ? opened->ReadProfile(read)
                          : Result<Profile>(tl::unexpected<Error>(std::move(opened).error()));
    if (profile) {
      profiles.push_back(*std::move(profile));
    } else {
      failed = tl::unexpected<Error>(std::move(profile).error());
    }
  });
  HG_TRY(failed);
  if (profiles.empty()) return Fail(ErrorCode::kInvalidArgument, "no profile is named");
  if (profiles.size() == 1) return std::move(profiles.front());
  return MergeProfiles(std::move(profiles));
}

}  // namespace heapgauge
