#include "service/debug_port.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include "core/base/file.h"
#include "endpoint/http/access.h"
#include "endpoint/http/server.h"
#include "service/own_descriptors.h"
#include "service/own_endpoint.h"
#include "service/runtime.h"

namespace heapgauge::service {
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
