// The server while all of its workers are busy, and while there is no memory.

#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/testing/eventually.h"
#include "core/os/process.h"
#include "endpoint/http/server.h"
#include "endpoint/http/testing/raw_client.h"
#include "endpoint/http/testing/running.h"
#include "endpoint/http/testing/thread_state.h"

namespace {

std::atomic<bool> memory_is_out{false};
thread_local bool feels_it = false;  // this thread does
std::atomic<size_t> allocated{0};

}  // namespace

void* operator new(size_t size) {
  if (feels_it && memory_is_out) throw std::bad_alloc();
  void* made = std::malloc(size);
  if (made == nullptr) throw std::bad_alloc();
  allocated += malloc_usable_size(made);
  return made;
}
void operator delete(void* pointer) noexcept {
  if (pointer != nullptr) allocated -= malloc_usable_size(pointer);
  std::free(pointer);
}
void operator delete(void* pointer, size_t) noexcept { operator delete(pointer); }

namespace heapgauge::endpoint {
namespace {

constexpr size_t kBodyBytes = 400'000;
constexpr int kLongMs = 120'000;

// For a flag, or for the thread whose number is set, with `event` in the message of a failure.
template <typename T>
void WaitFor(const char* event, const std::atomic<T>& flag) {
  EXPECT_TRUE(Eventually(event, [&] { return flag != T{}; }));
}
void WaitUntilAsleep(const char* event, pid_t thread) {
  const ThreadState state(thread);
  EXPECT_TRUE(Eventually(event, [&] { return state.IsAsleep(); }));
}

// One worker, busy with "/busy" until it is let go, and what else it was asked.
class Busy {
 public:
  explicit Busy(ServerOptions options = {})
      : server_(WithWorker(std::move(options)),
                [this](const Request& request) { return Do(request); }),
        first_(server_.url()) {
    first_.Send("GET /busy HTTP/1.1\r\nHost: localhost\r\n\r\n");
    WaitFor("the worker has its request", is_busy_);
  }
  ~Busy() { LetGo(); }

  void LetGo() { let_go_ = true; }
  std::string url() const { return server_.url(); }
  std::set<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  static ServerOptions WithWorker(ServerOptions options) {
    options.workers = 1;
    options.at_once = [](const Request& request) { return request.path == "/at-once"; };
    return options;
  }
  Reply Do(const Request& request) {
    if (request.path == "/busy") {
      is_busy_ = true;
      WaitFor("the test lets the worker go", let_go_);
    }
    const std::lock_guard lock(mutex_);
    asked_.insert(request.path);
    return PlainText(200, "done");
  }

  std::atomic<bool> is_busy_{false};
  std::atomic<bool> let_go_{false};
  std::mutex mutex_;
  std::set<std::string> asked_;
  Running server_;
  RawClient first_;
};

std::unique_ptr<RawClient> Post(const std::string& url, const std::string& path) {
  auto client = std::make_unique<RawClient>(url);
  client->Send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
               std::to_string(kBodyBytes) + "\r\n\r\n" + std::string(kBodyBytes, 'x'));
  return client;
}

void Reset(RawClient* client) {
  const linger at_once{1, 0};
  setsockopt(client->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  client->Close();
}

TEST(BusyServer, AnswersAtOnceWhatMustGetThrough) {
  const Busy server;
  EXPECT_EQ(StatusOf(Get(server.url(), "/at-once")), "200");
}

TEST(BusyServer, CountsTheBodiesThatWaitForAWorker) {
  ServerOptions options;
  options.held_bytes = 1'000'000;
  Busy server(options);
  std::vector<std::unique_ptr<RawClient>> clients;
  std::vector<pollfd> polled;
  for (const char* path : {"/1", "/2", "/3"}) {
    clients.push_back(Post(server.url(), path));
    polled.push_back({clients.back()->fd(), POLLIN, 0});
  }
  EXPECT_EQ(poll(polled.data(), polled.size(), kLongMs), 1) << "one of them is refused";
  server.LetGo();
  std::multiset<std::string> statuses;
  for (const auto& client : clients) statuses.insert(StatusOf(client->ReadAnswer()));
  EXPECT_EQ(statuses, (std::multiset<std::string>{"200", "200", "503"}));
  EXPECT_EQ(StatusOf(Post(server.url(), "/4")->ReadAnswer()), "200") << "they count no more";
}

TEST(BusyServer, DropsTheRequestsOfClientsThatHaveGone) {
  ServerOptions options;
  options.held_bytes = 1'000'000;
  Busy server(options);
  for (int i = 0; i < 10; ++i) {  // more than fit, if they were kept
    const auto gone = Post(server.url(), "/gone");
    // Each of these takes two turns of the server, in which it also reads from the other.
    for (int turn = 0; turn < 8; ++turn) {
      EXPECT_EQ(StatusOf(Get(server.url(), "/at-once")), "200");
    }
    Reset(gone.get());
  }
  const auto last = Post(server.url(), "/last");
  EXPECT_EQ(StatusOf(Get(server.url(), "/at-once")), "200");
  server.LetGo();
  EXPECT_EQ(StatusOf(last->ReadAnswer()), "200");
  EXPECT_EQ(server.asked(), (std::set<std::string>{"/at-once", "/busy", "/last"}));
}

TEST(Server, KeepsNoMemoryOfWhatHasGone) {
  constexpr size_t kLeast = size_t{20} << 20;  // of an answer
  const Running server;
  const size_t before = allocated;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.url()));
    clients.back()->Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    char buffer[65536];
    for (size_t got = 0; got < kLeast;) {
      const ssize_t some = recv(clients.back()->fd(), buffer, sizeof buffer, 0);
      ASSERT_GT(some, 0);
      got += static_cast<size_t>(some);
    }
  }
  // Also while the connections stay.
  EXPECT_TRUE(
      Eventually("the server frees the answers", [&] { return allocated < before + kLeast / 10; }));
}

