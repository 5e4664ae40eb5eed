// A service built on cpp-httplib that mounts heapgauge's pages below /internal/.
//
//   heapgauge run ./httplib_server 8080      (or LD_PRELOAD=.../libheapgauge.so)
//   curl -o /dev/null 'http://127.0.0.1:8080/work?bytes=1000000'
//   go tool pprof -top http://127.0.0.1:8080/internal/pprof/heap
//
// Without the agent it runs just the same, and /internal/ answers 503.
#include <heapgauge/handle.h>
#include <httplib.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

// What the service is about: it keeps what it is told to.
class Store {
 public:
  void Keep(size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.emplace_back(new char[bytes]);
    std::memset(kept_.back().get(), 'x', bytes);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<char[]>> kept_;
};

// The whole of mounting: their request to ours, our response to theirs.
void Internal(const httplib::Request& request, httplib::Response& response) {
  heapgauge::Request own;
  own.method = request.method;
  heapgauge::SetTarget(request.target, &own);
  own.headers.assign(request.headers.begin(), request.headers.end());
  own.body = request.body;
  heapgauge::Response answer = heapgauge::Handle(own);
  response.status = answer.status;
  for (const auto& header : answer.headers) response.set_header(header.first, header.second);
  response.body = std::move(answer.body);
}

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[1]) : 0;
  Store store;
  httplib::Server server;
  server.Get("/work", [&](const httplib::Request& request, httplib::Response& response) {
    const size_t bytes = std::strtoul(request.get_param_value("bytes").c_str(), nullptr, 10);
    store.Keep(bytes < 100'000'000 ? bytes : 0);
    response.set_content("done\n", "text/plain");
  });
  server.Get("/internal/.*", Internal);
  server.Post("/internal/.*", Internal);
  server.Put("/internal/.*", Internal);

  const char* host = "127.0.0.1";
  const int bound =
      port == 0 ? server.bind_to_any_port(host) : (server.bind_to_port(host, port) ? port : -1);
  if (bound < 0) {
    std::fprintf(stderr, "httplib_server: cannot listen on port %d\n", port);
    return 1;
  }
  std::printf("http://%s:%d\n", host, bound);
  std::fflush(stdout);
  return server.listen_after_bind() ? 0 : 1;
}
