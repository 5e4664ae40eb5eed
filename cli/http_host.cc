#include "cli/http_host.h"

#include <system_error>
#include <utility>

#include "cli/command_line.h"
#include "cli/ui_leaks.h"
#include "core/base/blocked_signals.h"
#include "core/base/file.h"
#include "endpoint/api/queries.h"
#include "endpoint/api/sources.h"
#include "endpoint/http/access.h"
#include "endpoint/target.h"

namespace heapgauge::cli {
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

}  // namespace heapgauge::cli
