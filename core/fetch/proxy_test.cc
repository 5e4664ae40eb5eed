#include "core/fetch/http.h"

#include <gtest/gtest.h>

#include <map>

namespace heapgauge {
namespace {

std::string Through(const char* url, const std::map<std::string, std::string>& environment) {
  const auto proxy = ProxyFor(*ParseUrl(url), [&](const char* name) -> const char* {
    const auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  });
  return proxy ? proxy->host + ":" + std::to_string(proxy->port) : "";
}

TEST(ProxyTest, IsTheOneOfTheScheme) {
  EXPECT_EQ(Through("http://far/x", {{"http_proxy", "http://gate:3128"}}), "gate:3128");
  EXPECT_EQ(Through("http://far/x", {{"HTTP_PROXY", "gate"}}), "gate:80");
  EXPECT_EQ(Through("https://far/x", {{"http_proxy", "gate"}}), "");
  EXPECT_EQ(Through("https+insecure://far/x", {{"https_proxy", "http://u:p@gate:1/"}}), "gate:1");
  EXPECT_EQ(Through("http://far/x", {{"http_proxy", "socks5://gate:1"}}), "");
}

TEST(ProxyTest, IsNotUsedForWhatIsNear) {
  for (const char* url : {"http://localhost:6060/", "http://127.0.0.1/", "http://[::1]:80/"}) {
    EXPECT_EQ(Through(url, {{"http_proxy", "gate"}}), "") << url;
  }
}

TEST(ProxyTest, IsNotUsedForWhatIsExcluded) {
  const std::map<std::string, std::string> environment = {{"http_proxy", "gate:1"},
                                                          {"no_proxy", "one, .corp.example"}};
  EXPECT_EQ(Through("http://one:80/", environment), "");
  EXPECT_EQ(Through("http://a.corp.example/", environment), "");
  EXPECT_EQ(Through("http://two/", environment), "gate:1");
  EXPECT_EQ(Through("http://notcorp.example/", environment), "gate:1");
}

}  // namespace
}  // namespace heapgauge
