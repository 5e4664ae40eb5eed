// Shows text on the terminal: as it is if it fits on the screen, otherwise through $PAGER (less
// -R).
//
// The text is kept only until it is known to be too long. Single-threaded.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/text_sink.h"

namespace heapgauge::cli {

class PagerSink final : public TextSink {
 public:
  PagerSink() = default;
  PagerSink(const PagerSink&) = delete;
  PagerSink& operator=(const PagerSink&) = delete;
  ~PagerSink() override { Finish(); }

  // Fails when the pager was left: no more is wanted.
  Status Write(std::string_view text) override;
  // Shows what is left and waits until the user has seen it.
  void Finish();
  bool closed() const { return closed_; }

 private:
  std::string pending_;
  size_t lines_ = 0;
  FILE* pager_ = nullptr;
  bool closed_ = false;
};

}  // namespace heapgauge::cli
