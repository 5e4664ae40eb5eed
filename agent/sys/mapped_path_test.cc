#include "agent/sys/mapped_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace heapgauge::agent {
namespace {

constexpr char kMaps[] =
    "5570a000-5570b000 r--p 00000000 08:01 1311    /usr/bin/a program\n"
    "7f000000-7f001000 rw-p 00000000 00:00 0 \n"
    "7f001000-7f002000 r-xp 00001000 08:01 77                   /opt/p/plug in.so\n"
    "7f002000-7f003000 r-xp 00001000 08:01 78                   /opt/p/gone.so (deleted)\n"
    "7ffd0000-7ffe0000 rw-p 00000000 00:00 0                    [stack]\n";

// In pieces of so many bytes. "-" if there is none.
std::string Find(uintptr_t address, size_t piece, size_t room = 256) {
  char path[256];
  MapsSearch search(address, path, room);
  const std::string maps = kMaps;
  for (size_t at = 0; at < maps.size(); at += piece) {
    const std::string part = maps.substr(at, piece);
    const MapsSearch::Outcome outcome = search.Read(part.data(), part.size());
    if (outcome == MapsSearch::Outcome::kFound) return path;
    if (outcome == MapsSearch::Outcome::kNone) return "-";
  }
  return "-";
}

TEST(MappedPath, IsThatOfTheLineWithTheAddress) {
  for (const size_t piece : {1, 7, 64, 4096}) {
    EXPECT_EQ(Find(0x5570a000, piece), "/usr/bin/a program");
    EXPECT_EQ(Find(0x7f001000, piece), "/opt/p/plug in.so");
    EXPECT_EQ(Find(0x7f001fff, piece), "/opt/p/plug in.so");
    EXPECT_EQ(Find(0x7f002000, piece), "/opt/p/gone.so") << "as it was";
  }
}

TEST(MappedPath, IsNoneOfMemoryWithoutAFile) {
  for (const size_t piece : {1, 4096}) {
    EXPECT_EQ(Find(0x7f000000, piece), "-");
    EXPECT_EQ(Find(0x7ffd0000, piece), "-");
    EXPECT_EQ(Find(0x1000, piece), "-");
    EXPECT_EQ(Find(0x7f003000, piece), "-");
  }
}

TEST(MappedPath, IsNoneWithoutRoomForIt) {
  EXPECT_EQ(Find(0x5570a000, 4096, sizeof "/usr/bin/a program"), "/usr/bin/a program");
  EXPECT_EQ(Find(0x5570a000, 4096, sizeof "/usr/bin/a program" - 1), "-");
}

TEST(MappedPath, OfThisProgramIsItsFile) {
  char path[1024];
  ASSERT_TRUE(MappedPath(reinterpret_cast<uintptr_t>(&kMaps), path, sizeof path));
  EXPECT_EQ(path, std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_FALSE(MappedPath(8, path, sizeof path));
}

}  // namespace
}  // namespace heapgauge::agent
