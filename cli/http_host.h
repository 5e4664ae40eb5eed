// A host that answers on a port beside the programs, for `serve`, `ui` and `run --http`: the port,
// leak checks for its page, and how long it serves.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "core/base/result.h"
#include "core/leaks/verdict/suppressions.h"
#include "endpoint/api/kept_checks.h"
#include "endpoint/base/process.h"
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

// The endpoint on a port of this process.
//
// Binding and starting are two steps, so that `run` can bind before the program starts, and have
// no second thread until it has forked. All signals are blocked in the threads made here.
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

// Leak checks for the page of the host.
std::shared_ptr<endpoint::api::LeakChecker> MakeLeakChecker(leaks::Suppressions suppressions = {});

// A command that serves until somebody ends it: Ctrl-C, or a signal that asks it to.
//
// To be made before the first thread, so that the signals are blocked in all of them.
// Single-threaded.
class UntilEnded {
 public:
  UntilEnded();

  // Returns when one of the signals came. Ticks the timelines of the processes meanwhile.
  void Wait(endpoint::Processes* processes) const;

 private:
  sigset_t signals_;
};

}  // namespace heapgauge::cli
