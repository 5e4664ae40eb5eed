#include "core/symbolize/module_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heapgauge {
namespace {

class DebianPackage : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    Write("libshop2:amd64.list",
          "/.\n/usr\n/usr/lib\n/usr/lib/libshop.so.2.1\n/usr/lib/libshop.so.2\n");
    Write("libc6:amd64.list", "/.\n/lib\n/lib/x86_64-linux-gnu/libc.so.6\n");
    Write("shop.list", "/.\n/usr/bin\n/usr/bin/shop");
    Write("shop.md5sums", "/usr/bin/other\n");
    Write("bad name;.list", "/.\n/usr/bin/odd\n");
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
  }
  std::string Of(const std::string& path) { return DebugPackagesOf({path}, dir_)[0]; }
  std::string dir_;
};

TEST_F(DebianPackage, IsNamedAfterTheOneThatOwnsTheFile) {
  EXPECT_EQ(Of("/usr/lib/libshop.so.2"), "libshop2-dbgsym");
  EXPECT_EQ(Of("/usr/lib/libshop.so.2.1"), "libshop2-dbgsym");
  EXPECT_EQ(Of("/usr/bin/shop"), "shop-dbgsym") << "the last line may have no end";
  const auto both = DebugPackagesOf({"/usr/bin/shop", "/nowhere", "/usr/lib/libshop.so.2"}, dir_);
  EXPECT_EQ(both, (std::vector<std::string>{"shop-dbgsym", "", "libshop2-dbgsym"}));
}

TEST_F(DebianPackage, OfGlibcHasANameOfItsOwn) {
  EXPECT_EQ(Of("/lib/x86_64-linux-gnu/libc.so.6"), "libc6-dbg");
  EXPECT_EQ(Of("/usr/lib/x86_64-linux-gnu/libc.so.6"), "libc6-dbg") << "/lib is a link";
}

TEST_F(DebianPackage, IsUnknownForFilesOfNoPackage) {
  EXPECT_EQ(Of("/usr/lib/libshop.so"), "");
  EXPECT_EQ(Of("/lib/libshop.so.2.1.0"), "");
  EXPECT_EQ(Of("/usr/bin/other"), "");
  EXPECT_EQ(Of("/usr/bin/odd"), "") << "nothing that is no package name is repeated";
  EXPECT_EQ(Of(""), "");
  EXPECT_EQ(Of("[vdso]"), "");
  EXPECT_EQ(DebugPackagesOf({"/usr/bin/shop"}, dir_ + "/missing")[0], "");
}

}  // namespace
}  // namespace heapgauge
