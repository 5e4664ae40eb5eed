#include "endpoint/http/testing/raw_client.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "endpoint/http/listener.h"

namespace heapgauge::endpoint {

RawClient::RawClient(const std::string& url) {
  const std::string http = "http://";
  const auto address =
      ParseAddress(url.substr(0, http.size()) == http ? url.substr(http.size()) : url);
  if (!address) return;
  fd_ = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval minute{60, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof minute);
  if (connect(fd_, address->get(), address->size) != 0) Close();
}

RawClient::~RawClient() { Close(); }

void RawClient::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool RawClient::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void RawClient::EndInput() const { shutdown(fd_, SHUT_WR); }

bool RawClient::Fill() {
  char buffer[65536];
  const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
  if (got > 0) input_.append(buffer, static_cast<size_t>(got));
  return got > 0;
}

std::string RawClient::ReadAll() const {
  std::string all = input_;
  char buffer[65536];
  ssize_t got = 0;
  while ((got = recv(fd_, buffer, sizeof buffer, 0)) > 0) {
    all.append(buffer, static_cast<size_t>(got));
  }
  return all;
}

std::string RawClient::ReadAnswer(bool has_body) {
  size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return "";
  }
  size_t size = end + 4;
  const std::string field = "\r\nContent-Length: ";
  if (const size_t at = input_.find(field); has_body && at < end) {
    size += std::strtoul(input_.c_str() + at + field.size(), nullptr, 10);
  }
  while (input_.size() < size) {
    if (!Fill()) return "";
  }
  const std::string answer = input_.substr(0, size);
  input_.erase(0, size);
  return answer;
}

std::string Get(const std::string& url, const std::string& path) {
  RawClient client(url);
  if (!client.connected()) return "";
  client.Send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return client.ReadAll();
}

}  // namespace heapgauge::endpoint
