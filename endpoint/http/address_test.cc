#include "endpoint/http/listener.h"

#include <gtest/gtest.h>

namespace heapgauge::endpoint {
namespace {

std::string TextOf(const std::string& text) {
  const auto address = ParseAddress(text);
  return address ? address->Text() : "";
}

TEST(Address, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(TextOf("127.0.0.1:9700"), "127.0.0.1:9700");
  EXPECT_EQ(TextOf("9700"), "127.0.0.1:9700");
  EXPECT_EQ(TextOf(":9700"), "127.0.0.1:9700");
  EXPECT_EQ(TextOf("localhost:0"), "127.0.0.1:0");
  EXPECT_EQ(TextOf("[::1]:80"), "[::1]:80");
  EXPECT_EQ(TextOf("*:80"), "[::]:80");
  EXPECT_EQ(TextOf("unix:/run/x.sock"), "unix:/run/x.sock");
}

TEST(Address, KnowsWhoCanReachIt) {
  for (const char* local :
       {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "unix:/x"}) {
    EXPECT_TRUE(ParseAddress(local)->is_local()) << local;
  }
  for (const char* open : {"0.0.0.0:1", "*:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1",
                           "[::ffff:10.0.0.1]:1", "[fe80::1]:1"}) {
    EXPECT_FALSE(ParseAddress(open)->is_local()) << open;
  }
  EXPECT_TRUE(ParseAddress("*:1")->is_any());
  EXPECT_FALSE(ParseAddress("unix:/x")->is_any());
}

TEST(Address, SaysHowItShouldBeWritten) {
  for (const char* wrong : {"", ":", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "1:2:3",
                            "::1:80", "[::1]", "[::1]80", "[x]:1", "host.example:80", "127.1:80",
                            "127.0.0.1:-1", "127.0.0.1:8 0", "unix:", "http://127.0.0.1:80"}) {
    const auto address = ParseAddress(wrong);
    ASSERT_FALSE(address) << wrong;
    EXPECT_NE(address.error().message.find("127.0.0.1:9700"), std::string::npos);
    EXPECT_EQ(address.error().message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(ParseAddress("unix:/" + std::string(200, 'x')));
}

TEST(Address, CountsNeighboursInIpv6AsOnePeer) {
  EXPECT_EQ(PeerKey(*ParseAddress("[2001:db8::1]:1")), PeerKey(*ParseAddress("[2001:db8::2]:9")));
  EXPECT_NE(PeerKey(*ParseAddress("[2001:db8::1]:1")),
            PeerKey(*ParseAddress("[2001:db8:0:1::1]:1")));
  EXPECT_EQ(PeerKey(*ParseAddress("[::ffff:10.0.0.1]:1")), PeerKey(*ParseAddress("10.0.0.1:2")));
  EXPECT_NE(PeerKey(*ParseAddress("10.0.0.2:1")), PeerKey(*ParseAddress("10.0.0.1:1")));
}

}  // namespace
}  // namespace heapgauge::endpoint
