#include "core/formats/text/line_reader.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

// Hands out a byte at a time, as a slow pipe does.
class Dripping final : public ByteStream {
 public:
  explicit Dripping(std::string_view bytes) : rest_(bytes) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    if (rest_.empty() || size == 0) return size_t{0};
    buffer[0] = rest_[0];
    rest_.remove_prefix(1);
    return size_t{1};
  }

 private:
  std::string_view rest_;
};

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  Dripping stream("one\r\n\ntwo\nlast");
  LineReader lines(&stream, "format", "name");
  std::vector<std::string> all;
  while (lines.Next().value()) all.emplace_back(lines.line());
  EXPECT_EQ(all, (std::vector<std::string>{"one", "", "two", "last"}));
  EXPECT_EQ(lines.number(), 4u);
  EXPECT_FALSE(lines.Next().value());
}

TEST(LineReader, GivesALineThatWasPutBackAgain) {
  const auto stream = StreamOf("one\ntwo\n");
  LineReader lines(stream.get(), "format", "name");
  ASSERT_TRUE(lines.Next().value());
  lines.PutBack();
  ASSERT_TRUE(lines.Next().value());
  EXPECT_EQ(lines.line(), "one");
  EXPECT_EQ(lines.number(), 1u);
  ASSERT_TRUE(lines.Next().value());
  EXPECT_EQ(lines.line(), "two");
}

TEST(LineReader, HandsOutTheBytesBehindALine) {
  const auto stream = StreamOf(std::string_view("text\n\0\1\2\n", 9));
  LineReader lines(stream.get(), "format", "name");
  ASSERT_TRUE(lines.Next().value());
  char bytes[8];
  EXPECT_EQ(lines.Read(bytes, 2).value(), 2u);
  EXPECT_EQ(bytes[1], 1);
  EXPECT_EQ(lines.Read(bytes, 8).value(), 2u);
  EXPECT_EQ(lines.Read(bytes, 8).value(), 0u);
}

TEST(LineReader, RefusesALineWithoutEnd) {
  const std::string endless(LineReader::kMaxLine + (1 << 20), 'x');
  const auto stream = StreamOf(endless);
  LineReader lines(stream.get(), "format", "name");
  const auto next = lines.Next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().message.substr(0, 27), "format: name: line 1: longe");
}

TEST(LineReader, TakesALongLine) {
  const std::string text = std::string(3 << 20, 'x') + "\nshort\n";
  const auto stream = StreamOf(text);
  LineReader lines(stream.get(), "format", "name");
  ASSERT_TRUE(lines.Next().value());
  EXPECT_EQ(lines.line().size(), size_t{3} << 20);
  ASSERT_TRUE(lines.Next().value());
  EXPECT_EQ(lines.line(), "short");
}

TEST(LineReader, QuotesTheLineInErrors) {
  const auto stream = StreamOf("good\nbad\x01line\n");
  LineReader lines(stream.get(), "format", "name");
  ASSERT_TRUE(lines.Next().value());
  ASSERT_TRUE(lines.Next().value());
  const std::string message = lines.FailInLine("what").value().message;
  EXPECT_TRUE(message.starts_with("format: name: line 2: what: \"bad")) << message;
  EXPECT_EQ(message.find('\x01'), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
