#include "endpoint/http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge::endpoint {
namespace {

constexpr std::string_view kUnix = "unix:";

tl::unexpected<Error> Malformed(const std::string& text, const char* why) {
  return Fail(ErrorCode::kInvalidArgument,
              "'" + Printable(text) + "' is no address to listen on: " + why +
                  "; write 127.0.0.1:9700, [::1]:9700, *:9700 or unix:PATH");
}

Result<Address> UnixAddress(const std::string& text) {
  Address address;
  address.path = text.substr(kUnix.size());
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  if (address.path.empty()) return Malformed(text, "the path is empty");
  if (address.path.size() >= sizeof un.sun_path) {
    return Malformed(text, "the path of a socket has at most 107 bytes");
  }
  if (address.path.find('\0') != std::string::npos) return Malformed(text, "there is a NUL in it");
  std::memcpy(un.sun_path, address.path.data(), address.path.size());
  std::memcpy(&address.storage, &un, sizeof un);
  address.size = sizeof un;
  return address;
}

std::optional<Address> IpAddress(std::string_view host, bool brackets, uint16_t port) {
  Address address;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const std::string name(host);
  if (brackets || host == "*") {
    if (host != "*" && inet_pton(AF_INET6, name.c_str(), &v6.sin6_addr) != 1) return {};
    std::memcpy(&address.storage, &v6, sizeof v6);
    address.size = sizeof v6;
    return address;
  }
  if (host.empty() || host == "localhost") {
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else if (inet_pton(AF_INET, name.c_str(), &v4.sin_addr) != 1) {
    return {};
  }
  std::memcpy(&address.storage, &v4, sizeof v4);
  address.size = sizeof v4;
  return address;
}

in6_addr Ipv6Of(const Address& address) {
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address.storage, sizeof v6);
  return v6.sin6_addr;
}

uint32_t Ipv4Of(const Address& address) {
  sockaddr_in v4{};
  std::memcpy(&v4, &address.storage, sizeof v4);
  return ntohl(v4.sin_addr.s_addr);
}

}  // namespace

bool Address::is_local() const {
  if (storage.ss_family == AF_UNIX) return true;
  if (storage.ss_family == AF_INET) return Ipv4Of(*this) >> 24 == 127;
  const in6_addr v6 = Ipv6Of(*this);
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6);
}

bool Address::is_any() const {
  if (storage.ss_family == AF_INET) return Ipv4Of(*this) == INADDR_ANY;
  if (storage.ss_family != AF_INET6) return false;
  const in6_addr v6 = Ipv6Of(*this);
  return IN6_IS_ADDR_UNSPECIFIED(&v6);
}

uint16_t Address::port() const {
  if (storage.ss_family == AF_INET || storage.ss_family == AF_INET6) {
    sockaddr_in v4{};  // the port is at the same place in both
    std::memcpy(&v4, &storage, sizeof v4);
    return ntohs(v4.sin_port);
  }
  return 0;
}

std::string Address::Text() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    const in_addr v4{htonl(Ipv4Of(*this))};
    inet_ntop(AF_INET, &v4, text, sizeof text);
    return std::string(text) + ":" + std::to_string(port());
  }
  if (storage.ss_family == AF_INET6) {
    const in6_addr v6 = Ipv6Of(*this);
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
      inet_ntop(AF_INET, &v6.s6_addr[12], text, sizeof text);
      return std::string(text) + ":" + std::to_string(port());
    }
    inet_ntop(AF_INET6, &v6, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(port());
  }
  return std::string(kUnix) + path;
}

Result<Address> ParseAddress(const std::string& text) {
  if (text.substr(0, kUnix.size()) == kUnix) return UnixAddress(text);
  std::string_view host = text;
  std::string_view port = text;
  bool brackets = false;
  if (!text.empty() && text[0] == '[') {
    const size_t end = text.find("]:");
    if (end == std::string::npos) return Malformed(text, "']:' and the port are missing");
    host = std::string_view(text).substr(1, end - 1);
    port = std::string_view(text).substr(end + 2);
    brackets = true;
  } else if (const size_t colon = text.rfind(':'); colon != std::string::npos) {
    host = std::string_view(text).substr(0, colon);
    port = std::string_view(text).substr(colon + 1);
  } else {
    host = {};
  }
  const auto number = NumberIn<uint16_t>(port);
  if (!number) return Malformed(text, "the port is not a number from 0 to 65535");
  const auto address = IpAddress(host, brackets, *number);
  if (!address) return Malformed(text, "the host is neither an IP address nor localhost");
  return *address;
}

