// A server that runs as long as a test needs it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "core/os/process.h"
#include "endpoint/http/server.h"

namespace heapgauge::endpoint {

inline bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::string StatusOf(const std::string& answer) {
  return answer.size() < 12 ? answer : answer.substr(9, 3);
}

// A server in a thread of its own, with a handler that shows what it was asked.
class Running {
 public:
  explicit Running(ServerOptions options = {}, Server::Handler handler = Echo) {
    if (options.address.empty()) options.address = "127.0.0.1:0";
    auto server = Server::Listen(options, std::move(handler));
    EXPECT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    thread_ = std::thread([this] { server_->Run(); });
  }
  ~Running() { Stop(); }
  void Stop() {
    if (thread_.joinable()) {
      server_->Stop();
      thread_.join();
    }
  }
  std::string url() const { return server_->url(); }

  static Reply Echo(const Request& request) {
    if (request.path == "/large") return PlainText(200, std::string(size_t{20} << 20, 'x'));
    if (request.path == "/later") {
      Reply reply;
      reply.due_ns = MonotonicNow() + 50'000'000;
      reply.later = [] { return PlainText(200, "at last"); };
      return reply;
    }
    if (request.path == "/throw") throw std::bad_alloc();
    if (request.path == "/split") {
      Response response = PlainText(200, "whole");
      response.headers.emplace_back("X-A", "b\r\nX-Evil: 1\r\n\r\n");
      response.headers.emplace_back("X-Evil: 2\r\nX", "c");
      return response;
    }
    return PlainText(200, request.method + " " + request.path + " ?" + request.query + " " +
                              std::to_string(request.body.size()) + " " +
                              request.body.substr(0, 20));
  }

 private:
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace heapgauge::endpoint
