#include "endpoint/base/route.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>

#include "core/base/byte_stream.h"
#include "core/base/encode.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/recording/read_profile.h"
#include "endpoint/base/engine.h"

namespace heapgauge::endpoint {

std::optional<std::string_view> Call::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

Result<Engine*> Call::ChosenEngine() const {
  const std::string_view wanted = Parameter("engine").value_or("native");
  if (wanted.empty() || wanted == "native") return nullptr;
  constexpr std::array<std::string_view, 2> kKnown = {"jemalloc", "tcmalloc"};
  if (std::find(kKnown.begin(), kKnown.end(), wanted) == kKnown.end()) {
    return Fail(ErrorCode::kInvalidArgument, "engine is one of: native, jemalloc, tcmalloc");
  }
  std::string there = "native";
  if (process != nullptr) {
    for (Engine* engine : process->engines()) {
      if (engine->name() == wanted) return engine;
      there += ", " + std::string(engine->name());
    }
  }
  return Fail(ErrorCode::kNotFound,
              "no engine " + std::string(wanted) +
                  " in this process, or it is seen from outside; there is: " + there);
}

std::string RandomText() {
  std::array<unsigned char, 16> bytes;
  ssize_t got = 0;
  do {
    got = getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(bytes.size())) return {};
  return HexText(bytes);
}

std::optional<Response> RefuseOthers(const Call& call,
                                     std::initializer_list<std::string_view> allowed) {
  std::string names;
  for (const std::string_view name : allowed) {
    names += names.empty() ? "" : ", ";
    names += name;
  }
  if (names.empty()) names = "none";
  for (auto parameter = call.parameters.begin(); parameter != call.parameters.end(); ++parameter) {
    const std::string& name = parameter->first;
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      return ErrorText(400, "there is a parameter that is not known here; known are: " + names);
    }
    if (std::any_of(call.parameters.begin(), parameter,
                    [&](const auto& earlier) { return earlier.first == name; })) {
      return ErrorText(400, "the parameter " + name + " is there twice");
    }
  }
  return {};
}

Response FailureOf(const Error& error) {
  int status = 500;
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      status = 400;
      break;
    case ErrorCode::kNotFound:
      status = 404;
      break;
    case ErrorCode::kPermission:
      status = 403;
      break;
    case ErrorCode::kUnavailable:
    case ErrorCode::kHeld:
    case ErrorCode::kUnsupported:
    case ErrorCode::kUnfinished:
      status = 409;
      break;
    default:
      break;
  }
  return ErrorText(status, Printable(error.message));
}

Result<std::shared_ptr<const Profile>> TakeNamed(const Call& call, Wanted wanted) {
  HG_ASSIGN(Engine* const engine, call.ChosenEngine());
  if (engine == nullptr) {
    return call.process->TakeWithNames(wanted == Wanted::kPeak ? Moment::kPeak : Moment::kNow);
  }
  const std::string name(engine->name());
  if (wanted == Wanted::kPeak) {
    return Fail(ErrorCode::kUnavailable, name + " keeps no profile of its peak");
  }
  std::string bytes;
  {
    const std::lock_guard lock(EngineLock());
    if (const Engine::State state = engine->state(); !state.can_profile) {
      return Fail(ErrorCode::kUnavailable, name + " cannot profile: " + state.why_not);
    }
    HG_ASSIGN(bytes, wanted == Wanted::kGrowth ? engine->TakeGrowth() : engine->TakeHeap());
  }
  HG_ASSIGN(Profile profile, ReadProfile(StreamOf(bytes), name + "'s profile"));
  call.process->AddNames(&profile);
  return std::make_shared<const Profile>(std::move(profile));
}

Result<Response> ProtoDownload(const Profile& profile, const std::string& file_name) {
  StringSink sink;
  HG_TRY(WritePprof(profile, {}, &sink));
  return Response{200,
                  {{"Content-Type", "application/octet-stream"},
                   {"Content-Disposition", "attachment; filename=\"" + file_name + "\""},
                   {"Cache-Control", "no-cache, max-age=0"},
                   {"X-Content-Type-Options", "nosniff"}},
                  sink.Take()};
}

bool WantsHtml(const Call& call) {
  if (const auto console = call.Parameter("console")) return *console == "0";
  const std::string_view agent = call.request.Header("User-Agent");
  return !agent.empty() && agent.find("curl/") == std::string_view::npos;
}

std::string PrefixOf(const Call& call) {
  const std::string& path = call.request.path;
  const size_t at = path.rfind("/" + std::string(call.route));
  if (at == std::string::npos || at > 200) return {};
  const std::string prefix = path.substr(0, at);
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  if (prefix.find_first_not_of(kPlain) != std::string::npos) return {};
  // "//host/..." would be another server.
  return prefix.starts_with("//") ? std::string() : prefix;
}

std::string NameOf(const RecordingFacts& recording) {
  const std::string name = Printable(BaseName(recording.name()));
  return name.empty() ? "unknown" : name;
}

}  // namespace heapgauge::endpoint
