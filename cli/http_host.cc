#include "cli/http_host.h"

#include <ctime>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "cli/command_line.h"
#include "core/base/file.h"
#include "core/base/threads.h"
#include "core/gauge/gauge_control.h"
#include "core/gauge/gauge_directory.h"
#include "core/leaks/verdict/check_process.h"
#include "core/os/process.h"
#include "endpoint/api/query.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/gauge_process.h"
#include "endpoint/base/process.h"
#include "endpoint/http/access.h"
#include "endpoint/target.h"

namespace heapgauge::cli {

// Ticks the timelines of the processes that `serve` shows, as `run` does for its own: a program
// that allocates little would have gaps in it, and nobody else notes its resident memory.
//
// Single-threaded. Files that may not be written are left alone.
class ServedTicks {
 public:
  // To be called once a second.
  void Tick(endpoint::Processes* processes);

 private:
  std::map<std::string, GaugeTicker> tickers_;
};

namespace {

// One may find names for seconds while the other answers.
constexpr unsigned kWorkers = 2;

}  // namespace

void AddListenOptions(Command sub, ListenOptions* options, const std::string& address_help) {
  sub.Add("--http", &options->address, address_help);
  sub.Add("--token-file", &options->token_file,
          "who asks must know the token in this file: http://any:TOKEN@host:port/");
  sub.Flag("--insecure", &options->insecure,
           "no token on an address that other machines can reach");
}

HttpHost::HttpHost(std::shared_ptr<endpoint::Processes> processes,
                   std::shared_ptr<endpoint::api::Sources> sources)
    : sources_(sources != nullptr ? std::move(sources)
                                  : std::make_shared<endpoint::api::Sources>(processes, nullptr,
                                                                             MakeLeakChecker())),
      endpoint_(processes, sources_, BesideTheProcess()) {}

Result<std::unique_ptr<HttpHost>> HttpHost::Open(const ListenOptions& options,
                                                 std::shared_ptr<endpoint::Processes> processes,
                                                 std::shared_ptr<endpoint::api::Sources> sources) {
  endpoint::ServerOptions server;
  server.address = options.address;
  server.insecure = options.insecure;
  server.workers = kWorkers;
  server.at_once = endpoint::IsCancel;
  if (!options.token_file.empty()) {
    HG_ASSIGN(server.token, endpoint::ReadTokenFile(options.token_file));
  }
  std::unique_ptr<HttpHost> host(new HttpHost(std::move(processes), std::move(sources)));
  endpoint::Endpoint* endpoint = &host->endpoint_;
  HG_ASSIGN(host->server_,
            endpoint::Server::Listen(server, [endpoint](const endpoint::Request& request) {
              return endpoint->Handle(request);
            }));
  return host;
}

Status HttpHost::Start() {
  const BlockedSignals blocked;
  Status status;
  try {
    thread_ = std::thread([this] { server_->Run(); });
  } catch (const std::system_error& error) {
    status =
        tl::unexpected<Error>(SystemError("--http: cannot start a thread", error.code().value()));
  }
  return status;
}

void HttpHost::Stop() {
  if (!thread_.joinable()) return;
  // The workers are waited for in the end, and a statement may take minutes.
  if (const auto& queries = sources_->queries()) queries->EndAll();
  server_->Stop();
  thread_.join();
}

HttpHost::~HttpHost() { Stop(); }

namespace {

class LiveChecker final : public endpoint::api::LeakChecker {
 public:
  explicit LiveChecker(leaks::Suppressions suppressions) : suppressions_(std::move(suppressions)) {}

  Result<leaks::Check> Look(endpoint::Process* process) override {
    leaks::CheckOptions options;
    options.gauge_path = process->gauge_path();
    if (options.gauge_path.empty()) {
      return Fail(ErrorCode::kUnavailable, "there is no gauge file of this process here");
    }
    return leaks::CheckProcess(process->pid(), options);
  }
  const leaks::Suppressions& suppressions() const override { return suppressions_; }

 private:
  const leaks::Suppressions suppressions_;
};

}  // namespace

std::shared_ptr<endpoint::api::LeakChecker> MakeLeakChecker(leaks::Suppressions suppressions) {
  return std::make_shared<LiveChecker>(std::move(suppressions));
}

void ServedTicks::Tick(endpoint::Processes* processes) {
  std::map<std::string, GaugeTicker> still;
  for (const auto& process : processes->List()) {
    const auto* gauge = dynamic_cast<const endpoint::GaugeProcess*>(process.get());
    if (gauge == nullptr) continue;
    const auto owner = ReadOwner(gauge->path());
    const uint32_t pid = owner ? RunningAs(*owner) : 0;
    if (pid == 0) continue;
    auto known = tickers_.extract(gauge->path());
    if (known.empty() || known.mapped().pid() != owner->pid) {
      auto opened = GaugeTicker::Open(gauge->path());
      if (!opened) continue;
      still.emplace(gauge->path(), *std::move(opened));
    } else {
      still.insert(std::move(known));
    }
    const auto resident = ResidentBytes(pid);
    if (!resident || *resident == 0) continue;
    static_cast<void>(still.at(gauge->path()).Tick(*resident, MonotonicNow()));
  }
  tickers_ = std::move(still);
}

UntilEnded::UntilEnded() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals_, signal);
  sigprocmask(SIG_BLOCK, &signals_, nullptr);
}

void UntilEnded::Wait(endpoint::Processes* processes) const {
  ServedTicks ticks;
  const timespec second{1, 0};
  while (sigtimedwait(&signals_, nullptr, &second) < 0) ticks.Tick(processes);
}

}  // namespace heapgauge::cli
