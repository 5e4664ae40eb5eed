#include "core/leaks/capture/remote_call.h"

#include <gtest/gtest.h>

namespace heapgauge::leaks {
namespace {

std::string StatusWith(const char* mode, const char* filters) {
  return std::string("Name:\tx\nSeccomp:\t") + mode + "\nSeccomp_filters:\t" + filters +
         "\nThreads:\t1\n";
}

TEST(InheritedFiltersTest, AreThoseThatAllHave) {
  const std::string one = StatusWith("2", "1");
  EXPECT_TRUE(HasOnlyInheritedFilters(one, one, one));
}

TEST(InheritedFiltersTest, OneMoreIsTheProgramsOwn) {
  const std::string one = StatusWith("2", "1");
  const std::string two = StatusWith("2", "2");
  EXPECT_FALSE(HasOnlyInheritedFilters(two, one, one));
  EXPECT_FALSE(HasOnlyInheritedFilters(two, one, two)) << "the program is process 1";
}

TEST(InheritedFiltersTest, AsManyAsOursMayBeOthers) {
  const std::string none = StatusWith("0", "0");
  const std::string one = StatusWith("2", "1");
  EXPECT_FALSE(HasOnlyInheritedFilters(one, one, none));
  EXPECT_FALSE(HasOnlyInheritedFilters(one, none, one));
}

TEST(InheritedFiltersTest, AnOldKernelDoesNotTell) {
  const std::string some = "Name:\tx\nSeccomp:\t2\nThreads:\t1\n";
  EXPECT_FALSE(HasOnlyInheritedFilters(some, some, some));
  const std::string strict = StatusWith("1", "0");
  EXPECT_FALSE(HasOnlyInheritedFilters(strict, strict, strict));
}

}  // namespace
}  // namespace heapgauge::leaks
