// A small server: threads that wait for requests by epoll, answer each on its connection, and close
// that when the client asks for it. Of each request it keeps one block reachable; of each of the
// first ones it loses another.
//
//   small_server [hidden]        prints "port N", and runs until its input ends
//
// "hidden": nobody but root may trace it or read its memory.
//
// A request is a line: "echo TEXT" is answered by TEXT, "bye TEXT" as well, and then the connection
// is closed by the server, which is how the client knows the end.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr size_t kBlockBytes = 3000;
constexpr uint64_t kLostBlocks = 2000;
std::atomic<uint64_t> requests{0};
std::mutex mutex;
std::vector<char*> kept;  // bounded: a ring
size_t next_kept = 0;
std::atomic<uint64_t> failures{0};

__attribute__((noinline)) void LoseBlock() {
  auto* volatile block = static_cast<char*>(std::malloc(kBlockBytes));
  std::memset(block, 1, kBlockBytes);
  block = nullptr;  // its address is nowhere then
}

__attribute__((noinline)) void KeepBlock() {
  auto* block = static_cast<char*>(std::malloc(kBlockBytes));
  std::memset(block, 2, kBlockBytes);
  const std::lock_guard lock(mutex);
  if (kept.size() < 2000) {
    kept.push_back(block);
  } else {
    std::free(kept[next_kept]);
    kept[next_kept] = block;
    next_kept = (next_kept + 1) % kept.size();
  }
}

void Answer(int client, std::string_view request, bool* closes) {
  *closes = request.starts_with("bye ");
  if (!request.starts_with("echo ") && !*closes) {
    failures.fetch_add(1);
    return;
  }
  if (requests.fetch_add(1) < kLostBlocks) LoseBlock();
  KeepBlock();
  std::string answer(request.substr(request.find(' ') + 1));
  answer.push_back('\n');
  if (send(client, answer.data(), answer.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(answer.size())) {
    failures.fetch_add(1);
  }
}

void Serve(int listener) {
  const int fd = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLEXCLUSIVE;
  event.data.fd = listener;
  epoll_ctl(fd, EPOLL_CTL_ADD, listener, &event);
  std::unordered_map<int, std::string> partial;
  while (true) {
    epoll_event ready[16];
    const int count = epoll_wait(fd, ready, 16, -1);
    // Nobody sends a signal, so that this does not happen.
    if (count < 0) {
      failures.fetch_add(1);
      std::perror("epoll_wait");
    }
    for (int i = 0; i < count; ++i) {
      const int client = ready[i].data.fd;
      if (client == listener) {
        const int fresh = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fresh < 0) continue;  // another thread was faster
        const int on = 1;
        setsockopt(fresh, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        event = {};
        event.events = EPOLLIN;
        event.data.fd = fresh;
        epoll_ctl(fd, EPOLL_CTL_ADD, fresh, &event);
        continue;
      }
      char buffer[4096];
      const ssize_t got = recv(client, buffer, sizeof buffer, 0);
      bool closes = got <= 0;
      std::string& text = partial[client];
      if (got > 0) text.append(buffer, static_cast<size_t>(got));
      for (size_t end = text.find('\n'); !closes && end != std::string::npos;
           end = text.find('\n')) {
        Answer(client, std::string_view(text).substr(0, end), &closes);
        text.erase(0, end + 1);
      }
      if (closes) {
        partial.erase(client);
        close(client);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "hidden") == 0) prctl(PR_SET_DUMPABLE, 0);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 512) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    std::perror("listen");
    return 1;
  }
  for (int i = 0; i < 4; ++i) std::thread(Serve, listener).detach();
  std::printf("port %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  char byte = 0;
  while (read(0, &byte, 1) > 0) {
  }
  std::printf("%lu failures\n", failures.load());
  std::fflush(stdout);
  _exit(failures == 0 ? 0 : 1);
}
