#include "core/base/byte_stream.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdio>
#include <fstream>

#include "core/base/sinks.h"

namespace heapgauge {
namespace {

std::string Gzip(const std::string& text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

Result<std::string> ReadAll(ByteStream* stream, size_t piece = 1000) {
  std::string all;
  std::string buffer(piece, '\0');
  for (;;) {
    HG_ASSIGN(const size_t n, stream->Read(buffer.data(), buffer.size()));
    if (n == 0) return all;
    all.append(buffer, 0, n);
  }
}

Result<std::string> Unpack(const std::string& packed, uint64_t limit = kDecompressLimit) {
  HG_ASSIGN(auto stream, Decompressed(StreamOf(packed), "x.gz", limit));
  return ReadAll(stream.get());
}

std::string Numbers(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += std::to_string(i * 2654435761u) + "\n";
  return text;
}

TEST(ByteStream, GivesWhatIsNotCompressedAsItIs) {
  EXPECT_EQ(Unpack("plain text").value(), "plain text");
  EXPECT_EQ(Unpack("").value(), "");
  EXPECT_EQ(Unpack("\x1f").value(), "\x1f");
}

TEST(ByteStream, UnpacksGzipWithAnyNumberOfMembers) {
  const std::string text = Numbers(50000);
  EXPECT_EQ(Unpack(Gzip(text)).value(), text);
  EXPECT_EQ(Unpack(Gzip("a") + Gzip("") + Gzip(text) + Gzip("b")).value(), "a" + text + "b");
  EXPECT_EQ(Unpack(Gzip("a") + std::string(100000, '\0')).value(), "a") << "zeros fill up blocks";
}

TEST(ByteStream, UnpacksZstdWithAnyNumberOfFrames) {
  const std::string text = Numbers(50000);
  EXPECT_EQ(Unpack(Zstd(text)).value(), text);
  EXPECT_EQ(Unpack(Zstd(text) + Zstd("") + Zstd("b")).value(), text + "b");
}

TEST(ByteStream, CutDataIsAnErrorWithItsPlace) {
  for (const std::string& packed : {Gzip(Numbers(50)), Zstd(Numbers(50))}) {
    for (size_t size = 4; size < packed.size(); ++size) {
      const auto text = Unpack(packed.substr(0, size));
      ASSERT_FALSE(text) << size;
      EXPECT_EQ(text.error().message.find("x.gz: byte " + std::to_string(size) +
                                          " of the compressed data: it ends in the middle"),
                0u)
          << text.error().message;
      EXPECT_EQ(text.error().offset, size);
    }
  }
}

TEST(ByteStream, DamagedDataIsAnError) {
  std::string packed = Gzip(Numbers(50000));
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
  EXPECT_FALSE(Unpack(packed));
  EXPECT_NE(Unpack(Gzip("a") + "garbage").error().message.find("damaged gzip data"),
            std::string::npos);
  EXPECT_NE(Unpack(Gzip("a") + std::string("\0x", 2)).error().message.find("something follows"),
            std::string::npos);
  EXPECT_FALSE(Unpack(Zstd("a") + "garbage"));
}

TEST(ByteStream, ABombIsStoppedAtTheLimit) {
  const std::string zeros(3 << 20, '\0');
  for (const std::string& packed : {Gzip(zeros), Zstd(zeros)}) {
    const auto text = Unpack(packed, 1 << 20);
    ASSERT_FALSE(text);
    EXPECT_NE(text.error().message.find("more than 1.0 MB come out"), std::string::npos)
        << text.error().message;
    EXPECT_TRUE(Unpack(packed, 3 << 20)) << "the limit itself is fine";
  }
}

TEST(ByteStream, OpensFilesAndRefusesDirectories) {
  const std::string path = ::testing::TempDir() + "/byte_stream_" + std::to_string(getpid());
  std::ofstream(path) << "in a file";
  auto stream = OpenStream(path);
  ASSERT_TRUE(stream);
  EXPECT_EQ(ReadAll(stream->get(), 4).value(), "in a file");
  std::remove(path.c_str());
  EXPECT_EQ(OpenStream(path).error().code, ErrorCode::kNotFound);
  const auto directory = OpenStream(::testing::TempDir());
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().message.find("is a directory"), std::string::npos);
}

TEST(PeekingStream, WhatWasLookedAtIsStillRead) {
  PeekingStream stream(StreamOf("0123456789"));
  EXPECT_EQ(stream.Peek(4).value(), "0123");
  EXPECT_EQ(stream.Peek(2).value(), "01");
  char two[2];
  EXPECT_EQ(stream.Read(two, 2).value(), 2u);
  EXPECT_EQ(stream.Peek(100).value(), "23456789");
  EXPECT_EQ(ReadAll(&stream, 3).value(), "23456789");
  EXPECT_EQ(stream.Peek(1).value(), "");
}

TEST(ReadAhead, GivesTheSameBytesAndErrors) {
  for (const size_t count : {size_t{0}, size_t{10}, size_t{30000}, size_t{400000}}) {
    const std::string text = Numbers(count);
    EXPECT_EQ(ReadAll(ReadAhead(StreamOf(text)).get(), 77777).value(), text);
  }
  const std::string packed = Gzip(Numbers(400000));
  auto cut = Decompressed(StreamOf(std::string_view(packed).substr(0, packed.size() - 1)), "x.gz");
  auto ahead = ReadAhead(std::move(*cut));
  EXPECT_FALSE(ReadAll(ahead.get(), 100000));
  char byte = 0;
  EXPECT_FALSE(ahead->Read(&byte, 1)) << "an error stays";
}

TEST(ReadAhead, MayBeLeftInTheMiddle) {
  const std::string text = Numbers(400000);
  auto ahead = ReadAhead(StreamOf(text));
  std::string buffer(600 << 10, '\0');
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ahead->Read(buffer.data(), buffer.size()));
}

TEST(DescriptorSink, WritesEverythingInOrder) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  DescriptorSink sink(ends[1], "a pipe");
  EXPECT_TRUE(sink.Write("one "));
  EXPECT_TRUE(sink.Write("two"));
  EXPECT_TRUE(sink.Finish());
  char buffer[16];
  EXPECT_EQ(read(ends[0], buffer, sizeof buffer), 7);
  EXPECT_EQ(std::string(buffer, 7), "one two");
  close(ends[0]);
  close(ends[1]);
}

TEST(DescriptorSink, AReaderThatGoesAwayStopsTheWriterWithoutAnError) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  DescriptorSink sink(ends[1], "a pipe");
  EXPECT_FALSE(sink.Write(std::string(100000, 'x')));
  EXPECT_TRUE(sink.closed());
  EXPECT_FALSE(sink.Write("y"));
  EXPECT_TRUE(sink.Finish());
  close(ends[1]);
  DescriptorSink bad(-1, "nothing");
  EXPECT_TRUE(bad.Write("small"));
  EXPECT_FALSE(bad.Finish());
}

}  // namespace
}  // namespace heapgauge
