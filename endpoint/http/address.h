// Where a server listens, as people write it: "127.0.0.1:9700", "[::1]:9700", ":9700" and "9700" on
// loopback, "*:9700" on every interface, "unix:/run/heapgauge.sock".
//
// Names other than "localhost" are not looked up: an answer of the resolver must not decide who can
// reach the server, and a program that hosts one in itself gets no resolver loaded. Pure values.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heapgauge::endpoint {

inline constexpr uint16_t kDefaultPort = 9700;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string path;  // of a unix socket; else ""

  bool is_unix() const { return storage.ss_family == AF_UNIX; }
  // Whether only this machine can connect.
  bool is_local() const;
  bool is_any() const;  // every interface
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }

  // "127.0.0.1:9700", "[::1]:9700", "unix:PATH".
  std::string Text() const;
  uint16_t port() const;
};

// The error is one line that shows how it should be written.
Result<Address> ParseAddress(const std::string& text);

// Who a connection counts for: an IPv4 address, the network (/64) of an IPv6 address, the same for
// all on a unix socket.
uint64_t PeerKey(const Address& peer);

}  // namespace heapgauge::endpoint
