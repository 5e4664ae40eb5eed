#include "endpoint/endpoint.h"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <exception>
#include <new>

#include "core/base/text.h"
#include "core/os/process.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/kept_profiles.h"
#include "endpoint/base/route.h"
#include "endpoint/target.h"

namespace heapgauge::endpoint {
namespace {

// Pages of ours hold their style in themselves and need nothing else; one that has a script says so
// itself.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'";

constexpr std::pair<const char*, const char*> kAlways[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Cache-Control", "no-store"},
    {"Referrer-Policy", "no-referrer"},
};

// Fills in the headers that every answer has; an answer above the limit becomes an error.
Response Finish(Response response, bool head, const Limits& limits) {
  if (response.body.size() > limits.response_bytes) {
    response = ErrorText(500, fmt::format("the answer has {} bytes, more than the limit of {}",
                                          response.body.size(), limits.response_bytes));
  }
  if (response.Header("Content-Type").empty()) {
    response.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
  }
  for (const auto& [name, value] : kAlways) {
    if (response.Header(name).empty()) response.headers.emplace_back(name, value);
  }
  const std::string_view type = response.Header("Content-Type");
  const bool active = type.starts_with("text/html") || type.starts_with("image/svg");
  if (active && response.Header("Content-Security-Policy").empty()) {
    response.headers.emplace_back("Content-Security-Policy", kPolicy);
  }
  if (head) response.body.clear();
  return response;
}

constexpr size_t kMostForm = 64 << 10;
constexpr size_t kMostParameter = 4 << 10;

bool IsForm(const Request& request) {
  return request.Header("Content-Type").starts_with("application/x-www-form-urlencoded");
}

bool Allows(std::string_view methods, std::string_view method) {
  while (!methods.empty()) {
    const std::string_view one = TakeUntil(&methods, ',');
    if (one == method || (one == "GET" && method == "HEAD")) return true;
    methods = TrimLeft(methods, " ");
  }
  return false;
}

bool Changes(std::string_view method) { return method != "GET" && method != "HEAD"; }

// Parameters of query and form, or what is wrong with them.
std::optional<Response> ReadParameters(const Request& request, bool raw_body, Headers* parameters) {
  auto query = ParseQuery(request.query);
  if (!query) return ErrorText(400, "the query is malformed or has too many parameters");
  *parameters = *std::move(query);
  if (!raw_body && !request.body.empty() && IsForm(request)) {
    if (request.body.size() > kMostForm) return ErrorText(413, "the form is too large");
    auto form = ParseQuery(request.body);
    if (!form) return ErrorText(400, "the form is malformed or has too many parameters");
    for (auto& parameter : *form) parameters->push_back(std::move(parameter));
  }
  for (const auto& [name, value] : *parameters) {
    if (!raw_body && (name.size() > kMostParameter || value.size() > kMostParameter)) {
      return ErrorText(400, "a parameter is too long");
    }
  }
  return {};
}

// Nothing that goes wrong inside may end the program that serves.
template <typename Fn>
auto Guarded(Fn&& fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (const std::bad_alloc&) {
    return ErrorText(500, "out of memory");
  } catch (const std::exception&) {
    return ErrorText(500, "internal error");
  }
}

// Counts promised replies; a reply that is dropped counts no more either.
class Ticket {
 public:
  explicit Ticket(std::shared_ptr<std::atomic<uint32_t>> counter) : counter_(std::move(counter)) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { --*counter_; }

 private:
  std::shared_ptr<std::atomic<uint32_t>> counter_;
};

}  // namespace

class Endpoint::State {
 public:
  State(std::shared_ptr<Processes> processes, std::shared_ptr<api::Sources> sources,
        const Limits& limits)
      : processes_(std::move(processes)),
        sources_(std::move(sources)),
        limits_(limits),
        kept_(std::make_shared<KeptProfiles>(limits)) {}

  Reply Handle(const Request& request) {
    return Guarded([&] { return HandleOrThrow(request); });
  }

