#include "endpoint/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/encode.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "endpoint/api/api.h"
#include "endpoint/base/route.h"
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
    const uint32_t pid = NumberIn<uint32_t>(wanted).value_or(0);
    if (auto process = pid != 0 ? processes->Find(pid) : nullptr) {
      return {std::move(process), {}, true};
    }
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

// The index: which processes there are, and what can be asked of one. A page for browsers, lines of
// text for curl.

namespace {

constexpr size_t kMostProcesses = 1000;

bool ForTerminal(const Request& request) {
  const std::string_view agent = request.Header("User-Agent");
  return agent.empty() || agent.find("curl/") != std::string_view::npos;
}

struct ProcessLine {
  uint32_t pid = 0;
  std::string name;
  std::string state;
  std::string command;
};

ProcessLine Describe(Process* process) {
  ProcessLine line;
  line.pid = process->pid();
  const auto facts = process->Facts();
  if (!facts) {
    line.state = facts.error().message;
    return line;
  }
  line.name = Printable(facts->name());
  line.state = StateText(*facts) + (facts->active ? "" : ", sampling is off");
  line.command = Printable(Join(facts->command_line));
  return line;
}

std::string TextIndex(const std::vector<ProcessLine>& processes, const Process* chosen) {
  std::string text;
  for (const ProcessLine& line : processes) {
    text += fmt::format("pid/{}/  {}  {}  {}\n", line.pid, line.name, line.state, line.command);
  }
  if (processes.empty()) text = "no process is profiled\n";
  if (chosen == nullptr) return text;
  text += '\n';
  for (const Route* route : AllRoutes()) {
    if (route->summary.empty()) continue;
    text += fmt::format("{:<22} {:<16} {}\n", route->path, route->methods, route->summary);
  }
  return text;
}

std::string HtmlIndex(const std::vector<ProcessLine>& processes, const Process* chosen,
                      bool below_root) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>heapgauge</title>\n"
      "<style>body{font:14px/1.5 system-ui,sans-serif;margin:2em;max-width:70em}"
      "td,th{text-align:left;padding:.1em 1.2em .1em 0;vertical-align:top}"
      "code{font-size:13px}</style></head><body>\n<h1>heapgauge</h1>\n";
  page += "<table><tr><th>pid<th>program<th>state<th>command</tr>\n";
  for (const ProcessLine& line : processes) {
    // Below /pid/N/ the process is where we are.
    const std::string link = below_root ? "./" : fmt::format("pid/{}/", line.pid);
    page += fmt::format("<tr><td><a href=\"{}\">{}</a><td>{}<td>{}<td><code>{}</code></tr>\n", link,
                        line.pid, EscapeHtml(line.name), EscapeHtml(line.state),
                        EscapeHtml(line.command));
  }
  page += "</table>\n";
  if (below_root) page += "<p><a href=\"../../\">all processes</a></p>\n";
  if (processes.empty()) {
    page +=
        "<p>No process is profiled. Start one with <code>heapgauge run -- ./program</code></p>\n";
  }
  if (chosen != nullptr) {
    page += "<h2>Profiles and pages</h2>\n<table>\n";
    for (const Route* route : AllRoutes()) {
      if (route->summary.empty()) continue;
      const std::string path = EscapeHtml(route->path);
      // What changes something is for curl, not for a click.
      const std::string shown = route->methods.starts_with("GET")
                                    ? fmt::format("<a href=\"{}\">{}</a>", path, path)
                                    : fmt::format("<code>{}</code>", path);
      page += fmt::format("<tr><td>{}<td>{}<td>{}</tr>\n", EscapeHtml(route->methods), shown,
                          EscapeHtml(route->summary));
    }
    page += "</table>\n";
  }
  page += "</body></html>\n";
  return page;
}

Reply Index(const Call& call) {
  // With a process in the path there is one to show; otherwise all.
  const auto path = ParsePath(call.request.path);
  const bool below_root = path && EndsInProcess(*path);
  std::vector<ProcessLine> processes;
  if (below_root && call.process != nullptr) {
    processes.push_back(Describe(call.process.get()));
  } else {
    for (const auto& process : call.processes.List()) {
      if (processes.size() == kMostProcesses) break;
      processes.push_back(Describe(process.get()));
    }
  }
  if (ForTerminal(call.request)) return PlainText(200, TextIndex(processes, call.process.get()));
  Response response{200, {{"Content-Type", "text/html; charset=utf-8"}}, ""};
  response.body = HtmlIndex(processes, call.process.get(), below_root);
  return response;
}

constexpr Route kRoutes[] = {{"", "GET, HEAD", Index, false}};

}  // namespace

std::span<const Route> IndexRoutes() { return kRoutes; }

}  // namespace heapgauge::endpoint
