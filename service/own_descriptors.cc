#include "service/own_descriptors.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define HG_OURS extern "C" __attribute__((visibility("hidden")))

HG_OURS int close(int fd);

namespace {

// By far more than the server has connections. What finds no place is not opened.
constexpr size_t kMost = 1024;

// Sockets of one process, dead or alive, have different inode numbers for a very long time.
struct Entry {
  std::atomic<int> fd;  // plus 1; 0 free
  std::atomic<uint64_t> inode;
};
Entry entries[kMost];

// The last ones that were closed. A fork copies descriptors before memory: a child may have one
// that its memory says is closed.
constexpr uint32_t kClosed = 256;
Entry closed[kClosed];
std::atomic<uint32_t> closed_count;

// A fork may come between the system call that opens a connection and the note of it. Then this is
// set in the child, which looks for it: by the name that it shares with the listening socket.
std::atomic<bool> accepting;
sockaddr_storage own_name;
socklen_t own_name_size;

long Call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return syscall(number, a, b, c, d, e, f);
}
template <typename T>
long Word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// 0 if it is no open socket.
uint64_t InodeOf(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode)) return 0;
  return info.st_ino;
}

Entry* Find(int fd) {
  for (Entry& entry : entries) {
    if (entry.fd.load(std::memory_order_relaxed) == fd + 1) return &entry;
  }
  return nullptr;
}

// Only the thread that opens the port and, later, the port's own thread come here.
int Remember(int fd) {
  if (fd < 0) return fd;
  if (Entry* stale = Find(fd)) stale->fd.store(0);  // closed behind our back
  for (Entry& entry : entries) {
    if (entry.fd.load() != 0) continue;
    entry.inode.store(InodeOf(fd));
    entry.fd.store(fd + 1);
    return fd;
  }
  Call(SYS_close, fd);
  errno = EMFILE;
  return -1;
}

// Descriptors that were never remembered are not our business.
bool IsLost(int fd) {
  const int before = errno;
  const Entry* entry = Find(fd);
  const bool lost = entry != nullptr && InodeOf(fd) != entry->inode.load();
  errno = lost ? EBADF : before;
  return lost;
}

int Accept(int fd, sockaddr* address, socklen_t* size, int flags) {
  if (own_name_size == 0) {
    socklen_t room = sizeof own_name;
    if (Call(SYS_getsockname, fd, Word(&own_name), Word(&room)) == 0) own_name_size = room;
  }
  accepting.store(true);
  const int accepted =
      Remember(static_cast<int>(Call(SYS_accept4, fd, Word(address), Word(size), flags)));
  const int error = errno;
  accepting.store(false);
  errno = error;
  return accepted;
}

// A connection that has the listening socket's own name.
bool WasAccepted(int fd) {
  sockaddr_storage name;
  sockaddr_storage peer;
  socklen_t name_size = sizeof name;
  socklen_t peer_size = sizeof peer;
  return Call(SYS_getsockname, fd, Word(&name), Word(&name_size)) == 0 &&
         name_size == own_name_size && std::memcmp(&name, &own_name, name_size) == 0 &&
         Call(SYS_getpeername, fd, Word(&peer), Word(&peer_size)) == 0;
}

}  // namespace

namespace heapgauge::service {

void CloseOwnDescriptors() {
  constexpr int kHighest = 65536;  // new ones are the lowest that are free
  for (int fd = 3; accepting.load() && fd < kHighest; ++fd) {
    if (Find(fd) == nullptr && WasAccepted(fd)) Call(SYS_close, fd);
  }
  accepting.store(false);
  own_name_size = 0;
  for (Entry& entry : entries) {
    const int fd = entry.fd.load() - 1;
    if (fd >= 0 && !IsLost(fd)) Call(SYS_close, fd);
    entry.fd.store(0);
  }
  for (Entry& entry : closed) {
    const int fd = entry.fd.load() - 1;
    if (fd >= 0 && entry.inode.load() != 0 && InodeOf(fd) == entry.inode.load())
      Call(SYS_close, fd);
    entry.fd.store(0);
  }
}

}  // namespace heapgauge::service

HG_OURS int socket(int domain, int type, int protocol) noexcept {
  return Remember(static_cast<int>(Call(SYS_socket, domain, type, protocol)));
}

// What wakes the server up where others call it from other threads. Here nobody does; a socket can
// be told from others, which an eventfd cannot.
HG_OURS int eventfd(unsigned, int) noexcept;
int eventfd(unsigned, int) noexcept {
  return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

HG_OURS int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  if (IsLost(fd)) return -1;
  return Accept(fd, address, size, flags);
}

HG_OURS ssize_t recv(int fd, void* buffer, size_t size, int flags) {
  if (IsLost(fd)) return -1;
  return Call(SYS_recvfrom, fd, Word(buffer), static_cast<long>(size), flags);
}

HG_OURS ssize_t send(int fd, const void* data, size_t size, int flags) {
  if (IsLost(fd)) return -1;
  return Call(SYS_sendto, fd, Word(data), static_cast<long>(size), flags);
}

HG_OURS ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  if (IsLost(fd)) return -1;
  return Call(SYS_sendmsg, fd, Word(message), flags);
}

HG_OURS int shutdown(int fd, int how) noexcept {
  if (IsLost(fd)) return -1;
  return static_cast<int>(Call(SYS_shutdown, fd, how));
}

int close(int fd) {
  if (IsLost(fd)) {
    Find(fd)->fd.store(0);
    return 0;
  }
  if (Entry* entry = Find(fd)) {
    Entry& note = closed[closed_count.fetch_add(1) % kClosed];
    note.fd.store(0);
    note.inode.store(entry->inode.load());
    note.fd.store(fd + 1);
    entry->fd.store(0);
  }
  return static_cast<int>(Call(SYS_close, fd));
}

// The first is the one to be woken by, the second listens, the others are connections.
HG_OURS int poll(pollfd* polled, nfds_t count, int timeout) {
  for (nfds_t i = 0; i < count; ++i) {
    if (polled[i].fd < 0 || !IsLost(polled[i].fd)) continue;
    if (i >= 2) {
      polled[i].revents = POLLERR;  // it reads, fails, and closes
      return 1;
    }
    while (true) Call(SYS_pause);
  }
  return static_cast<int>(Call(SYS_poll, Word(polled), static_cast<long>(count), timeout));
}
