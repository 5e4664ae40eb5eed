#include "endpoint/http/answer.h"

#include <gtest/gtest.h>

namespace heapgauge::endpoint {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Answer, HasOneLengthWhateverTheHandlerSays) {
  Response response = PlainText(200, "four");
  response.headers.emplace_back("content-length", "9");
  response.headers.emplace_back("Transfer-Encoding", "chunked");
  const Answer answer = MakeAnswer(response, {});
  EXPECT_TRUE(Has(answer.head, "HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(Has(answer.head, "\r\nContent-Length: 4\r\n"));
  EXPECT_FALSE(Has(answer.head, "content-length"));
  EXPECT_FALSE(Has(answer.head, "chunked"));
  EXPECT_EQ(answer.body, "four");
}

TEST(Answer, HasNoLengthWhereThereIsNoBody) {
  const Answer answer = MakeAnswer(PlainText(204, "x"), {.keep_alive = true});
  EXPECT_FALSE(Has(answer.head, "Content-Length"));
  EXPECT_EQ(answer.body, "");
}

TEST(Answer, ToHeadHasTheLengthOfTheBodyIfThereWasOne) {
  const Answer answer = MakeAnswer(PlainText(200, "four"), {.is_head = true});
  EXPECT_TRUE(Has(answer.head, "Content-Length: 4\r\n"));
  EXPECT_EQ(answer.body, "");
  EXPECT_FALSE(Has(MakeAnswer(PlainText(200, ""), {.is_head = true}).head, "Content-Length"));
  EXPECT_TRUE(Has(MakeAnswer(PlainText(200, ""), {}).head, "Content-Length: 0\r\n"));
}

TEST(Answer, CannotBeSplit) {
  Response response;
  response.headers = {{"A", "b\r\nEvil: c\n\n"}, {"Evil: d\r\nX", "e"}, {"", "f"}};
  const std::string head = MakeAnswer(response, {}).head;
  EXPECT_FALSE(Has(head, "\nEvil"));
  EXPECT_EQ(head.find("\r\n\r\n"), head.size() - 4);
}

TEST(Answer, TakesNoStatusThatIsNone) {
  EXPECT_TRUE(Has(MakeAnswer(PlainText(7, ""), {}).head, "HTTP/1.1 500 "));
  EXPECT_TRUE(Has(MakeAnswer(PlainText(100, ""), {}).head, "HTTP/1.1 500 "));
}

TEST(Answer, CompressesTextsOfSomeSizeOnly) {
  const std::string text(5000, 'x');
  const auto size = [](Response response) {
    return MakeAnswer(std::move(response), {.gzip = true}).body.size();
  };
  EXPECT_LT(size(PlainText(200, text)), 100U);
  EXPECT_EQ(size(PlainText(200, "short")), 5U);
  EXPECT_EQ(size({200, {{"Content-Type", "application/octet-stream"}}, text}), text.size());
  EXPECT_EQ(size({200, {{"Content-Type", "text/plain"}, {"Content-Encoding", "br"}}, text}),
            text.size());
  EXPECT_EQ(MakeAnswer(PlainText(200, text), {}).body.size(), text.size());
}

TEST(Answer, KnowsWhoTakesGzip) {
  for (const char* yes : {"gzip", "deflate, gzip", "GZIP;q=0.5", "gzip; q=1", "br, gzip;q=0.01"}) {
    EXPECT_TRUE(TakesGzip(yes)) << yes;
  }
  for (const char* no : {"", "identity", "gzip;q=0", "gzip; q=0.000", "xgzip", "br"}) {
    EXPECT_FALSE(TakesGzip(no)) << no;
  }
}

}  // namespace
}  // namespace heapgauge::endpoint
