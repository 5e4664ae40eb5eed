#include "compat/jemalloc/control_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heapgauge::compat {
namespace {

const ControlTable& Table() {
  static const ControlTable table({"version", "prof.active", "arena.*.purge"});
  return table;
}

TEST(ControlTable, FindsNames) {
  EXPECT_EQ(Table().Find("version"), 0u);
  EXPECT_EQ(Table().Find("prof.active"), 1u);
  EXPECT_EQ(Table().Find("arena.4096.purge"), 2u);
}

TEST(ControlTable, RefusesWhatIsNoName) {
  for (const char* name : {"", "prof", "prof.", ".prof", "prof.active.", "arena.x.purge",
                           "arena..purge", "arena.-1.purge", "arena.*.purge", "versions"}) {
    EXPECT_EQ(Table().Find(name), std::nullopt) << name;
  }
  EXPECT_EQ(Table().Find(std::string(100000, '.')), std::nullopt);
}

TEST(ControlTable, MibsHaveAWordForEachPart) {
  const auto mib = Table().MibOf("arena.7.purge");
  ASSERT_TRUE(mib);
  ASSERT_EQ(mib->size(), 3u);
  EXPECT_EQ((*mib)[1], 7u);
  EXPECT_EQ(Table().FindMib(mib->data(), 3), 2u);
  EXPECT_EQ(Table().FindMib(mib->data(), 2), std::nullopt);
}

TEST(ControlTable, RefusesForeignMibs) {
  const size_t zero[] = {0, 0};
  const size_t large[] = {100, 0};
  EXPECT_EQ(Table().FindMib(zero, 2), std::nullopt);
  EXPECT_EQ(Table().FindMib(large, 2), std::nullopt);
  EXPECT_EQ(Table().FindMib(large, 0), std::nullopt);
}

}  // namespace
}  // namespace heapgauge::compat
