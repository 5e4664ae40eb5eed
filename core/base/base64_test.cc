#include "core/base/encode.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(Base64, WritesWhatTheStandardSays) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64(std::string_view("\0\xff\xfe", 3)), "AP/+");
}

}  // namespace
}  // namespace heapgauge