uint64_t PeerKey(const Address& peer) {
  if (peer.storage.ss_family == AF_INET) return Ipv4Of(peer);
  if (peer.storage.ss_family != AF_INET6) return ~uint64_t{0};
  const in6_addr v6 = Ipv6Of(peer);
  uint32_t last = 0;
  std::memcpy(&last, &v6.s6_addr[12], sizeof last);
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return ntohl(last);
  uint64_t network = 0;
  std::memcpy(&network, &v6.s6_addr[0], sizeof network);
  return network ^ (uint64_t{1} << 40);  // apart from IPv4
}

namespace {

constexpr int kBacklog = 128;

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// Makes room for a new socket at `path`, if what is there is an old one of ours.
Status ClearStaleSocket(const Address& address) {
  const std::string name = "'" + Printable(address.path) + "'";
  struct stat st {};
  if (lstat(address.path.c_str(), &st) != 0) return {};  // bind will say what else is wrong
  if (!S_ISSOCK(st.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument,
                name + " exists and is no socket; name another path, or remove it");
  }
  if (st.st_uid != geteuid()) {
    return Fail(ErrorCode::kPermission,
                "the socket " + name + " belongs to another user; name another path");
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return tl::unexpected<Error>(SystemError("cannot make a socket", errno));
  const int connected = connect(fd, address.get(), address.size);
  const int why = errno;
  close(fd);
  if (connected == 0 || why != ECONNREFUSED) {
    return Fail(ErrorCode::kUnavailable, "somebody listens on " + name + " already");
  }
  if (unlink(address.path.c_str()) != 0 && errno != ENOENT) {
    return tl::unexpected<Error>(SystemError("cannot remove the old socket " + name, errno));
  }
  return {};
}

std::string WhatToDo(int error, const Address& address) {
  switch (error) {
    case EADDRINUSE:
      return "; choose another port, or 0 for any that is free";
    case EACCES:
      return address.is_unix() ? "" : "; ports below 1024 need privileges";
    case EADDRNOTAVAIL:
      return "; this machine has no such address";
    default:
      return "";
  }
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Open(const Address& wanted) {
  std::unique_ptr<Listener> listener(new Listener);
  listener->address_ = wanted;
  HG_TRY(listener->Bind());
  listener->spare_ = OpenSpare();
  return listener;
}

Status Listener::Bind() {
  if (address_.is_unix()) HG_TRY(ClearStaleSocket(address_));
  const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  fd_ = socket(address_.storage.ss_family, type, 0);
  if (fd_ < 0 && errno == EAFNOSUPPORT && address_.is_any()) {
    // A machine without IPv6.
    HG_ASSIGN(address_, ParseAddress("0.0.0.0:" + std::to_string(address_.port())));
    fd_ = socket(AF_INET, type, 0);
  }
  if (fd_ < 0) return tl::unexpected<Error>(SystemError("cannot make a socket", errno));
  const int on = 1;
  const int off = 0;
  if (address_.is_unix()) {
    fchmod(fd_, 0600);  // what bind() gives to the file
  } else {
    setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address_.storage.ss_family == AF_INET6) {
      setsockopt(fd_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
  }
  if (bind(fd_, address_.get(), address_.size) != 0 || listen(fd_, kBacklog) != 0) {
    const int error = errno;
    Error said = SystemError("cannot listen on " + Printable(address_.Text()), error);
    said.message += WhatToDo(error, address_);
    return tl::unexpected<Error>(std::move(said));
  }
  if (address_.is_unix()) {
    struct stat st {};
    if (lstat(address_.path.c_str(), &st) == 0) {
      device_ = st.st_dev;
      inode_ = st.st_ino;
      owner_ = getpid();
    }
  } else {
    getsockname(fd_, address_.get(), &address_.size);
  }
  return {};
}

Listener::~Listener() {
  if (fd_ >= 0) close(fd_);
  if (spare_ >= 0) close(spare_);
  struct stat st {};
  if (owner_ == getpid() && lstat(address_.path.c_str(), &st) == 0 && st.st_dev == device_ &&
      st.st_ino == inode_) {
    unlink(address_.path.c_str());
  }
}

int Listener::Accept(Address* peer, bool* exhausted) {
  *exhausted = false;
  peer->size = sizeof peer->storage;
  const int fd = accept4(fd_, peer->get(), &peer->size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) {
    if (address_.is_unix()) {
      peer->storage.ss_family = AF_UNIX;  // a client without a name of its own has none at all
    } else {
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return fd;
  }
  if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return -1;
  *exhausted = true;
  if (spare_ >= 0) {
    close(spare_);
    const int doomed = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (doomed >= 0) close(doomed);
  }
  spare_ = OpenSpare();
  return -1;
}

}  // namespace heapgauge::endpoint
