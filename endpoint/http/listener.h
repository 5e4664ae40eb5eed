// A listening socket: bound with care, and accepting without getting stuck.
//
// A unix socket has mode 0600 from its first moment. A file at its path is replaced only if it is a
// socket of ours that nobody listens on, and is removed at the end only if it is still the same. A
// process without a free descriptor gives up a spare one for a moment, so that a waiting connection
// is turned away rather than noticed again and again.
//
// Owned by one thread. Descriptors do not survive exec.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "endpoint/http/address.h"

namespace heapgauge::endpoint {

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
