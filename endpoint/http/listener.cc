#include "endpoint/http/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge::endpoint {
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
