#include "endpoint/endpoint.h"

#include <gtest/gtest.h>

#include <new>
#include <random>

#include "endpoint/base/route.h"
#include "endpoint/target.h"
#include "endpoint/testing/fake_process.h"

namespace heapgauge::endpoint {
namespace {

using testing::FakeProcess;
using testing::FakeProcesses;

Request Get(const std::string& path, const std::string& query = "") {
  Request request;
  request.path = path;
  request.query = query;
  return request;
}

struct Host {
  explicit Host(std::vector<uint32_t> pids = {4242}, Limits limits = {}) {
    std::vector<std::shared_ptr<Process>> all;
    for (const uint32_t pid : pids) {
      processes.push_back(std::make_shared<FakeProcess>(pid));
      all.push_back(processes.back());
    }
    endpoint = std::make_unique<Endpoint>(std::make_shared<FakeProcesses>(all), limits);
  }
  Response Answer(const Request& request) { return endpoint->Handle(request).response; }
  Response Answer(const std::string& path) { return Answer(Get(path)); }

  std::vector<std::shared_ptr<FakeProcess>> processes;
  std::unique_ptr<Endpoint> endpoint;
};

TEST(Endpoint, KnowsARouteByTheEndOfThePath) {
  Host host;
  const Response plain = host.Answer("/pprof/heap");
  EXPECT_EQ(plain.status, 200);
  EXPECT_TRUE(plain.body.starts_with("heap profile:"));
  for (const char* path :
       {"/pid/4242/pprof/heap", "/name/server/pprof/heap", "/any/mount/point/pprof/heap",
        "//pprof///heap", "/./pprof/heap", "/x/pid/4242/y/pprof/heap", "/%70prof/heap"}) {
    EXPECT_EQ(host.Answer(path).body, plain.body) << path;
  }
  for (const char* path : {"/pprof/heap2", "/heap", "/pprof", "/pprof/heap/more", "/favicon.ico"}) {
    EXPECT_EQ(host.Answer(path).status, 404) << path;
  }
}

TEST(Endpoint, AnswersNotFoundInTheFormOfGo) {
  Host host;
  const Response response = host.Answer("/nothing");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.Header("X-Go-Pprof"), "1");
  EXPECT_EQ(response.Header("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(response.body.back(), '\n');
}

TEST(Endpoint, RefusesPathsThatMakeNoSense) {
  Host host;
  for (const char* path : {"/pprof/heap%00", "/%zz/pprof/heap", "/../pprof/heap",
                           "/%2e%2e/pprof/heap", "", "pprof/heap", "/pprof/heap%2"}) {
    EXPECT_EQ(host.Answer(path).status, 400) << path;
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "/a";
  EXPECT_EQ(host.Answer(deep + "/pprof/heap").status, 400);
  // An encoded slash is part of a piece.
  EXPECT_EQ(host.Answer("/pprof%2fheap").status, 404);
}

TEST(Endpoint, NamesTheProcessesWhereThereAreSeveral) {
  Host host({11, 12});
  EXPECT_EQ(host.Answer("/pid/12/pprof/heap").status, 200);
  EXPECT_EQ(host.Answer("/pid/13/pprof/heap").status, 404);
  EXPECT_EQ(host.Answer("/pid/abc/pprof/heap").status, 404);
  EXPECT_EQ(host.Answer("/name/other/pprof/heap").status, 404);
  for (const char* path : {"/pprof/heap", "/name/server/pprof/heap"}) {
    const Response response = host.Answer(path);
    EXPECT_EQ(response.status, 409) << path;
    EXPECT_NE(response.body.find("/pid/11/"), std::string::npos);
    EXPECT_NE(response.body.find("/pid/12/"), std::string::npos);
  }
}

TEST(Endpoint, MeansTheOneThatRunsWhereTheOthersHaveEnded) {
  Host host({11, 12});
  host.processes[0]->facts.state = RecordingState::kKilled;
  const Response response = host.Answer("/pprof/heap");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(host.processes[1]->taken, 1);
  EXPECT_EQ(host.processes[0]->taken, 0);
}

TEST(Endpoint, SaysSoIfNothingIsProfiled) {
  Host host(std::vector<uint32_t>{});
  EXPECT_EQ(host.Answer("/pprof/heap").status, 404);
  EXPECT_EQ(host.Answer("/").status, 200);
}

TEST(Endpoint, AnswersHeadWithoutABody) {
  Host host;
  Request request = Get("/pprof/heap");
  request.method = "HEAD";
  const Response response = host.Answer(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(response.Header("Content-Type"), "text/plain; charset=utf-8");
}

TEST(Endpoint, RefusesOtherMethodsAndNamesTheRightOnes) {
  Host host;
  for (const char* method : {"POST", "DELETE", "get", "", "TRACE"}) {
    Request request = Get("/pprof/heap");
    request.method = method;
    const Response response = host.Answer(request);
    EXPECT_EQ(response.status, 405) << method;
    EXPECT_EQ(response.Header("Allow"), "GET, HEAD");
  }
}

TEST(Endpoint, RefusesMalformedAndEndlessQueries) {
  Host host;
  EXPECT_EQ(host.Answer(Get("/pprof/heap", "a=%zz")).status, 400);
  EXPECT_EQ(host.Answer(Get("/pprof/heap", "a=" + std::string(5000, 'x'))).status, 400);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "a=1&";
  EXPECT_EQ(host.Answer(Get("/pprof/heap", many)).status, 400);
}

TEST(Endpoint, PutsSecurityHeadersOnEveryAnswer) {
  Host host;
  for (const char* path : {"/", "/pprof/heap", "/nothing", "/debug/pprof/", "/%00"}) {
    const Response response = host.Answer(path);
    EXPECT_EQ(response.Header("X-Content-Type-Options"), "nosniff") << path;
    EXPECT_EQ(response.Header("X-Frame-Options"), "DENY") << path;
    EXPECT_EQ(response.Header("Cache-Control"), "no-store") << path;
    EXPECT_EQ(response.Header("Referrer-Policy"), "no-referrer") << path;
    int count = 0;
    for (const auto& header : response.headers) count += header.first == "X-Content-Type-Options";
    EXPECT_EQ(count, 1) << path;
  }
  EXPECT_NE(host.Answer("/debug/pprof/").Header("Content-Security-Policy"), "");
}

class ThrowingProcess : public FakeProcess {
 public:
  using FakeProcess::FakeProcess;
  Result<std::shared_ptr<const Profile>> Take(Moment /*moment*/) override {
    throw std::bad_alloc();
  }
};

TEST(Endpoint, TurnsAnExceptionIntoAnError) {
  auto process = std::make_shared<ThrowingProcess>(7);
  Endpoint endpoint(
      std::make_shared<FakeProcesses>(std::vector<std::shared_ptr<Process>>{process}));
  const Response response = endpoint.Handle(Get("/pprof/heap")).response;
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "out of memory\n");
  EXPECT_EQ(response.Header("X-Frame-Options"), "DENY");
}

TEST(Endpoint, BoundsTheSizeOfAnAnswer) {
  Limits limits;
  limits.response_bytes = 100;
  Host host({1}, limits);
  const Response response = host.Answer("/pprof/heap");
  EXPECT_EQ(response.status, 500);
  EXPECT_NE(response.body.find("limit of 100"), std::string::npos);
}

TEST(Endpoint, PromisesNoMoreRepliesThanItMay) {
  Limits limits;
  limits.waiting = 2;
  Host host({1}, limits);
  const Request request = Get("/debug/pprof/heap", "seconds=30");
  Reply first = host.endpoint->Handle(request);
  Reply second = host.endpoint->Handle(request);
  ASSERT_TRUE(first.later);
  ASSERT_TRUE(second.later);
  Reply third = host.endpoint->Handle(request);
  EXPECT_FALSE(third.later);
  EXPECT_EQ(third.response.status, 503);
  EXPECT_EQ(third.response.Header("Retry-After"), "5");
  // One that was kept makes room, and so does one that nobody waits for any more.
  EXPECT_EQ(first.later().status, 200);
  EXPECT_TRUE(host.endpoint->Handle(request).later);
  second = Reply();
  EXPECT_TRUE(host.endpoint->Handle(request).later);
}

TEST(Endpoint, KeepsAPromiseWhenItIsGoneItself) {
  Host host;
  Reply reply = host.endpoint->Handle(Get("/debug/pprof/heap", "seconds=30"));
  ASSERT_TRUE(reply.later);
  host.endpoint = nullptr;
  const Response response = reply.later();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("X-Frame-Options"), "DENY");
}

TEST(Endpoint, LetsNoOtherSitePost) {
  Host host;
  Request request = Get("/pprof/symbol");
  request.method = "POST";
  request.body = "0x1";
  request.headers = {{"Host", "127.0.0.1:9700"}};
  EXPECT_EQ(host.Answer(request).status, 200);
  request.headers.emplace_back("Origin", "http://127.0.0.1:9700");
  EXPECT_EQ(host.Answer(request).status, 200);
  request.headers.back().second = "http://evil.example";
  EXPECT_EQ(host.Answer(request).status, 403);
  request.headers.back() = {"Sec-Fetch-Site", "cross-site"};
  EXPECT_EQ(host.Answer(request).status, 403);
}

// Requests put together at random from what routes know and what breaks parsers.
TEST(Endpoint, AnswersAnythingWithoutReflectingIt) {
  Limits limits;
  limits.waiting = 1000;
  Host host({4242}, limits);
  const std::string evil = "zq\"'><script>\r\nX: y";
  std::vector<std::string> words = {"a",
                                    "1",
                                    "-1",
                                    "y",
                                    "text",
                                    "svg",
                                    "flame",
                                    "18446744073709551616",
                                    "%3Cscript%3E",
                                    "%22%3E",
                                    "%0d%0a",
                                    "%00",
                                    "..",
                                    evil};
  std::vector<std::string> keys = {"debug", "seconds", "gc",     "engine",       "display",
                                   "view",  "base",    "enable", "bytes",        "extra_options",
                                   "opts",  "console", "count",  "display_type", evil};
  std::mt19937 random(7);
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[random() % from.size()];
  };
  const auto routes = AllRoutes();
  for (int i = 0; i < 1000; ++i) {
    const Route& route = *routes[random() % routes.size()];
    Request request;
    request.method = pick({"GET", "HEAD", "POST", "PUT", "DELETE", evil});
    if (random() % 2 == 0)
      request.method = std::string(route.methods.substr(0, route.methods.find(',')));
    request.path = pick({"/", "/pid/4242/", "/name/server/", "/" + pick(words) + "/"});
    request.path += route.path;
    if (random() % 4 == 0 || request.path.back() == '/') request.path += pick(words);
    for (uint32_t n = random() % 4; n > 0; --n) {
      request.query += pick(keys) + "=" + pick(words) + (n > 1 ? "&" : "");
    }
    request.headers = {{"User-Agent", pick({"curl/8", "Mozilla/5.0", evil})},
                       {"Content-Type", pick({"application/x-www-form-urlencoded", "text/plain"})}};
    if (random() % 2 == 0) request.body = pick(keys) + "=" + pick(words);
    const Reply reply = host.endpoint->Handle(request);
    const Response response = reply.later ? reply.later() : reply.response;
    const std::string what = request.method + " " + request.path + "?" + request.query;
    ASSERT_GE(response.status, 200) << what;
    ASSERT_LT(response.status, 600) << what;
    for (const auto& [name, value] : response.headers) {
      ASSERT_EQ((name + value).find_first_of("\r\n"), std::string::npos) << what;
    }
    ASSERT_EQ(response.Header("X-Content-Type-Options"), "nosniff") << what;
    ASSERT_EQ(response.body.find("zq\"'>"), std::string::npos) << what;
  }
}

TEST(Index, ListsProcessesAndRoutesWithNothingUnescaped) {
  Host host;
  host.processes[0]->facts.command_line = {"/bin/<script>alert(1)</script>", "a&b"};
  Request request = Get("/");
  request.headers = {{"User-Agent", "Mozilla/5.0"}};
  const Response response = host.Answer(request);
  EXPECT_EQ(response.Header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(response.body.find("<script"), std::string::npos);
  EXPECT_NE(response.body.find("a&amp;b"), std::string::npos);
  EXPECT_NE(response.body.find("href=\"pid/4242/\""), std::string::npos);
  EXPECT_NE(response.body.find("href=\"debug/pprof/heap\""), std::string::npos);
  // No link leads away from where the page is mounted.
  EXPECT_EQ(response.body.find("href=\"/"), std::string::npos);
}

TEST(Index, IsAFolderAndLinesForCurl) {
  Host host({11, 12});
  const Response moved = host.Answer("/pid/11");
  EXPECT_EQ(moved.status, 301);
  EXPECT_EQ(moved.Header("Location"), "./11/");
  EXPECT_EQ(host.Answer("/pid/99/").status, 404);
  const Response all = host.Answer("/");
  EXPECT_NE(all.body.find("pid/11/  server"), std::string::npos);
  EXPECT_EQ(all.body.find("debug/pprof/heap"), std::string::npos);
  const Response one = host.Answer("/pid/11/");
  EXPECT_EQ(one.body.find("pid/12/"), std::string::npos);
  EXPECT_NE(one.body.find("debug/pprof/heap"), std::string::npos);
  EXPECT_EQ(host.Answer("/mounted/heapgauge/").body, all.body);
}

}  // namespace
}  // namespace heapgauge::endpoint
