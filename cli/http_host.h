// The endpoint on a port of this process: what `serve` and `run --http` have in common.
//
// Binding and starting are two steps, so that `run` can bind before the program starts, and have
// no second thread until it has forked. All signals are blocked in the threads made here.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "core/base/result.h"
#include "endpoint/endpoint.h"
#include "endpoint/http/server.h"

namespace heapgauge::cli {

class Command;

struct ListenOptions {
  std::string address;
  std::string token_file;
  bool insecure = false;
};

// --http, --token-file, --insecure.
void AddListenOptions(Command sub, ListenOptions* options, const std::string& address_help);

class HttpHost {
 public:
  // Binds the address; nobody is answered yet. `sources`: what the web UI shows; null: the
  // processes.
  static Result<std::unique_ptr<HttpHost>> Open(
      const ListenOptions& options, std::shared_ptr<endpoint::Processes> processes,
      std::shared_ptr<endpoint::api::Sources> sources = nullptr);
  HttpHost(const HttpHost&) = delete;
  HttpHost& operator=(const HttpHost&) = delete;
  // Stops; waits for answers that are being made.
  ~HttpHost();

  std::string url() const { return server_->url(); }
  Status Start();
  // Statements of SQL under way are ended. Other answers are sent, within a second.
  void Stop();

 private:
  HttpHost(std::shared_ptr<endpoint::Processes> processes,
           std::shared_ptr<endpoint::api::Sources> sources);
  // This program is ours to fork.
  static endpoint::Limits BesideTheProcess() {
    endpoint::Limits limits;
    limits.may_fork = true;
    return limits;
  }

  const std::shared_ptr<endpoint::api::Sources> sources_;
  endpoint::Endpoint endpoint_;
  std::unique_ptr<endpoint::Server> server_;
  std::thread thread_;
};

}  // namespace heapgauge::cli
