#include "core/fetch/http.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <thread>

#include "core/base/testing/eventually.h"

namespace heapgauge {
namespace {

class HttpTest : public ::testing::Test {
 protected:
  HttpTest() {
    server_.Get("/plain", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content("query " + request.get_param_value("seconds"), "text/plain");
    });
    server_.Get("/moved", [](const httplib::Request&, httplib::Response& response) {
      response.set_redirect("/plain?seconds=3");
    });
    server_.Get("/round", [](const httplib::Request&, httplib::Response& response) {
      response.set_redirect("/round");
    });
    server_.Get("/bad", [](const httplib::Request&, httplib::Response& response) {
      response.status = 500;
      response.set_header("X-Go-Pprof", "1");
      response.set_content("already profiling\n", "text/plain; charset=utf-8");
    });
    server_.Get("/long", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(std::string(100000, 'x'), "text/plain");
    });
    server_.Post("/symbol", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(request.body + " named", "text/plain");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    EXPECT_TRUE(Eventually("the server runs", [&] { return server_.is_running(); }));
  }
  ~HttpTest() override {
    server_.stop();
    thread_.join();
  }
  Url At(const std::string& path) const {
    return *ParseUrl("http://127.0.0.1:" + std::to_string(port_) + path);
  }

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

TEST_F(HttpTest, GetsAPage) { EXPECT_EQ(HttpGet(At("/plain?seconds=5"), {}).value(), "query 5"); }

TEST_F(HttpTest, FollowsARedirect) { EXPECT_EQ(HttpGet(At("/moved"), {}).value(), "query 3"); }

TEST_F(HttpTest, DoesNotFollowRedirectsForEver) {
  const auto page = HttpGet(At("/round"), {});
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().message.find("too many redirects"), std::string::npos);
}

TEST_F(HttpTest, PostsAddresses) {
  EXPECT_EQ(HttpPost(At("/symbol"), "0x1+0x2", {}).value(), "0x1+0x2 named");
}

TEST_F(HttpTest, TellsWhatTheServerSays) {
  const auto bad = HttpGet(At("/bad"), {});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message,
            At("/bad").Text() + ": server response: 500 Internal Server Error - already profiling");
  const auto none = HttpGet(At("/none"), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("server response: 404 Not Found"), std::string::npos);
}

TEST_F(HttpTest, ReadsNoMoreThanItMay) {
  HttpOptions options;
  options.max_bytes = 1000;
  const auto page = HttpGet(At("/long"), options);
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().message.find("longer than"), std::string::npos);
}

TEST_F(HttpTest, TellsThatNobodyListens) {
  Url url = At("/plain");
  server_.stop();
  const auto page = HttpGet(url, {});
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().message.find(url.Text()), std::string::npos);
}

TEST(HttpOptionsTest, ACertificateNeedsItsKey) {
  HttpOptions options;
  options.tls_cert = "/dev/null";
  const auto page = HttpGet(*ParseUrl("https://127.0.0.1:1/"), options);
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().message.find("-tls_key"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
