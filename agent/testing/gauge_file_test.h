// A gauge file for tests of what is kept in one, in a directory of its own that goes with it. Not
// for use outside of tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

class GaugeFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "heapgauge-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    ASSERT_EQ(file_->Create(Path("t.hg").c_str()), 0);
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  std::unique_ptr<GaugeFile> file_ = std::make_unique<GaugeFile>();

 private:
  std::string directory_;
};

}  // namespace heapgauge::agent
