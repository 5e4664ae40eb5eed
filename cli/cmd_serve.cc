// serve: the profiles of running programs over HTTP, beside them.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/http_host.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/gauge/gauge_directory.h"
#include "core/symbolize/name_cache.h"
#include "endpoint/base/gauge_process.h"
#include "endpoint/http/listener.h"

namespace heapgauge::cli {
namespace {

constexpr size_t kMostNamed = 5;  // in the line at the start

struct ServeOptions {
  ListenOptions http;
  std::string dump_directory;
  std::vector<std::string> sources;
};

Result<endpoint::GaugeProcesses::Choice> Choose(const std::vector<std::string>& sources) {
  endpoint::GaugeProcesses::Choice choice;
  for (const std::string& source : sources) {
    std::error_code ignored;
    if (const auto pid = NumberIn<uint32_t>(source)) {
      HG_TRY(FindGaugeOf(*pid));
      choice.pids.push_back(*pid);
    } else if (std::filesystem::is_directory(source, ignored)) {
      choice.directories.push_back(source);
    } else {
      HG_TRY(ReadOwner(source));
      choice.files.push_back(source);
    }
  }
  return choice;
}

// "server 4242, worker 4243 and 3 more".
std::string ServedNames(endpoint::Processes* processes) {
  std::string text;
  size_t more = 0;
  size_t shown = 0;
  for (const auto& process : processes->List()) {
    const auto facts = process->Facts();
    if (!facts) continue;
    if (shown == kMostNamed) {
      ++more;
      continue;
    }
    text += fmt::format("{}{} {}", shown == 0 ? "" : ", ", Printable(facts->name()), facts->pid);
    ++shown;
  }
  if (more != 0) text += fmt::format(" and {} more", more);
  return text.empty() ? "no profiled process yet; start one with: heapgauge run -- ./program"
                      : text;
}

int Serve(const ServeOptions& options) {
  auto choice = Choose(options.sources);
  if (!choice) return FailWith(choice.error());
  endpoint::GaugeProcessOptions how;
  how.name_cache = DefaultNameCacheDir();
  if (!options.dump_directory.empty()) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(options.dump_directory, error);
    how.dump_directory = error ? options.dump_directory : absolute.string();
  }
  const auto processes =
      std::make_shared<endpoint::GaugeProcesses>(*std::move(choice), std::move(how));
  const UntilEnded ended;
  const auto host = HttpHost::Open(options.http, processes);
  if (!host) return FailWith(host.error());
  if (const Status started = (*host)->Start(); !started) return FailWith(started.error());
  fmt::print(stderr, "heapgauge: serving {}/ ({}); Ctrl-C ends\n", (*host)->url(),
             ServedNames(processes.get()));
  ended.Wait(processes.get());
  (*host)->Stop();
  return kDone;
}

void DescribeServe(Command sub, Action* action) {
  auto options = std::make_shared<ServeOptions>();
  options->http.address = "127.0.0.1:" + std::to_string(endpoint::kDefaultPort);
  sub.Footer(R"(
Shows what is profiled on this host, or the processes, files and directories that are named, to browsers, curl
and the pprof clients. Nothing is added to the programs: their gauge files are read.

  http://127.0.0.1:9700/                                     what there is, and what can be asked
  curl http://127.0.0.1:9700/pid/4242/debug/pprof/heap?debug=1
  go tool pprof http://127.0.0.1:9700/pid/4242/debug/pprof/heap
  jeprof --text http://127.0.0.1:9700/pid/4242/pprof/heap
  curl -X POST http://127.0.0.1:9700/pid/4242/prof/disable   changing something needs POST

With one process, /pid/PID may be left out.

ADDR is HOST:PORT (an IP address, localhost, or * for every interface; port 0 for any) or unix:PATH, a socket
for this user alone: curl --unix-socket PATH http://h/. On loopback every user of this machine can connect.
Other machines need the token, unless --insecure: everybody may look then, and switch profiling off.

Examples:
  heapgauge serve                                  all processes, on 127.0.0.1:9700
  heapgauge serve 4242
  (umask 077; openssl rand -hex 16 > token); heapgauge serve --http '*:9700' --token-file token
  heapgauge serve --http unix:/run/user/1000/heapgauge.sock)");
  sub.Add("SOURCE", &options->sources,
          "process numbers, gauge files or directories of them; all on this host if there is none");
  AddListenOptions(sub, &options->http, "where to listen (127.0.0.1:9700)");
  sub.Add("--dump-dir", &options->dump_directory,
          "directory for dumps that are asked for; without it there are none");
  sub.OnChosen([=] { *action = [=] { return Serve(*options); }; });
}

}  // namespace

const CommandEntry kServeCommand = {
    "serve", "show running programs over HTTP: serve [--http ADDR] [PID...|DIR]", DescribeServe};

}  // namespace heapgauge::cli
