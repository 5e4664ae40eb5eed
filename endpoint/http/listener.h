// Where a server listens (Address), and the socket that it listens on (Listener).
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heapgauge::endpoint {

inline constexpr uint16_t kDefaultPort = 9700;

// Where a server listens, as people write it: "127.0.0.1:9700", "[::1]:9700", ":9700" and "9700" on
// loopback, "*:9700" on every interface, "unix:/run/heapgauge.sock".
//
// Names other than "localhost" are not looked up: an answer of the resolver must not decide who can
// reach the server, and a program that hosts one in itself gets no resolver loaded. A pure value.
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

// A listening socket: bound with care, and accepting without getting stuck.
//
// A unix socket has mode 0600 from its first moment. A file at its path is replaced only if it is a
// socket of ours that nobody listens on, and is removed at the end only if it is still the same. A
// process without a free descriptor gives up a spare one for a moment, so that a waiting connection
// is turned away rather than noticed again and again.
//
// Owned by one thread. Descriptors do not survive exec.
class Listener {
 public:
  static Result<std::unique_ptr<Listener>> Open(const Address& wanted);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  int fd() const { return fd_; }
  // With the real port.
  const Address& address() const { return address_; }

  // The descriptor of a new connection, non-blocking; -1 if none waits. `exhausted` is set if there
  // is one that could not be taken: come back later.
  int Accept(Address* peer, bool* exhausted);

 private:
  Listener() = default;
  Status Bind();

  Address address_;
  int fd_ = -1;
  int spare_ = -1;
  pid_t owner_ = 0;  // who bound it: a forked child must not remove the file
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace heapgauge::endpoint
