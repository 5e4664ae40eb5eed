#include "endpoint/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/base/text.h"
#include "endpoint/api/api.h"
#include "endpoint/dialects/routes.h"
#include "endpoint/web/assets.h"

namespace heapgauge::endpoint {
namespace {

constexpr size_t kMostListed = 100;

// Pieces of a route's path, compared with those of the request.
bool EndsAt(const Path& path, size_t end, std::string_view route, size_t* begin) {
  size_t at = end;
  while (!route.empty()) {
    const size_t slash = route.rfind('/');
    const std::string_view piece =
        slash == std::string_view::npos ? route : route.substr(slash + 1);
    if (at == 0 || path.pieces[at - 1] != piece) return false;
    --at;
    route = slash == std::string_view::npos ? std::string_view() : route.substr(0, slash);
  }
  *begin = at;
  return at < end;
}

std::optional<uint32_t> ParsePid(std::string_view text) {
  uint32_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid == 0) return {};
  return pid;
}

struct Known {
  std::shared_ptr<Process> process;
  std::string name;
  bool runs = false;
};

std::vector<Known> Look(Processes* processes) {
  std::vector<Known> known;
  for (std::shared_ptr<Process>& process : processes->List()) {
    Known one{std::move(process), "", false};
    if (const auto facts = one.process->Facts()) {
      one.name = facts->name();
      one.runs = facts->state == RecordingState::kLive;
    }
    known.push_back(std::move(one));
  }
  return known;
}

// The only one, or the only one that runs; null if neither.
std::shared_ptr<Process> Single(const std::vector<Known>& known) {
  if (known.size() == 1) return known[0].process;
  std::shared_ptr<Process> found;
  for (const Known& one : known) {
    if (!one.runs) continue;
    if (found != nullptr) return nullptr;
    found = one.process;
  }
  return found;
}

Response Ambiguous(const std::string& opening, const std::vector<Known>& known) {
  std::string text = opening + "\n";
  for (size_t i = 0; i < known.size() && i < kMostListed; ++i) {
    text += fmt::format("  /pid/{}/  {}{}\n", known[i].process->pid(), Printable(known[i].name),
                        known[i].runs ? "" : " (ended)");
  }
  if (known.size() > kMostListed)
    text += fmt::format("  and {} more\n", known.size() - kMostListed);
  return ErrorText(409, text);
}

// The last pair of pieces before `end` that names a process: "pid" or "name" stands there.
std::optional<size_t> Selector(const Path& path, size_t end) {
  for (size_t at = std::min(end, path.pieces.size()); at-- > 1;) {
    if (path.pieces[at - 1] == "pid" || path.pieces[at - 1] == "name") return at - 1;
  }
  return {};
}

Target ByName(const std::string& name, Processes* processes) {
  std::vector<Known> named;
  for (Known& one : Look(processes)) {
    if (one.name == name) named.push_back(std::move(one));
  }
  if (named.empty()) {
    return {nullptr, ErrorText(404, "no process of that name; / lists what there is"), true};
  }
  if (auto process = Single(named)) return {std::move(process), {}, true};
  return {nullptr, Ambiguous("several processes have that name; use one of:", named), true};
}

}  // namespace

Match FindRoutes(const Path& path) {
  Match best;
  size_t best_pieces = 0;
  bool best_has_rest = false;
  const size_t count = path.pieces.size();
  const auto consider = [&](const Route* route, size_t begin, bool has_rest, bool lacks_slash) {
    const size_t pieces = count - begin;
    const bool better =
        pieces > best_pieces || (pieces == best_pieces && best_has_rest && !has_rest);
    if (better) {
      best = {{}, begin, has_rest ? path.pieces.back() : std::string(), lacks_slash};
      best_pieces = pieces;
      best_has_rest = has_rest;
    }
    if (pieces == best_pieces && has_rest == best_has_rest) best.routes.push_back(route);
  };
  for (const Route* route : AllRoutes()) {
    std::string_view text = route->path;
    size_t begin = 0;
    if (text.empty()) continue;
    if (text.back() != '/') {
      if (EndsAt(path, count, text, &begin)) consider(route, begin, false, false);
      continue;
    }
    text.remove_suffix(1);
    if (EndsAt(path, count, text, &begin)) consider(route, begin, false, !path.folder);
    if (count > 0 && EndsAt(path, count - 1, text, &begin)) consider(route, begin, true, false);
  }
  return best;
}

Target FindProcess(const Path& path, size_t end, Processes* processes) {
  if (const auto at = Selector(path, end)) {
    const std::string& wanted = path.pieces[*at + 1];
    if (path.pieces[*at] == "name") return ByName(wanted, processes);
    const auto pid = ParsePid(wanted);
    if (auto process = pid ? processes->Find(*pid) : nullptr) return {std::move(process), {}, true};
    return {nullptr, ErrorText(404, "no profiled process of that number; / lists what there is"),
            true};
  }
  const std::vector<Known> known = Look(processes);
  if (known.empty()) {
    return {nullptr,
            ErrorText(404, "no process is profiled; start one with: heapgauge run -- ./program"),
            false};
  }
  if (auto process = Single(known)) return {std::move(process), {}, false};
  return {nullptr,
          Ambiguous("several processes are profiled; put one of these before the path:", known),
          false};
}

bool EndsInProcess(const Path& path) {
  const auto at = Selector(path, path.pieces.size());
  return at && *at + 2 == path.pieces.size();
}

bool IsIndexPath(const Path& path) {
  return path.pieces.empty() || path.pieces.back() == "heapgauge" || EndsInProcess(path);
}

std::span<const Route* const> AllRoutes() {
  static const std::vector<const Route*> all = [] {
    std::vector<const Route*> routes;
    for (const auto table :
         {GperftoolsRoutes(), GoRoutes(), HotspotsRoutes(), EnvoyRoutes(), UserverRoutes(),
          PrometheusRoutes(), ApiRoutes(), UiRoutes(), IndexRoutes()}) {
      for (const Route& route : table) routes.push_back(&route);
    }
    return routes;
  }();
  return all;
}

bool IsCancel(const Request& request) {
  if (request.method != "POST") return false;
  const auto path = ParsePath(request.path);
  if (!path) return false;
  const Match match = FindRoutes(*path);
  return std::any_of(match.routes.begin(), match.routes.end(),
                     [](const Route* route) { return route->handle == api::HandleCancel; });
}

}  // namespace heapgauge::endpoint
