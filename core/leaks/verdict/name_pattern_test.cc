#include "core/leaks/verdict/valgrind_names.h"

#include <gtest/gtest.h>

#include <string>

namespace heapgauge::leaks {
namespace {

TEST(MatchesGlob, TakesBoundedTimeForHostilePatterns) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "a*";
  EXPECT_FALSE(MatchesGlob(pattern + "b", std::string(10'000, 'a')));
  EXPECT_TRUE(MatchesGlob(pattern, std::string(10'000, 'a')));
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_TRUE(MatchesGlob("**", ""));
}

TEST(MatchesTemplate, IsAboutAPartUnlessItSaysOtherwise) {
  EXPECT_TRUE(MatchesTemplate("Init", "RunInitOnce"));
  EXPECT_FALSE(MatchesTemplate("^Init", "RunInitOnce"));
  EXPECT_FALSE(MatchesTemplate("Init$", "RunInitOnce"));
  EXPECT_TRUE(MatchesTemplate("^Run*Once$", "RunInitOnce"));
  EXPECT_FALSE(MatchesTemplate("^Run?nit", "RunInitOnce"));  // '?' is itself
}

}  // namespace
}  // namespace heapgauge::leaks
