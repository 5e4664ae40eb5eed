// Compresses what is written with zstd and passes it on to another sink, piece by piece.
//
// Owned by one thread. The other sink must outlive this.
#pragma once

#include <memory>
#include <string_view>

#include "core/base/text_sink.h"

namespace heapgauge {

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
