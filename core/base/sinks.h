// Sinks: where texts and bytes go piece by piece (memory, a descriptor, a file, compressed into
// another sink), and who hears how far work is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/file.h"
#include "core/base/result.h"

namespace heapgauge {

// Where reports go. They are written piece by piece, so that one of gigabytes does not have to be
// in memory.
//
// A sink is owned by one thread at a time.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual Status Write(std::string_view text) = 0;
};

class StringSink final : public TextSink {
 public:
  Status Write(std::string_view text) override {
    text_ += text;
    return {};
  }
  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// How long work says how far it is. Readers and the symbolizer call it; who listens decides whether
// and how often anything is shown, so calls may be frequent.
//
// Report() may be called from one thread at a time.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // "reading names of libLLVM-14.so.1", 12000, 37000, "addresses". A total of 0 is not known.
  virtual void Report(std::string_view what, uint64_t done, uint64_t total,
                      std::string_view unit) = 0;
};

// A sink that writes to an open descriptor, such as standard output, in pieces of good size.
//
// A reader that goes away (| head) is not an error: closed() becomes true, Write() fails from then
// on so that whoever makes the text can stop, and Finish() is content. SIGPIPE is ignored only
// while a piece is written: programs that are started must find the signal as it was.
//
// Owned by one thread. The descriptor is not closed.
class DescriptorSink final : public TextSink {
 public:
  // `name` is for messages: "standard output", "'heap.txt'".
  DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  DescriptorSink(const DescriptorSink&) = delete;
  DescriptorSink& operator=(const DescriptorSink&) = delete;

  Status Write(std::string_view text) override;
  // Writes what is left. Must be called, whatever Write() said: it tells whether all went well.
  Status Finish();
  bool closed() const { return closed_; }

 private:
  Status Flush(std::string_view text);

  int fd_;
  std::string name_;
  std::string pending_;
  bool closed_ = false;
  Status failed_;
};

// A sink that makes a file which appears whole or not at all (file.h).
//
// Owned by one thread.
class FileSink final : public TextSink {
 public:
  static Result<std::unique_ptr<FileSink>> Create(const std::string& path);
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  Status Write(std::string_view text) override { return sink_.Write(text); }
  // Puts the file into its place. Without it nothing remains.
  Status Finish();

 private:
  explicit FileSink(PlacedFile file);

  PlacedFile file_;
  DescriptorSink sink_;
};

// Compresses what is written and passes it on to another sink, piece by piece.
//
// Owned by one thread. The other sink must outlive this.
class GzipSink final : public TextSink {
 public:
  explicit GzipSink(TextSink* out);
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override;

  Status Write(std::string_view bytes) override;
  // Ends the compressed data. Nothing may be written after this.
  Status Finish();

 private:
  struct State;
  Status Deflate(std::string_view bytes, int flush);

  TextSink* out_;
  std::unique_ptr<State> state_;
};

// Compresses what is written with zstd and passes it on to another sink, piece by piece.
//
// Owned by one thread. The other sink must outlive this.
class ZstdSink final : public TextSink {
 public:
  explicit ZstdSink(TextSink* out);
  ZstdSink(const ZstdSink&) = delete;
  ZstdSink& operator=(const ZstdSink&) = delete;
  ~ZstdSink() override;

  Status Write(std::string_view bytes) override;
  // Ends the compressed data. Nothing may be written after this.
  Status Finish();

 private:
  struct State;
  Status Compress(std::string_view bytes, bool end);

  TextSink* out_;
  std::unique_ptr<State> state_;
};

}  // namespace heapgauge