TEST(ServerWithoutMemory, SaysThatAnAnswerCouldNotBeMade) {
  ServerOptions options;
  options.workers = 1;
  const Running server(options, [](const Request& request) -> Reply {
    feels_it = request.path == "/fail";
    if (feels_it) throw std::bad_alloc();
    return PlainText(200, "there is enough");
  });
  memory_is_out = true;
  const std::string answer = Get(server.url(), "/fail");
  EXPECT_EQ(StatusOf(answer), "500");
  EXPECT_TRUE(Has(answer, "the answer could not be made")) << answer;
  memory_is_out = false;
  EXPECT_EQ(StatusOf(Get(server.url(), "/")), "200");
}

TEST(ServerWithoutMemory, DeliversTheAnswersBehindOneThatFails) {
  constexpr unsigned kConnections = 6;
  ServerOptions options;
  options.workers = 2;
  options.connections_per_peer = kConnections;
  options.at_once = [](const Request& request) { return request.path == "/hold"; };
  std::atomic<bool> holds{false};
  std::atomic<bool> refused_is_made{false};
  std::atomic<bool> answer_is_made{false};
  std::atomic<pid_t> refuser{0};  // the workers' threads
  std::atomic<pid_t> answerer{0};
  const Running server(options, [&](const Request& request) -> Reply {
    Reply later;
    later.due_ns = MonotonicNow() + 3600'000'000'000;
    later.later = [] { return PlainText(200, "never"); };
    if (request.path == "/wait") return later;
    if (request.path == "/refused") {
      refuser = gettid();
      WaitFor("the server's own thread holds", holds);
      refused_is_made = true;
      return later;
    }
    if (request.path == "/answered") {
      answerer = gettid();
      WaitFor("the first outcome", refused_is_made);
      WaitUntilAsleep("the first worker has delivered", refuser);  // so that this is the second
      answer_is_made = true;
    }
    if (request.path == "/hold") {
      // The server's own thread finds both outcomes when it goes on, and no memory to refuse one.
      holds = true;
      WaitFor("the second outcome", answer_is_made);
      WaitUntilAsleep("the second worker has delivered", answerer);
      feels_it = true;
      memory_is_out = true;
    }
    return PlainText(200, "done");
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  const auto ask = [&](const std::string& path) {
    clients.push_back(std::make_unique<RawClient>(server.url()));
    clients.back()->Send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return clients.back().get();
  };
  for (unsigned i = 0; i < kConnections / 2; ++i) ask("/wait");  // as many as may
  const RawClient* refused = ask("/refused");
  RawClient* answered = ask("/answered");
  WaitFor("a worker has the request that is refused", refuser);
  WaitFor("a worker has the request that is answered", answerer);
  RawClient* hold = ask("/hold");
  EXPECT_EQ(StatusOf(answered->ReadAnswer()), "200");
  EXPECT_EQ(StatusOf(hold->ReadAnswer()), "500");
  EXPECT_EQ(refused->ReadAll(), "") << "closed: there was no memory to say why";
  memory_is_out = false;
  EXPECT_EQ(StatusOf(Get(server.url(), "/")), "200");
}

}  // namespace
}  // namespace heapgauge::endpoint
