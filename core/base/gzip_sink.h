// Compresses what is written and passes it on to another sink, piece by piece.
//
// Owned by one thread. The other sink must outlive this.
#pragma once

#include <memory>
#include <string_view>

#include "core/base/text_sink.h"

namespace heapgauge {

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

}  // namespace heapgauge
