// The functions under other names, beside those of the C library.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#define memmove own_memmove
#define memcpy own_memcpy
#define memset own_memset
#define memcmp own_memcmp
#define memmem own_memmem
#define strlen own_strlen
#define strcmp own_strcmp
#define strncmp own_strncmp
#define strchr own_strchr
#define strrchr own_strrchr
#define strstr own_strstr
#include "agent/sys/string_functions.cc"
#undef memmove
#undef memcpy
#undef memset
#undef memcmp
#undef memmem
#undef strlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr
#undef strstr

namespace {

int Sign(int value) { return (value > 0) - (value < 0); }

TEST(StringFunctions, CopyAndFillAsLibcDoesAlsoWhenRangesOverlap) {
  std::mt19937 random(3);
  std::string start(300, ' ');
  for (char& c : start) c = static_cast<char>(random());
  for (int i = 0; i < 20000; ++i) {
    const size_t size = random() % 130;
    const size_t from = random() % 150;
    const size_t to = random() % 150;
    std::string ours = start;
    std::string theirs = start;
    EXPECT_EQ(own_memmove(ours.data() + to, ours.data() + from, size), ours.data() + to);
    std::memmove(theirs.data() + to, theirs.data() + from, size);
    ASSERT_EQ(ours, theirs) << from << " to " << to << ", " << size;
    own_memset(ours.data() + to, static_cast<int>(size), size);
    std::memset(theirs.data() + to, static_cast<int>(size), size);
    ASSERT_EQ(ours, theirs);
    std::string apart(200, ' ');
    own_memcpy(apart.data() + to % 50, ours.data() + from, size);
    ASSERT_EQ(apart.substr(to % 50, size), ours.substr(from, size));
  }
}

TEST(StringFunctions, CompareAndFindAsLibcDoes) {
  std::mt19937 random(4);
  const auto text = [&random] {
    std::string made(random() % 6, ' ');
    for (char& c : made) c = "ab\xff"[random() % 3];
    return made;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string a = text();
    const std::string b = text();
    const size_t most = random() % 7;
    ASSERT_EQ(own_strlen(a.c_str()), a.size());
    ASSERT_EQ(Sign(own_strcmp(a.c_str(), b.c_str())), Sign(std::strcmp(a.c_str(), b.c_str())));
    ASSERT_EQ(Sign(own_strncmp(a.c_str(), b.c_str(), most)),
              Sign(std::strncmp(a.c_str(), b.c_str(), most)));
    const size_t both = std::min(a.size(), b.size());
    ASSERT_EQ(Sign(own_memcmp(a.data(), b.data(), both)),
              Sign(std::memcmp(a.data(), b.data(), both)));
    for (const char c : {'a', '\xff', '\0'}) {
      ASSERT_EQ(own_strchr(a.c_str(), c), std::strchr(a.c_str(), c));
      ASSERT_EQ(own_strrchr(a.c_str(), c), std::strrchr(a.c_str(), c));
    }
    ASSERT_EQ(own_strstr(a.c_str(), b.c_str()), std::strstr(a.c_str(), b.c_str()));
    ASSERT_EQ(own_memmem(a.data(), a.size(), b.data(), b.size()),
              ::memmem(a.data(), a.size(), b.data(), b.size()));
  }
}

}  // namespace
