// A small server with faults of memory that are known to the byte, and a client for it.
//
//   forgetful_server serve                prints "port N pid P" and serves on loopback until it is
//   ended forgetful_server load PORT RATE N     sends N requests, RATE a second, over four
//   connections;
//                                         prints "served N"; fails if any answer is wrong
//   forgetful_server ask PORT             prints what the server has done so far, one line:
//                                         requests dropped_bytes remembered_bytes kept_bytes
//
// Each request is a line with a number, and does four things:
//   finish_session  every fourth time forgets a session: the pointer is overwritten (a leak)
//   remember        puts an entry into a map that nobody clears (a cache without bounds)
//   keep_recent     puts an entry into a cache that throws out the oldest (a bounded one)
//   answer          makes a text and frees it
// and load_tables makes at the start what stays for ever. Nodes of the containers are far smaller
// than a sampling interval: most are never seen by a sampler, also those that point to others.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr size_t kSessionBytes = 1000;
constexpr size_t kRememberedBytes = 200;
constexpr size_t kRecentBytes = 1200;
constexpr size_t kRecentEntries = 5000;
constexpr size_t kTables = 400;
constexpr size_t kTableBytes = 20000;
constexpr int kConnections = 4;

struct Session {
  uint64_t request = 0;
  char state[kSessionBytes - 8] = {};
};

struct Connection {
  Session* session = nullptr;
};

class RecentEntries {
 public:
  void Keep(uint64_t key, std::string value) {
    std::lock_guard lock(mutex_);
    order_.emplace_back(key, std::move(value));
    index_[key] = std::prev(order_.end());
    if (order_.size() <= kRecentEntries) return;
    index_.erase(order_.front().first);
    order_.pop_front();
  }
  size_t bytes() {
    std::lock_guard lock(mutex_);
    return order_.size() * kRecentBytes;
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<uint64_t, std::string>> order_;
  std::unordered_map<uint64_t, std::list<std::pair<uint64_t, std::string>>::iterator> index_;
};

std::mutex remembered_mutex;
std::unordered_map<uint64_t, std::string> remembered;
RecentEntries recent;
std::vector<std::unique_ptr<char[]>> tables;
std::atomic<uint64_t> requests{0};
std::atomic<uint64_t> dropped_bytes{0};

[[gnu::noinline]] void load_tables() {
  for (size_t i = 0; i < kTables; ++i) {
    tables.push_back(std::make_unique<char[]>(kTableBytes));
    std::memset(tables.back().get(), 1, kTableBytes);
  }
}

[[gnu::noinline]] void finish_session(Connection* connection, uint64_t request) {
  connection->session = new Session;
  connection->session->request = request;
  if (request % 4 == 0) {
    dropped_bytes += sizeof(Session);
  } else {
    delete connection->session;
  }
  connection->session = nullptr;
}

[[gnu::noinline]] void remember(uint64_t request) {
  std::lock_guard lock(remembered_mutex);
  remembered.emplace(request, std::string(kRememberedBytes, 'r'));
}

[[gnu::noinline]] void keep_recent(uint64_t request) {
  recent.Keep(request, std::string(kRecentBytes, 'k'));
}

[[gnu::noinline]] std::string answer(uint64_t request) {
  std::string text(3000, 'a');
  text += std::to_string(request);
  return text.substr(3000) + "\n";
}

bool SendAll(int fd, const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

// A line without its end; false at the end of the connection.
bool ReceiveLine(int fd, std::string* rest, std::string* line) {
  for (;;) {
    const size_t end = rest->find('\n');
    if (end != std::string::npos) {
      *line = rest->substr(0, end);
      rest->erase(0, end + 1);
      return true;
    }
    char buffer[512];
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) return false;
    rest->append(buffer, static_cast<size_t>(n));
  }
}

std::string Status() {
  size_t entries = 0;
  {
    std::lock_guard lock(remembered_mutex);
    entries = remembered.size();
  }
  return std::to_string(requests) + " " + std::to_string(dropped_bytes) + " " +
         std::to_string(entries * kRememberedBytes) + " " + std::to_string(recent.bytes()) + "\n";
}

void Serve(int fd) {
  Connection connection;
  std::string rest;
  std::string line;
  while (ReceiveLine(fd, &rest, &line)) {
    if (line == "status") {
      if (!SendAll(fd, Status())) break;
      continue;
    }
    const uint64_t request = std::strtoull(line.c_str(), nullptr, 10);
    finish_session(&connection, request);
    remember(request);
    keep_recent(request);
    ++requests;
    if (!SendAll(fd, answer(request))) break;
  }
  close(fd);
}

int RunServer() {
  load_tables();
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(listener, 16) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    std::perror("forgetful_server");
    return 1;
  }
  std::printf("port %d pid %d\n", ntohs(address.sin_port), getpid());
  std::fflush(stdout);
  for (;;) {
    const int fd = accept(listener, nullptr, nullptr);
    if (fd >= 0) std::thread(Serve, fd).detach();
  }
}

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("forgetful_server");
    std::exit(1);
  }
  return fd;
}

// Requests are due at fixed times; one that is late is sent at once, so that the number in a time
// is the same on a slow machine.
int RunLoad(int port, double rate, uint64_t count) {
  std::atomic<uint64_t> next{1};
  std::atomic<uint64_t> served{0};
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < kConnections; ++i) {
    threads.emplace_back([&, fd = Connect(port)] {
      std::string rest;
      std::string line;
      for (uint64_t request = next++; request <= count; request = next++) {
        std::this_thread::sleep_until(
            start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                        std::chrono::duration<double>(static_cast<double>(request) / rate)));
        const std::string text = std::to_string(request);
        if (!SendAll(fd, text + "\n") || !ReceiveLine(fd, &rest, &line) || line != text) break;
        ++served;
      }
      close(fd);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("served %llu\n", static_cast<unsigned long long>(served.load()));
  return served == count ? 0 : 1;
}

int RunAsk(int port) {
  const int fd = Connect(port);
  std::string rest;
  std::string line;
  if (!SendAll(fd, "status\n") || !ReceiveLine(fd, &rest, &line)) return 1;
  std::printf("%s\n", line.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "serve") return RunServer();
  if (mode == "load" && argc == 5) {
    return RunLoad(std::atoi(argv[2]), std::atof(argv[3]), std::strtoull(argv[4], nullptr, 10));
  }
  if (mode == "ask" && argc == 3) return RunAsk(std::atoi(argv[2]));
  std::fprintf(stderr, "usage: forgetful_server serve | load PORT RATE COUNT | ask PORT\n");
  return 2;
}
