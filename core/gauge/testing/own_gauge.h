// Makes the process of a test look as if the agent were in it: for as long as this lives, it maps a
// gauge file, whose name is gone already. Without one, files that say they are of this process seem
// to be of the program that it was before an exec.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace heapgauge::testing {

class ScratchGauge {
 public:
  ScratchGauge() {
    std::string path = ::testing::TempDir() + "own.XXXXXX.hg";
    const int file = mkstemps(path.data(), 3);
    memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    unlink(path.c_str());
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~ScratchGauge() { munmap(memory_, kBytes); }
  ScratchGauge(const ScratchGauge&) = delete;
  ScratchGauge& operator=(const ScratchGauge&) = delete;

 private:
  static constexpr size_t kBytes = 4096;  // never touched

  void* memory_;
};

}  // namespace heapgauge::testing
