#include "service/own_endpoint.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "endpoint/base/gauge_process.h"
#include "endpoint/base/message.h"
#include "endpoint/http/access.h"
#include "endpoint/http/server.h"
#include "service/engines/engines.h"
#include "service/own_descriptors.h"
#include "service/runtime.h"

namespace heapgauge::service {
namespace {

class OnlyThis final : public endpoint::Processes {
 public:
  std::vector<std::shared_ptr<endpoint::Process>> List() override { return {Current()}; }
  std::shared_ptr<endpoint::Process> Find(uint32_t pid) override {
    auto process = Current();
    return process->pid() == pid ? process : nullptr;
  }

 private:
  // A program that was given its gauge file late, or another one.
  std::shared_ptr<endpoint::Process> Current() {
    const std::string path = Host().gauge_path();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (process_ == nullptr || path != path_) {
      path_ = path;
      process_ = std::make_shared<endpoint::GaugeProcess>(path, Options());
    }
    return process_;
  }
  endpoint::GaugeProcessOptions Options() {
    if (engines_.empty()) engines_ = engines::FindEngines();
    endpoint::GaugeProcessOptions options;
    options.dump_directory = Host().dump_directory;
    if (options.dump_directory.empty()) options.dump_directory = path_.substr(0, path_.rfind('/'));
    for (const auto& engine : engines_) options.engines.push_back(engine.get());
    options.nudge = Host().follow_control;
    return options;
  }

