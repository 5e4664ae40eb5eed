// The index: which processes there are, and what can be asked of one. A page for browsers, lines of
// text for curl.

#include <fmt/format.h>

#include "core/base/html.h"
#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "endpoint/base/route.h"
#include "endpoint/target.h"

namespace heapgauge::endpoint {
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
  for (const std::string& word : facts->command_line) {
    line.command += (line.command.empty() ? "" : " ") + Printable(word);
  }
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
