#include "core/leaks/capture/agent_copy.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

namespace heapgauge::leaks {
namespace {

TEST(ServedMemory, LeavesNoPipesBehind) {
  std::string directory = (std::filesystem::temp_directory_path() / "served.XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/image";
  {
    const auto image = ServedMemoryImage::Open(path, geteuid());
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_TRUE(std::filesystem::exists(path + ".say"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  // They can be made, and not opened.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto image = ServedMemoryImage::Open(path, geteuid());
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message.find("Too many open files"), std::string::npos)
      << image.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace heapgauge::leaks
