// The statistics of glibc's own malloc: mallinfo2 and malloc_info.
//
// They are taken from libc itself, since other allocators define functions of these names. Where
// another allocator serves the program glibc's heap stays empty, and there is no such engine.
// Threads: one at a time; glibc locks its arenas one after another meanwhile.
#pragma once

#include <malloc.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/engines/statistics_engine.h"

namespace heapgauge::engines {

class GlibcEngine final : public StatisticsEngine {
 public:
  static std::unique_ptr<endpoint::Engine> Make();

  std::string_view name() const override { return "glibc"; }
  Result<std::string> Statistics(const std::string& options) override;
  std::vector<std::pair<std::string, uint64_t>> Figures() override;

 protected:
  std::string why_not() const override;
  std::string version() const override;

 private:
  using Figures2 = struct mallinfo2();
  using Print = int(int, FILE*);

  GlibcEngine(Figures2* figures, Print* print) : figures_(figures), print_(print) {}

  Figures2* figures_;
  Print* print_;  // may be null
};

}  // namespace heapgauge::engines
