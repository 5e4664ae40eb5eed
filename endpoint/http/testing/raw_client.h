// A client for tests that sends exactly the bytes it is told, however wrong they are.
//
// Waits as long as it takes, for a minute at most: a test that waits longer has failed.
#pragma once

#include <string>
#include <string_view>

namespace heapgauge::endpoint {

class RawClient {
 public:
  // To "http://host:port" or "unix:PATH", as Server::url() says it.
  explicit RawClient(const std::string& url);
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient();

  bool connected() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // False if the server has closed.
  bool Send(std::string_view bytes) const;
  void EndInput() const;  // half a close
  void Close();
  // Until the server closes.
  std::string ReadAll() const;
  // One answer with Content-Length, head and body; "" if the server closed instead.
  std::string ReadAnswer(bool has_body = true);

 private:
  bool Fill();

  int fd_ = -1;
  std::string input_;
};

// "GET PATH HTTP/1.1" with a Host, and all of the answer.
std::string Get(const std::string& url, const std::string& path);

}  // namespace heapgauge::endpoint
