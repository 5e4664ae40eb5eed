#include "core/source/source_files.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(SourceName, IsThatOfCodeInManyLanguages) {
  for (const char* path :
       {"/src/server.cc", "x.c", "a/b.hpp", "/usr/include/c++/12/bits/stl_vector.h", "lib.rs",
        "main.go", "entry.S", "x.C", "parse.y", "vector.tcc", "/home/me/.cargo/registry/x/lib.rs",
        "table.inc", "kernel.cu", "solver.f90", "two.words.cpp"}) {
    EXPECT_TRUE(IsSourceName(path)) << path;
  }
}

TEST(SourceName, IsThatOfAHeaderWithoutAnEnd) {
  for (const char* path : {"/usr/include/c++/12/vector", "/opt/qt/include/QtCore/QString",
                           "include/memory", "/usr/include/x86_64-linux-gnu/qt5/QtGui/QImage"}) {
    EXPECT_TRUE(IsSourceName(path)) << path;
  }
}

TEST(SourceName, IsNoneOfWhatOthersKeepToThemselves) {
  for (const char* path : {"/etc/shadow",
                           "/etc/passwd",
                           "/root/.ssh/id_rsa",
                           "/home/me/.bash_history",
                           ".c",
                           "/x/.h",
                           "/proc/self/environ",
                           "/var/log/syslog.1",
                           "key.pem",
                           "config.json",
                           "notes.txt",
                           ".env",
                           "/etc/ssl/private/server.key",
                           "secrets.yaml",
                           "db.sqlite",
                           "",
                           "/",
                           "/usr/include",
                           "/include",
                           "/etc/included/shadow",
                           "x."}) {
    EXPECT_FALSE(IsSourceName(path)) << path;
  }
}

}  // namespace
}  // namespace heapgauge
