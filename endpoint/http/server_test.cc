#include "endpoint/http/server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/base/testing/eventually.h"
#include "core/os/process.h"
#include "endpoint/http/listener.h"
#include "endpoint/http/testing/raw_client.h"
#include "endpoint/http/testing/running.h"
#include "endpoint/http/testing/thread_state.h"

namespace heapgauge::endpoint {
namespace {

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

testing::AssertionResult EventuallyAnswers(const Running& server) {
  return Eventually("the server answers 200",
                    [&] { return StatusOf(Get(server.url(), "/")) == "200"; });
}

TEST(Server, AnswersAndKeepsTheConnection) {
  const Running server;
  RawClient client(server.url());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send("GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    const std::string answer = client.ReadAnswer();
    EXPECT_EQ(StatusOf(answer), "200");
    EXPECT_TRUE(Has(answer, "GET /a ?b=c 0"));
    EXPECT_TRUE(Has(answer, "X-Content-Type-Options: nosniff"));
    EXPECT_FALSE(Has(answer, "Connection:"));
  }
}

TEST(Server, ClosesAfterHttp10UnlessAskedToStay) {
  const Running server;
  RawClient once(server.url());
  once.Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(Has(once.ReadAll(), "Connection: close"));
  RawClient stay(server.url());
  stay.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(Has(stay.ReadAnswer(), "Connection: keep-alive"));
  stay.Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(StatusOf(stay.ReadAnswer()), "200");
}

TEST(Server, AnswersRequestsThatCameTogetherInTheirOrder) {
  const Running server;
  RawClient client(server.url());
  std::string all;
  for (int i = 0; i < 20; ++i) {
    all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  client.Send(all);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(Has(client.ReadAnswer(), "GET /" + std::to_string(i) + " ?"));
  }
}

TEST(Server, TakesBodiesByLengthAndInChunks) {
  const Running server;
  RawClient client(server.url());
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhel");
  client.Send("lo");
  EXPECT_TRUE(Has(client.ReadAnswer(), "POST / ? 5 hello"));
  client.Send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n");
  EXPECT_TRUE(Has(client.ReadAnswer(), "POST / ? 13 abc0123456789"));
}

TEST(Server, SaysContinueOnlyToWhatItWillTake) {
  ServerOptions options;
  options.body_bytes = 100;
  const Running server(options);
  RawClient client(server.url());
  const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n";
  client.Send(head + "Content-Length: 4\r\n\r\n");
  EXPECT_EQ(client.ReadAnswer(false), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("body");
  EXPECT_TRUE(Has(client.ReadAnswer(), "POST / ? 4 body"));
  client.Send(head + "Content-Length: 101\r\n\r\n");
  EXPECT_EQ(StatusOf(client.ReadAll()), "413");
}

TEST(Server, AnswersHeadWithoutABody) {
  const Running server;
  RawClient client(server.url());
  client.Send("HEAD /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadAll();
  EXPECT_TRUE(Has(answer, "Content-Length: 12\r\n")) << answer;
  EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n");
}

TEST(Server, SendsLargeAnswersToClientsThatReadSlowly) {
  const Running server;
  RawClient slow(server.url());
  slow.Send("GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(StatusOf(Get(server.url(), "/")), "200") << "somebody else is served meanwhile";
  EXPECT_GT(slow.ReadAll().size(), size_t{20} << 20);
}

TEST(Server, CompressesTextForThoseWhoAsk) {
  const Running server;
  RawClient client(server.url());
  client.Send(
      "GET /large HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
      "Connection: close\r\n\r\n");
  const std::string answer = client.ReadAll();
  EXPECT_TRUE(Has(answer, "Content-Encoding: gzip"));
  EXPECT_LT(answer.size(), size_t{1} << 20);
}

TEST(Server, WaitsForPromisesWithoutHoldingUpOthers) {
  for (const unsigned workers : {0U, 2U}) {
    ServerOptions options;
    options.workers = workers;
    const Running server(options);
    RawClient waiting(server.url());
    waiting.Send("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(StatusOf(Get(server.url(), "/")), "200");
    const std::string answer = waiting.ReadAnswer();
    EXPECT_EQ(StatusOf(answer), "200");
    EXPECT_TRUE(Has(answer, "at last"));
  }
}

TEST(Server, DropsThePromiseOfAClientThatHasGone) {
  auto promised = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = promised;
  std::atomic<bool> called{false};
  const Running server({}, [&](const Request& request) -> Reply {
    if (request.path != "/later") return PlainText(200, "now");
    Reply reply;
    reply.due_ns = MonotonicNow() + 3600'000'000'000;
    reply.later = [held = std::move(promised), &called] {
      called = true;
      return PlainText(200, std::to_string(*held));
    };
    return reply;
  });
  RawClient client(server.url());
  client.Send("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(StatusOf(Get(server.url(), "/")), "200");
  client.Close();
  EXPECT_TRUE(Eventually("the server drops the promise", [&] { return watch.expired(); }));
  EXPECT_FALSE(called);
}

TEST(Server, LeavesRoomBesideThoseThatWaitForPromises) {
  ServerOptions options;
  options.connections_per_peer = 4;
  const Running server(options, [&](const Request& request) -> Reply {
    if (request.path != "/later") return PlainText(200, "now");
    Reply reply;
    reply.due_ns = MonotonicNow() + 3600'000'000'000;
    reply.later = [] { return PlainText(200, "never"); };
    return reply;
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.url()));
    clients.back()->Send("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  EXPECT_EQ(StatusOf(clients.back()->ReadAll()), "503");
  EXPECT_EQ(StatusOf(Get(server.url(), "/")), "200");
}

TEST(Server, SurvivesAHandlerThatThrows) {
  const Running server;
  EXPECT_EQ(StatusOf(Get(server.url(), "/throw")), "500");
  EXPECT_EQ(StatusOf(Get(server.url(), "/")), "200");
}

TEST(Server, DoesNotLetAnAnswerBeSplit) {
  const Running server;
  const std::string answer = Get(server.url(), "/split");
  EXPECT_FALSE(Has(answer, "\r\nX-Evil")) << answer;
  EXPECT_TRUE(Has(answer, "X-A: b  X-Evil: 1")) << answer;
}

TEST(Server, EndsHeadsThatTakeTooLong) {
  ServerOptions options;
  options.head_ms = 50;
  const Running server(options);
  RawClient silent(server.url());
  EXPECT_EQ(silent.ReadAll(), "") << "closed without a word: there was no request";
  std::string answer;
  // Again if the machine was too slow to send anything in time.
  EXPECT_TRUE(Eventually("the server answers half a head", [&] {
    RawClient head(server.url());
    head.Send("GET / HTTP/1.1\r\nHost: lo");
    answer = head.ReadAll();
    return !answer.empty();
  }));
  EXPECT_EQ(StatusOf(answer), "408");
}

TEST(Server, EndsBodiesThatTakeTooLong) {
  ServerOptions options;
  options.body_ms = 50;
  const Running server(options);
  RawClient body(server.url());
  body.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(StatusOf(body.ReadAll()), "408");
}

TEST(Server, EndsConnectionsBetweenRequests) {
  ServerOptions options;
  options.idle_ms = 50;
  const Running server(options);
  RawClient client(server.url());
  client.Send(kGet);
  EXPECT_EQ(StatusOf(client.ReadAnswer()), "200");
  EXPECT_EQ(client.ReadAll(), "");
}

TEST(Server, EndsClientsThatDoNotRead) {
  ServerOptions options;
  options.write_ms = 50;
  options.connections_per_peer = 1;
  const Running server(options);
  RawClient client(server.url());
  client.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  // There is room for another only when the server has given up on this one.
  EXPECT_TRUE(EventuallyAnswers(server));
  EXPECT_LT(client.ReadAll().size(), size_t{20} << 20);
}

TEST(Server, TurnsAwayConnectionsAboveItsLimits) {
  ServerOptions options;
  options.connections_per_peer = 4;
  const Running server(options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.url()));
    clients.back()->Send(kGet);
    EXPECT_EQ(StatusOf(clients.back()->ReadAnswer()), "200");
    clients.back()->Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n");
  }
  EXPECT_EQ(StatusOf(Get(server.url(), "/")), "503");
  clients.pop_back();
  EXPECT_TRUE(EventuallyAnswers(server));
}

TEST(Server, MakesRoomByClosingConnectionsThatSayNothing) {
  ServerOptions options;
  options.connections = 4;
  const Running server(options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<RawClient>(server.url()));
  EXPECT_TRUE(EventuallyAnswers(server));
}

TEST(Server, TurnsAwayTooManyRequests) {
  ServerOptions options;
  options.requests_per_second = 1;
  const Running server(options);
  int refused = 0;
  for (int i = 0; i < 50 && refused == 0; ++i) {
    const std::string answer = Get(server.url(), "/");
    if (StatusOf(answer) == "429" && Has(answer, "Retry-After: 1")) ++refused;
  }
  EXPECT_GE(refused, 1);
}

TEST(Server, RefusesTheLargestBodyWhenTooMuchIsHeld) {
  ServerOptions options;
  options.held_bytes = 100'000;
  const Running server(options);
  RawClient small(server.url());
  small.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345");
  RawClient large(server.url());
  large.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  large.Send(std::string(500'000, 'x'));
  EXPECT_EQ(StatusOf(large.ReadAll()), "503");
  small.Send("67890");
  EXPECT_EQ(StatusOf(small.ReadAnswer()), "200");
}

TEST(Server, AsksForTheToken) {
  ServerOptions options;
  options.token = "0123456789abcdef";
  const Running server(options);
  const std::string without = Get(server.url(), "/");
  EXPECT_EQ(StatusOf(without), "401");
  EXPECT_TRUE(Has(without, "WWW-Authenticate: Basic"));
  RawClient client(server.url());
  // any:0123456789abcdef
  client.Send(
      "GET / HTTP/1.1\r\nHost: example.org\r\n"
      "Authorization: Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=\r\n\r\n");
  EXPECT_EQ(StatusOf(client.ReadAnswer()), "200") << "with a token the name does not matter";
}

TEST(Server, AnswersOnlyToItsOwnNamesOnLoopback) {
  const Running server;
  RawClient client(server.url());
  client.Send("GET / HTTP/1.1\r\nHost: evil.example:9700\r\n\r\n");
  EXPECT_EQ(StatusOf(client.ReadAll()), "421");
}

TEST(Server, NeedsATokenWhereOthersCanReachIt) {
  ServerOptions options;
  options.address = "0.0.0.0:0";
  const auto server = Server::Listen(options, Running::Echo);
  ASSERT_FALSE(server);
  EXPECT_TRUE(Has(server.error().message, "--token-file")) << server.error().message;
  options.insecure = true;
  EXPECT_TRUE(Server::Listen(options, Running::Echo));
}

TEST(Server, SaysWhyItCannotListen) {
  const Running server;
  ServerOptions options;
  options.address = server.url().substr(7);
  const auto second = Server::Listen(options, Running::Echo);
  ASSERT_FALSE(second);
  EXPECT_TRUE(Has(second.error().message, "choose another port")) << second.error().message;
}

class UnixServer : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/heapgauge-server-XXXXXX";
    directory_ = mkdtemp(name);
    options_.address = "unix:" + directory_ + "/s";
  }
  void TearDown() override {
    unlink((directory_ + "/s").c_str());
    rmdir(directory_.c_str());
  }
  std::string directory_;
  ServerOptions options_;
};

TEST_F(UnixServer, IsForItsOwnerAloneAndGoesAtTheEnd) {
  const std::string path = directory_ + "/s";
  struct stat st {};
  {
    const mode_t before = umask(0);
    const Running server(options_);
    umask(before);
    EXPECT_EQ(server.url(), options_.address);
    ASSERT_EQ(lstat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, 0600U);
    EXPECT_EQ(StatusOf(Get(server.url(), "/")), "200");
    RawClient any_name(server.url());
    any_name.Send("GET / HTTP/1.1\r\nHost: whatever\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(StatusOf(any_name.ReadAll()), "200");
    const auto second = Server::Listen(options_, Running::Echo);
    ASSERT_FALSE(second);
    EXPECT_TRUE(Has(second.error().message, "somebody listens")) << second.error().message;
  }
  EXPECT_NE(lstat(path.c_str(), &st), 0);
}

TEST_F(UnixServer, ReplacesASocketThatNobodyListensOnButNoFile) {
  const std::string path = directory_ + "/s";
  {
    auto first = Server::Listen(options_, Running::Echo);
    ASSERT_TRUE(first);
    ASSERT_EQ(rename(path.c_str(), (path + "2").c_str()), 0);  // it will not find it to remove
  }
  ASSERT_EQ(rename((path + "2").c_str(), path.c_str()), 0);
  { EXPECT_EQ(StatusOf(Get(Running(options_).url(), "/")), "200"); }
  FILE* file = fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  fclose(file);
  const auto server = Server::Listen(options_, Running::Echo);
  ASSERT_FALSE(server);
  EXPECT_TRUE(Has(server.error().message, "is no socket")) << server.error().message;
}

TEST(Server, FinishesWhatIsUnderWayWhenItStops) {
  ServerOptions options;
  options.workers = 1;
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  Running server(options, [&](const Request&) -> Reply {
    begun = true;
    EXPECT_TRUE(Eventually("the test lets the request finish", [&] { return go_on.load(); }));
    return PlainText(200, "finished");
  });
  RawClient client(server.url());
  client.Send(kGet);
  EXPECT_TRUE(Eventually("the request begins", [&] { return begun.load(); }));
  RawClient idle(server.url());
  std::thread stopper([&] { server.Stop(); });
  EXPECT_EQ(idle.ReadAll(), "");  // so it is stopping
  go_on = true;
  EXPECT_TRUE(Has(client.ReadAll(), "finished"));
  stopper.join();
}

TEST(Server, DoesNotSpinWithoutFreeDescriptors) {
  std::atomic<pid_t> thread{0};
  ServerOptions options;
  options.workers = 0;  // the server's own thread handles requests
  const Running server(options, [&](const Request&) -> Reply {
    thread = gettid();
    return PlainText(200, "done");
  });
  ASSERT_EQ(StatusOf(Get(server.url(), "/")), "200");
  const auto address = ParseAddress(server.url().substr(7));
  ASSERT_TRUE(address);
  const ThreadState state(thread);  // our side needs its descriptors before, too
  std::vector<int> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(Eventually("the server waits for clients", [&] { return state.IsAsleep(); }));
  const uint64_t sleeps = state.Sleeps();
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{3, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  for (const int client : clients) EXPECT_EQ(connect(client, address->get(), address->size), 0);
  // One that spins finds a client in each turn and never waits.
  EXPECT_TRUE(Eventually("the server waits though it cannot accept its clients",
                         [&] { return state.Sleeps() > sleeps; }));
  setrlimit(RLIMIT_NOFILE, &before);
  for (const int client : clients) close(client);
  EXPECT_TRUE(EventuallyAnswers(server));
}

}  // namespace
}  // namespace heapgauge::endpoint
