#include "core/base/encode.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

namespace heapgauge {
namespace {

TEST(ShellWord, LeavesPlainNamesAlone) {
  for (const char* plain : {"server.4242.hgt", "/tmp/a_b-c/x.hgt", "x.hgt@40%", "a=b,c:d+e",
                            "\xc3\xbc"
                            "ber.hgt"}) {
    EXPECT_EQ(ShellWord(plain), plain);
  }
}

TEST(ShellWord, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("my server.hgt"), "'my server.hgt'");
  EXPECT_EQ(ShellWord("it's.hgt"), "'it'\\''s.hgt'");
  EXPECT_EQ(ShellWord("~x"), "'~x'");
  EXPECT_EQ(ShellWord("=x"), "'=x'");
  EXPECT_EQ(ShellWord("a\nb'\\\033[1m"), "$'a\\012b\\'\\\\\\033[1m'");
  EXPECT_EQ(ShellWord("\xff"), "$'\\377'");
}

// What bash makes of it is what was meant.
TEST(ShellWord, IsReadBackByAShell) {
  if (std::system("command -v bash >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no bash";
  std::string every;
  for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
  for (const std::string& text :
       {every, every.substr(31, 95), std::string("$HOME `id` $(id) \"x\" *?[a]{b,c} !! ; & | < >"),
        std::string("-n"), std::string("''"), std::string("\\")}) {
    const std::string command =
        "exec bash -c \"$(cat <<'END'\nprintf %s " + ShellWord(text) + "\nEND\n)\"";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    ASSERT_NE(pipe, nullptr);
    std::string back(1000, '\0');
    back.resize(fread(back.data(), 1, back.size(), pipe.get()));
    EXPECT_EQ(back, text);
  }
}

TEST(Encode, MarksGetABackslash) {
  EXPECT_EQ(WithBackslashes("a\"b\\", "\"\\"), "a\\\"b\\\\");
  EXPECT_EQ(EscapeRegex("f(a.b)*"), "f\\(a\\.b\\)\\*");
}

TEST(Encode, BytesAreWrittenInHexadecimal) {
  constexpr uint8_t kBytes[] = {0x00, 0x7f, 0xfa};
  EXPECT_EQ(HexText(kBytes), "007ffa");
  EXPECT_EQ(HexText({}), "");
}

}  // namespace
}  // namespace heapgauge
