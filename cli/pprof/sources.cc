#include "cli/pprof/sources.h"

#include <future>

#include "cli/source.h"
#include "core/base/byte_stream.h"
#include "core/base/text.h"
#include "core/fold/merge.h"

namespace heapgauge::cli {
namespace {

void AskAt(const std::string& moment, trace::Question* question) {
  const size_t dots = moment.find("..");
  question->at = dots == std::string::npos ? moment : "";
  question->from = dots == std::string::npos ? "" : moment.substr(0, dots);
  question->to = dots == std::string::npos ? "" : moment.substr(dots + 2);
}

// The plan for a source that is on a server. What exists as a file is one, whatever it looks like.
std::optional<FetchPlan> PlanOf(const std::string& source, const ReadingOptions& options) {
  if (source == "-" || Exists(source) || SplitMoment(source)) return std::nullopt;
  return PlanFetch(source, options.default_path, options.seconds, options.timeout);
}

// "30s", "1m30s", "1h0m0s"
std::string DurationText(int seconds) {
  std::string text;
  if (seconds >= 3600) text += std::to_string(seconds / 3600) + "h";
  if (seconds >= 60) text += std::to_string(seconds / 60 % 60) + "m";
  return text + std::to_string(seconds % 60) + "s";
}

Result<SourceProfile> ReadFile(const std::string& word, const ReadingOptions& options) {
  HG_ASSIGN(const std::string source, MeanTrace(word, options.pick));
  SourceProfile read;
  if (const auto split = SplitMoment(source)) {
    ReadOptions at = options.read;
    const trace::Question& asked = at.question;
    if (!asked.at.empty() || !asked.from.empty() || !asked.to.empty()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "'" + Printable(source) +
                      "' names a moment or range already: leave it out, or --at, --from and --to");
    }
    AskAt(split->moment, &at.question);
    HG_ASSIGN(const std::string path, ResolveSource(split->source, options.pick));
    HG_ASSIGN(read.profile, ReadProfileFile(path, at));
    return read;
  }
  std::string path = source;
  if (source != "-") {
    HG_ASSIGN(path, ResolveSource(source, options.pick));
  }
  HG_ASSIGN(read.profile, ReadProfileFile(path, options.read));
  return read;
}

}  // namespace

std::vector<Result<SourceProfile>> ReadSources(const std::vector<std::string>& sources,
                                               const ReadingOptions& options) {
  struct Pending {
    FetchPlan plan;
    std::future<Result<std::string>> body;
  };
  std::vector<std::optional<Pending>> pending(sources.size());
  std::vector<Result<SourceProfile>> results;
  constexpr size_t kAtOnce = 64;
  for (size_t begin = 0; begin < sources.size(); begin += kAtOnce) {
    const size_t end = std::min(begin + kAtOnce, sources.size());
    for (size_t i = begin; i < end; ++i) {
      auto plan = PlanOf(sources[i], options);
      if (!plan) continue;
      if (options.say) {
        options.say("Fetching profile over HTTP from " + plan->url.Text());
        if (options.seconds > 0) {
          options.say("Please wait... (" + DurationText(options.seconds) + ")");
        }
      }
      HttpOptions http = options.http;
      http.timeout_seconds = plan->timeout_seconds;
      pending[i].emplace();
      pending[i]->plan = *plan;
      pending[i]->body =
          std::async(std::launch::async, [url = plan->url, http] { return HttpGet(url, http); });
    }
    for (size_t i = begin; i < end; ++i) {
      if (!pending[i]) {
        results.push_back(ReadFile(sources[i], options));
        continue;
      }
      auto body = pending[i]->body.get();
      if (!body) {
        results.emplace_back(tl::unexpected<Error>(std::move(body).error()));
        continue;
      }
      const Url& url = pending[i]->plan.url;
      auto profile = ReadProfile(StreamOf(*body), url.Text(), options.read);
      if (!profile) {
        results.emplace_back(tl::unexpected<Error>(std::move(profile).error()));
        continue;
      }
      results.emplace_back(SourceProfile{*std::move(profile), url});
    }
  }
  return results;
}

Result<Profile> ReadMerged(const std::vector<std::string>& sources, const ReadingOptions& options) {
  std::vector<Result<SourceProfile>> results = ReadSources(sources, options);
  std::vector<Profile> profiles;
  for (auto& result : results) {
    if (!result) return tl::unexpected<Error>(std::move(result).error());
    profiles.push_back(std::move(result->profile));
  }
  if (profiles.empty()) return Fail(ErrorCode::kInvalidArgument, "no profile is named");
  if (profiles.size() == 1) return std::move(profiles.front());
  return MergeProfiles(std::move(profiles));
}

}  // namespace heapgauge::cli
