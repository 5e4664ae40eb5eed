#include "core/base/function_name.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

bool Means(const char* pattern, std::string_view name) {
  const auto regex = Regex::CompileTyped(pattern);
  EXPECT_TRUE(regex) << pattern;
  return regex && MatchesFunction(*regex, name);
}

TEST(FunctionPattern, MatchesTheWholeNameAndTheOneThatIsShown) {
  EXPECT_TRUE(Means("^a_new$", "a_new(unsigned long)"));
  EXPECT_TRUE(Means("a_new\\(unsigned", "a_new(unsigned long)"));
  EXPECT_TRUE(Means("^Cache<…>::Insert$", "Cache<int>::Insert(int const&)"));
  EXPECT_TRUE(Means("Cache<int>", "Cache<int>::Insert(int const&)"));
  EXPECT_TRUE(Means("^main$", "main"));
  EXPECT_FALSE(Means("^a$", "a_new(unsigned long)"));
  EXPECT_FALSE(Means("^long$", "a_new(unsigned long)"));
}

}  // namespace
}  // namespace heapgauge
