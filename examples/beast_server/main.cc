// A service built on Boost.Beast that mounts heapgauge's pages below /internal/. One thread for
// each connection, so that a profile over some seconds (?seconds=30) keeps nobody else waiting.
//
//   heapgauge run ./beast_server 8080      (or LD_PRELOAD=.../libheapgauge.so)
//   curl -o /dev/null 'http://127.0.0.1:8080/work'
//   go tool pprof -top http://127.0.0.1:8080/internal/pprof/heap
//
// Without the agent it runs just the same, and /internal/ answers 503.
#include <heapgauge/handle.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using TheirRequest = http::request<http::string_body>;
using TheirResponse = http::response<http::string_body>;

std::mutex store_mutex;
std::vector<std::unique_ptr<char[]>> store;

// What the service is about: it keeps a megabyte for each call.
TheirResponse Work(const TheirRequest& request) {
  const std::lock_guard<std::mutex> lock(store_mutex);
  constexpr std::size_t kBytes = 1'000'000;
  store.emplace_back(new char[kBytes]);
  std::memset(store.back().get(), 'x', kBytes);
  TheirResponse response(http::status::ok, request.version(), "done\n");
  response.set(http::field::content_type, "text/plain");
  return response;
}

// The whole of mounting: their request to ours, our response to theirs.
TheirResponse Internal(const TheirRequest& request) {
  heapgauge::Request own;
  own.method = std::string(request.method_string());
  heapgauge::SetTarget(std::string(request.target()), &own);
  for (const auto& field : request) {
    own.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  own.body = request.body();
  heapgauge::Response answer = heapgauge::Handle(own);
  TheirResponse response;
  response.version(request.version());
  response.result(static_cast<unsigned>(answer.status));
  for (const auto& header : answer.headers) response.insert(header.first, header.second);
  response.body() = std::move(answer.body);
  return response;
}

TheirResponse Answer(const TheirRequest& request) {
  if (request.target().starts_with("/internal/")) return Internal(request);
  if (request.target() == "/work") return Work(request);
  TheirResponse response(http::status::not_found, request.version(), "not found\n");
  response.set(http::field::content_type, "text/plain");
  return response;
}

void Serve(tcp::socket socket) {
  beast::error_code error;
  beast::flat_buffer buffer;
  while (true) {
    http::request_parser<http::string_body> parser;
    parser.body_limit(64 << 20);  // clients send megabytes of addresses to be named
    // curl asks before it sends that much.
    http::read_header(socket, buffer, parser, error);
    if (error) return;
    if (parser.get()[http::field::expect] == "100-continue") {
      http::response<http::empty_body> go_on(http::status::continue_, 11);
      http::write(socket, go_on, error);
    }
    http::read(socket, buffer, parser, error);
    if (error) return;
    TheirResponse response = Answer(parser.get());
    response.keep_alive(parser.get().keep_alive());
    const std::size_t size = response.body().size();
    if (parser.get().method() == http::verb::head) response.body().clear();
    response.content_length(size);
    http::write(socket, response, error);
    if (error || !response.keep_alive()) break;
  }
  socket.shutdown(tcp::socket::shutdown_send, error);
}

}  // namespace

int main(int count, char** arguments) {
  const auto port = static_cast<unsigned short>(count > 1 ? std::atoi(arguments[1]) : 0);
  try {
    boost::asio::io_context context;
    const tcp::endpoint address(boost::asio::ip::make_address("127.0.0.1"), port);
    tcp::acceptor acceptor(context, address);
    std::printf("http://127.0.0.1:%d\n", static_cast<int>(acceptor.local_endpoint().port()));
    std::fflush(stdout);
    while (true) {
      tcp::socket socket(context);
      acceptor.accept(socket);
      std::thread(Serve, std::move(socket)).detach();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "beast_server: %s\n", error.what());
    return 1;
  }
}