 private:
  Reply HandleOrThrow(const Request& request) {
    const bool head = request.method == "HEAD";
    Reply reply = Guarded([&] { return Answer(request); });
    if (!reply.later) return Finish(std::move(reply.response), head, limits_);
    if (++*waiting_ > limits_.waiting) {
      --*waiting_;
      Response busy = ErrorText(503, "too many profiles over time are under way; try again later");
      busy.headers.emplace_back("Retry-After", "5");
      return Finish(std::move(busy), head, limits_);
    }
    // What it needs it holds itself: the endpoint may be gone by then.
    auto ticket = std::make_shared<Ticket>(waiting_);
    reply.later = [later = std::move(reply.later), ticket = std::move(ticket), head,
                   limits = limits_]() mutable {
      return Guarded([&] {
        Response response = Guarded([&] { return later(); });
        later = nullptr;
        ticket.reset();
        return Finish(std::move(response), head, limits);
      });
    };
    return reply;
  }

  Reply Answer(const Request& request) {
    const auto path = ParsePath(request.path);
    if (!path) return ErrorText(400, "the path is malformed");
    Match match = FindRoutes(*path);
    if (match.routes.empty() && IsIndexPath(*path)) {
      match.begin = path->pieces.size();
      match.lacks_slash = !path->folder;
      for (const Route& route : IndexRoutes()) match.routes.push_back(&route);
    }
    if (match.routes.empty()) return ErrorText(404, "404 page not found");
    const Route* chosen = nullptr;
    std::string allow;
    for (const Route* route : match.routes) {
      if (chosen == nullptr && Allows(route->methods, request.method)) chosen = route;
      allow += (allow.empty() ? "" : ", ") + std::string(route->methods);
    }
    if (chosen == nullptr) return MethodNotAllowed(allow);
    // Links of a page are relative to its folder.
    if (match.lacks_slash && !Changes(request.method) && !path->pieces.empty()) {
      return ToFolder(request.path);
    }
    if (Changes(request.method) && request.is_cross_site()) {
      return ErrorText(403, "a page of another site may not ask for this");
    }
    return Run(request, *path, match, *chosen);
  }

  Reply Run(const Request& request, const Path& path, const Match& match, const Route& route) {
    Call call{request,     route.path, match.rest, {},     nullptr,
              *processes_, *kept_,     *sources_,  limits_};
    if (auto problem = ReadParameters(request, route.raw_body, &call.parameters)) {
      return *std::move(problem);
    }
    Target target = FindProcess(path, match.begin, processes_.get());
    if (target.problem && (route.needs_process || target.named)) return *std::move(target.problem);
    call.process = std::move(target.process);
    call.is_named = target.named;
    return route.handle(call);
  }

  // The last piece as it was sent, so that it works below any prefix.
  static Response ToFolder(const std::string& path) {
    const std::string last = path.substr(path.rfind('/') + 1);
    for (const char c : last) {
      if (c <= ' ' || c > '~') return ErrorText(400, "the path is malformed");
    }
    Response response = ErrorText(301, "moved: add a slash");
    response.headers.emplace_back("Location", "./" + last + "/");
    return response;
  }

  const std::shared_ptr<Processes> processes_;
  const std::shared_ptr<api::Sources> sources_;
  const Limits limits_;
  const std::shared_ptr<KeptProfiles> kept_;
  const std::shared_ptr<std::atomic<uint32_t>> waiting_ =
      std::make_shared<std::atomic<uint32_t>>(0);
};

Endpoint::Endpoint(std::shared_ptr<Processes> processes, Limits limits)
    : Endpoint(processes, std::make_shared<api::Sources>(processes), limits) {}
Endpoint::Endpoint(std::shared_ptr<Processes> processes, std::shared_ptr<api::Sources> sources,
                   Limits limits)
    : state_(std::make_unique<State>(std::move(processes), std::move(sources), limits)) {}
Endpoint::~Endpoint() = default;

Reply Endpoint::Handle(const Request& request) { return state_->Handle(request); }

}  // namespace heapgauge::endpoint
