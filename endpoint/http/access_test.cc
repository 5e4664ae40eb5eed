#include "endpoint/http/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "endpoint/http/server.h"

namespace heapgauge::endpoint {
namespace {

constexpr const char* kToken = "0123456789abcdef";

// The status of the refusal; 0 if the request may go on.
int RefusalOf(const RequestHead& head, const AccessRules& rules) {
  const auto refused = Refuse(head, rules);
  return refused ? refused->status : 0;
}

RequestHead Head(const std::string& method, Headers headers) {
  RequestHead head;
  head.method = method;
  head.headers = std::move(headers);
  return head;
}

TEST(Access, KnowsItsOwnNames) {
  for (const char* host : {"localhost", "LocalHost:9700", "127.0.0.1", "127.0.0.1:80", "10.1.2.3:9",
                           "[::1]", "[::1]:9700"}) {
    EXPECT_TRUE(IsOwnHost(host)) << host;
  }
  for (const char* host :
       {"", "evil.example", "evil.example:9700", "localhost.evil.example", "127.0.0.1.evil.example",
        "127.1", "0x7f.1", "[::1", "[::1]evil", "[x]", "2130706433", "local\thost"}) {
    EXPECT_FALSE(IsOwnHost(host)) << host;
  }
}

TEST(Access, RefusesForeignNamesWithoutAToken) {
  AccessRules rules;
  EXPECT_EQ(RefusalOf(Head("GET", {{"Host", "evil.example"}}), rules), 421);
  EXPECT_EQ(RefusalOf(Head("GET", {{"Host", "localhost:1"}}), rules), 0);
  EXPECT_EQ(RefusalOf(Head("GET", {}), rules), 0) << "HTTP/1.0";
  RequestHead absolute = Head("GET", {{"Host", "localhost"}});
  absolute.authority = "evil.example";
  EXPECT_EQ(RefusalOf(absolute, rules), 421);
  rules.only_own_host = false;
  EXPECT_EQ(RefusalOf(Head("GET", {{"Host", "evil.example"}}), rules), 0);
  rules = {.token = kToken};
  EXPECT_EQ(RefusalOf(Head("GET", {{"Host", "evil.example"}}), rules), 401);
}

TEST(Access, TakesTheTokenAsPasswordOrBearer) {
  const AccessRules rules{.token = kToken};
  const auto status = [&](const std::string& value) {
    return RefusalOf(Head("GET", {{"Host", "h"}, {"Authorization", value}}), rules);
  };
  EXPECT_EQ(status("Bearer 0123456789abcdef"), 0);
  EXPECT_EQ(status("bearer 0123456789abcdef"), 0);
  EXPECT_EQ(status("Basic YW55OjAxMjM0NTY3ODlhYmNkZWY="), 0);  // any:TOKEN
  EXPECT_EQ(status("Basic OjAxMjM0NTY3ODlhYmNkZWY="), 0);      // :TOKEN
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Bearer 0123456789abcde",
        "Bearer 0123456789abcdef0123456789abcdef", "Basic", "Basic !!!", "Basic YW55",
        "Basic MDEyMzQ1Njc4OWFiY2RlZg==", "Digest 0123456789abcdef", "0123456789abcdef"}) {
    EXPECT_EQ(status(wrong), 401) << wrong;
  }
}

TEST(Access, NeverTakesAnEmptySecret) {
  EXPECT_FALSE(SameSecret("", ""));
  EXPECT_FALSE(SameSecret("x", ""));
  EXPECT_FALSE(SameSecret("", "x"));
  EXPECT_TRUE(SameSecret("x", "x"));
}

TEST(Access, KeepsPagesOfOtherSitesOut) {
  const AccessRules rules;
  const std::string host = "localhost:9700";
  const auto status = [&](const char* method, const char* name, const char* value) {
    return RefusalOf(Head(method, {{"Host", host}, {name, value}}), rules);
  };
  EXPECT_EQ(status("POST", "Origin", "http://evil.example"), 403);
  EXPECT_EQ(status("POST", "Origin", "http://localhost:8080"), 403) << "another port, another site";
  EXPECT_EQ(status("PUT", "Origin", "null"), 403);
  EXPECT_EQ(status("DELETE", "Origin", "http://localhost:9700.evil.example"), 403);
  EXPECT_EQ(status("POST", "Origin", "http://localhost:9700"), 0);
  EXPECT_EQ(status("POST", "X", ""), 0) << "curl";
  EXPECT_EQ(status("GET", "Origin", "http://evil.example"), 0) << "it cannot read the answer";
  EXPECT_EQ(status("POST", "Sec-Fetch-Site", "cross-site"), 403);
  EXPECT_EQ(status("GET", "Sec-Fetch-Site", "cross-site"), 403) << "an image, a script";
  EXPECT_EQ(status("GET", "Sec-Fetch-Site", "same-origin"), 0);
  EXPECT_EQ(status("GET", "Sec-Fetch-Site", "none"), 0);
  EXPECT_EQ(RefusalOf(Head("GET", {{"Host", host},
                                   {"Sec-Fetch-Site", "cross-site"},
                                   {"Sec-Fetch-Mode", "navigate"}}),
                      rules),
            0)
      << "a link";
}

class TokenFile : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/heapgauge-token-XXXXXX";
    const int fd = mkstemp(name);
    ASSERT_GE(fd, 0);
    close(fd);
    path_ = name;
  }
  void TearDown() override { unlink(path_.c_str()); }
  Result<std::string> Read(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
    return ReadTokenFile(path_);
  }
  std::string path_;
};

TEST_F(TokenFile, IsItsFirstLineWithoutBlanks) {
  EXPECT_EQ(Read("  0123456789abcdef \t\r\nmore\n").value_or(""), kToken);
  EXPECT_EQ(Read("0123456789abcdef").value_or(""), kToken);
}

TEST_F(TokenFile, MustBeLongAndSecret) {
  EXPECT_FALSE(Read(""));
  EXPECT_FALSE(Read("\n0123456789abcdef\n"));
  EXPECT_FALSE(Read("0123456789abcde\n"));
  EXPECT_FALSE(Read("0123456789 abcdef\n"));
  EXPECT_FALSE(Read(std::string(5000, 'x')));
  const auto open = Read("0123456789abcdef\n", 0644);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message.find("chmod 600"), std::string::npos) << open.error().message;
  EXPECT_FALSE(ReadTokenFile(path_ + ".none"));
  EXPECT_FALSE(ReadTokenFile("/"));
}

}  // namespace
}  // namespace heapgauge::endpoint
