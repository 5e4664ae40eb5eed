#include "endpoint/http/request_parser.h"

#include <gtest/gtest.h>

namespace heapgauge::endpoint {
namespace {

using State = HeadParser::State;

// The status of a head that must be wrong; 0 if it was taken, -1 if more was wanted.
int StatusOfHead(const std::string& text) {
  HeadParser parser(16 << 10);
  switch (parser.Parse(text)) {
    case State::kDone:
      return 0;
    case State::kMore:
      return -1;
    case State::kBad:
      break;
  }
  return parser.status();
}

int StatusOfField(const std::string& fields) {
  return StatusOfHead("POST / HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n\r\n");
}

TEST(HeadParser, TakesAPlainRequest) {
  const std::string text =
      "GET /a/b?x=1&y=%20 HTTP/1.1\r\nHost: h\r\nX-A:  v w\t \r\nEmpty:\r\n\r\nrest";
  HeadParser parser(1000);
  ASSERT_EQ(parser.Parse(text), State::kDone);
  EXPECT_EQ(parser.size(), text.size() - 4);
  const RequestHead& head = parser.head();
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.path, "/a/b");
  EXPECT_EQ(head.query, "x=1&y=%20");
  EXPECT_EQ(head.minor, 1);
  ASSERT_EQ(head.headers.size(), 3U);
  EXPECT_EQ(head.headers[1].second, "v w");
  EXPECT_EQ(head.headers[2].second, "");
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.has_body());
}

TEST(HeadParser, ComesToTheSameByteByByte) {
  const std::string text = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\n";
  HeadParser parser(1000);
  for (size_t i = 0; i < text.size(); ++i) {
    ASSERT_EQ(parser.Parse(text.substr(0, i)), State::kMore) << i;
  }
  ASSERT_EQ(parser.Parse(text), State::kDone);
  EXPECT_EQ(parser.head().content_length, 12U);
}

TEST(HeadParser, KnowsWhetherTheConnectionStays) {
  const auto stays = [](const std::string& text) {
    HeadParser parser(1000);
    EXPECT_EQ(parser.Parse(text), State::kDone);
    return parser.head().keep_alive;
  };
  EXPECT_TRUE(stays("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade, Close\r\n\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(stays("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
}

TEST(HeadParser, TakesTargetsWithAHost) {
  HeadParser parser(1000);
  ASSERT_EQ(parser.Parse("GET http://h:1?q HTTP/1.1\r\nHost: h:1\r\n\r\n"), State::kDone);
  EXPECT_EQ(parser.head().authority, "h:1");
  EXPECT_EQ(parser.head().path, "/");
  EXPECT_EQ(parser.head().query, "q");
  EXPECT_EQ(StatusOfHead("GET http:///x HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(StatusOfHead("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
  EXPECT_EQ(StatusOfHead("GET * HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
  EXPECT_EQ(StatusOfHead("CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
}

TEST(HeadParser, SkipsEmptyLinesBeforeTheRequest) {
  EXPECT_EQ(StatusOfHead("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
}

TEST(HeadParser, RefusesMalformedRequestLinesAtOnce) {
  for (const char* line :
       {"GET /", "GET  HTTP/1.1", "GET", " GET / HTTP/1.1", "GET / HTTP/1.1 ", "GET / http/1.1",
        "GET / HTTP/1.", "GET / HTTP/11", "G@T / HTTP/1.1", "GET /a b HTTP/1.1",
        "GET /\x01 HTTP/1.1", "GET /\xc3\xa4 HTTP/1.1", "GET /#x HTTP/1.1", "GET x HTTP/1.1",
        "GET ../x HTTP/1.1", "GET https://h/ HTTP/1.1"}) {
    EXPECT_EQ(StatusOfHead(std::string(line) + "\r\n"), 400) << line;
  }
  EXPECT_EQ(StatusOfHead(std::string("GET /\0 HTTP/1.1\r\n", 18)), 400);
  EXPECT_EQ(StatusOfHead(std::string(33, 'G') + " / HTTP/1.1\r\n"), 400);
  EXPECT_EQ(StatusOfHead("PRI * HTTP/2.0\r\n"), 505);
  EXPECT_EQ(StatusOfHead("GET / HTTP/0.9\r\n"), 505);
  EXPECT_EQ(StatusOfHead("\x16\x03\x01"), 400);
}

TEST(HeadParser, RefusesLinesThatDoNotEndInCrLf) {
  EXPECT_EQ(StatusOfHead("GET / HTTP/1.1\n"), 400);
  EXPECT_EQ(StatusOfHead("\n"), 400);
  EXPECT_EQ(StatusOfField("A: b\nC: d"), 400);
  EXPECT_EQ(StatusOfField("A: b\rC: d"), 400);
}

TEST(HeadParser, RefusesMalformedFields) {
  for (const char* field : {"A", ": b", "A : b", "A b: c", " A: b", "\tA: b", "A: \x01", "A: \x7f",
                            "\xc3\xa4: b", "Host: other"}) {
    EXPECT_EQ(StatusOfField(field), 400) << field;
  }
  EXPECT_EQ(StatusOfField("A: b\r\n folded"), 400);
  EXPECT_EQ(StatusOfField("A: \xc3\xa4"), 0);
  EXPECT_EQ(StatusOfField(std::string("A: \0", 4)), 400);
  EXPECT_EQ(StatusOfHead("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
}

TEST(HeadParser, RefusesWhatTwoReadersCouldReadDifferently) {
  for (const char* field :
       {"Content-Length: 1\r\nContent-Length: 1", "Content-Length: 1\r\nContent-Length: 2",
        "Content-Length: 1, 1", "Content-Length: +1", "Content-Length: -1", "Content-Length: 0x1",
        "Content-Length: 1 1", "Content-Length:", "Content-Length: 1234567890123456789",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"}) {
    EXPECT_EQ(StatusOfField(field), 400) << field;
  }
  for (const char* field :
       {"Transfer-Encoding: gzip", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding:", "Transfer-Encoding: xchunked", "Transfer-Encoding: \"chunked\""}) {
    EXPECT_EQ(StatusOfField(field), 501) << field;
  }
  EXPECT_EQ(StatusOfHead("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(StatusOfField("Transfer-Encoding: Chunked"), 0);
  EXPECT_EQ(StatusOfField("Expect: 200-ok"), 417);
}

TEST(HeadParser, BoundsLinesFieldsAndTheWhole) {
  HeadParser line(100);
  EXPECT_EQ(line.Parse("GET /" + std::string(100, 'a')), State::kBad);
  EXPECT_EQ(line.status(), 414);
  HeadParser field(100);
  EXPECT_EQ(field.Parse("GET / HTTP/1.1\r\nA: " + std::string(100, 'a')), State::kBad);
  EXPECT_EQ(field.status(), 431);
  HeadParser empty(100);
  std::string lines;
  for (int i = 0; i < 60; ++i) lines += "\r\n";
  EXPECT_EQ(empty.Parse(lines), State::kBad);
  std::string many;
  for (int i = 0; i < 98; ++i) many += "A: b\r\n";
  EXPECT_EQ(StatusOfField(many + "A: b"), 0);
  EXPECT_EQ(StatusOfField(many + "A: b\r\nA: b"), 431);
}

}  // namespace
}  // namespace heapgauge::endpoint