  std::mutex mutex_;
  std::string path_;
  std::shared_ptr<endpoint::Process> process_;
  std::vector<std::unique_ptr<endpoint::Engine>> engines_;
};

std::atomic<endpoint::Endpoint*> own;
std::mutex making;

}  // namespace

endpoint::Endpoint& OwnEndpoint() {
  if (endpoint::Endpoint* made = own.load(std::memory_order_acquire)) return *made;
  const std::lock_guard<std::mutex> lock(making);
  endpoint::Endpoint* made = own.load();
  if (made == nullptr) {
    made = new endpoint::Endpoint(std::make_shared<OnlyThis>());
    own.store(made, std::memory_order_release);
  }
  return *made;
}

void ForgetOwnEndpoint() {
  own.store(nullptr);
  // Nobody in this process holds it: a call that was under way makes the library unusable anyway.
  new (&making) std::mutex;
}

namespace {

// As many as a server lets through; a framework may have bounded nothing.
constexpr size_t kMostHeaders = 128;
constexpr size_t kMostText = 16 << 10;
constexpr size_t kMostBody = 64 << 20;

// Each keeps a thread of the framework, which may have no more than eight.
constexpr uint32_t kMostWaiting = 4;
std::atomic<uint32_t> waiting;

endpoint::Response TooMany() {
  endpoint::Response busy = endpoint::ErrorText(
      503,
      "too many profiles over time are under way; try again later, or fetch twice and compare");
  busy.headers.emplace_back("Retry-After", "5");
  return busy;
}

void SleepUntil(uint64_t due_ns) {
  const timespec due = {static_cast<time_t>(due_ns / 1'000'000'000),
                        static_cast<long>(due_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
}

struct Owner {
  endpoint::Response response;
  std::vector<heapgauge_header> headers;
};

bool Fits(const heapgauge_text& text, size_t most) {
  return text.size <= most && (text.data != nullptr || text.size == 0);
}

std::string Copy(const heapgauge_text& text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

heapgauge_text View(const std::string& text) { return {text.data(), text.size()}; }

bool Read(const heapgauge_request& from, endpoint::Request* to) {
  if (!Fits(from.method, 32) || !Fits(from.path, kMostText) || !Fits(from.query, kMostText) ||
      !Fits(from.body, kMostBody) || from.header_count > kMostHeaders ||
      (from.headers == nullptr && from.header_count != 0)) {
    return false;
  }
  to->method = Copy(from.method);
  to->path = Copy(from.path);
  to->query = Copy(from.query);
  to->body = Copy(from.body);
  for (size_t i = 0; i < from.header_count; ++i) {
    const heapgauge_header& header = from.headers[i];
    if (!Fits(header.name, kMostText) || !Fits(header.value, kMostText)) return false;
    to->headers.emplace_back(Copy(header.name), Copy(header.value));
  }
  return true;
}

}  // namespace

int Handle(const heapgauge_request* request, heapgauge_response* response) {
  auto owner = std::unique_ptr<Owner>();
  endpoint::Reply reply;
  int result = Guarded([&] {
    endpoint::Request own;
    if (!Read(*request, &own)) {
      return FailWith(HEAPGAUGE_INVALID, "a part of the request is missing or too large");
    }
    owner = std::make_unique<Owner>();
    reply = OwnEndpoint().Handle(own);
    if (reply.later && waiting.fetch_add(1) >= kMostWaiting) {
      waiting.fetch_sub(1);
      reply = TooMany();
    }
    return int{HEAPGAUGE_OK};
  });
  if (result != HEAPGAUGE_OK) return result;
  // Between two calls, so that the process may fork meanwhile.
  const bool waits = static_cast<bool>(reply.later);
  if (waits) SleepUntil(reply.due_ns);
  result = Guarded([&] {
    if (waits) reply.response = reply.later();
    owner->response = std::move(reply.response);
    reply = {};
    for (const auto& [name, value] : owner->response.headers) {
      owner->headers.push_back({View(name), View(value)});
    }
    response->status = owner->response.status;
    response->headers = owner->headers.data();
    response->header_count = owner->headers.size();
    response->body = View(owner->response.body);
    response->owner = owner.release();
    return int{HEAPGAUGE_OK};
  });
  if (waits) waiting.fetch_sub(1);
  return result;
}

void FreeResponse(heapgauge_response* response) {
  const CallScope scope;
  delete static_cast<Owner*>(response->owner);
  *response = {};
}

namespace {

using endpoint::Reply;
using endpoint::Request;
using endpoint::Response;
using endpoint::Server;

constexpr size_t kStackBytes = 2 << 20;
constexpr std::string_view kUnix = "unix:";

struct Port {
  std::string address;  // as it was asked for
  std::string url;
  std::unique_ptr<Server> server;
  // Of a unix socket, which is removed when the program ends.
  std::string socket_path;
  uint64_t socket_device = 0;
  uint64_t socket_inode = 0;
};

std::mutex opening;
std::atomic<Port*> port;  // never destroyed: its thread may run until the very end

// Each answer is a call of its own, between which this thread holds no lock of ours.
Reply Answer(const Request& request) {
  const CallScope scope;
  Reply reply = OwnEndpoint().Handle(request);
  if (reply.later) {
    reply.later = [later = std::move(reply.later)]() mutable {
      const CallScope inner;
      Response response = later();
      later = nullptr;
      return response;
    };
  }
  return reply;
}

void* Run(void* argument) {
  pthread_setname_np(pthread_self(), "heapgauge");
  static_cast<Port*>(argument)->server->Run();
  return nullptr;
}

// The thread takes no signals and is not profiled: c_library.cc sees to that.
Status StartThread(Port* started) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, Run, started);
  pthread_attr_destroy(&attributes);
  if (failed == 0) return {};
  return tl::unexpected<Error>(SystemError("cannot start a thread", failed));
}

std::string WithPid(std::string address) {
  for (size_t at = 0; (at = address.find("%p", at)) != std::string::npos;) {
    const std::string pid = std::to_string(getpid());
    address.replace(at, 2, pid);
    at += pid.size();
  }
  return address;
}

}  // namespace

Status OpenPort(const std::string& address, const std::string& token_file, bool insecure) {
  const std::lock_guard<std::mutex> lock(opening);
  if (const Port* open = port.load()) {
    if (open->address == address) return {};
    return Fail(ErrorCode::kUnavailable,
                "this process already serves " + open->url + "; there is one port in a process");
  }
  auto made = std::make_unique<Port>();
  made->address = address;
  endpoint::ServerOptions options;
  options.address = WithPid(address);
  options.insecure = insecure;
  if (!token_file.empty()) {
    HG_ASSIGN(options.token, endpoint::ReadTokenFile(token_file));
  }
  HG_ASSIGN(made->server, Server::Listen(options, Answer));
  made->url = made->server->url();
  if (made->url.starts_with(kUnix)) {
    made->socket_path = made->url.substr(kUnix.size());
    struct stat info;
    if (lstat(made->socket_path.c_str(), &info) == 0) {
      made->socket_device = info.st_dev;
      made->socket_inode = info.st_ino;
    }
  }
  HG_TRY(StartThread(made.get()));
  port.store(made.release());
  return {};
}

void ForgetPort() {
  CloseOwnDescriptors();
  port.store(nullptr);
  ForgetOwnEndpoint();
  new (&opening) std::mutex;
}

void EndPort() {
  const Port* open = port.load();
  if (open == nullptr || open->socket_inode == 0) return;
  struct stat info;
  if (lstat(open->socket_path.c_str(), &info) == 0 && info.st_ino == open->socket_inode &&
      info.st_dev == open->socket_device) {
    unlink(open->socket_path.c_str());
  }
}

const char* PortUrl() {
  const Port* open = port.load();
  return open == nullptr ? "" : open->url.c_str();
}

}  // namespace heapgauge::service
