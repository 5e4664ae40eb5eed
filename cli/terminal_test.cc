#include "cli/terminal.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <map>

#include "cli/progress_line.h"
#include "cli/screen.h"
#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

VariableLookup Environment(const std::map<std::string, std::string>& variables) {
  return [=](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  };
}

TEST(Terminal, ColourIsForTerminalsThatWantIt) {
  const auto xterm = Environment({{"TERM", "xterm"}});
  EXPECT_TRUE(WantsColour("auto", true, xterm));
  EXPECT_FALSE(WantsColour("auto", false, xterm)) << "a pipe";
  EXPECT_TRUE(WantsColour("always", false, xterm));
  EXPECT_FALSE(WantsColour("never", true, xterm));
  EXPECT_FALSE(WantsColour("auto", true, Environment({{"TERM", "dumb"}})));
  EXPECT_FALSE(WantsColour("auto", true, Environment({})));
}

TEST(Terminal, TheEnvironmentIsHeard) {
  EXPECT_FALSE(WantsColour("auto", true, Environment({{"TERM", "xterm"}, {"NO_COLOR", "1"}})));
  EXPECT_TRUE(WantsColour("auto", true, Environment({{"TERM", "xterm"}, {"NO_COLOR", ""}})))
      << "set but empty does not count";
  EXPECT_TRUE(WantsColour("always", true, Environment({{"NO_COLOR", "1"}})));
  EXPECT_TRUE(WantsColour("auto", false, Environment({{"CLICOLOR_FORCE", "1"}})));
  EXPECT_FALSE(WantsColour("auto", false, Environment({{"CLICOLOR_FORCE", "0"}})));
  EXPECT_FALSE(
      WantsColour("auto", false, Environment({{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}})));
}

TEST(Terminal, TheLocaleSaysWhatCanBeShown) {
  EXPECT_TRUE(ShowsUtf8(Environment({{"LANG", "en_GB.UTF-8"}})));
  EXPECT_TRUE(ShowsUtf8(Environment({{"LC_CTYPE", "C.utf8"}, {"LANG", "C"}})));
  EXPECT_FALSE(ShowsUtf8(Environment({{"LC_ALL", "C"}, {"LANG", "en_GB.UTF-8"}})));
  EXPECT_FALSE(ShowsUtf8(Environment({{"LANG", "de_DE.ISO-8859-1"}})));
  EXPECT_TRUE(ShowsUtf8(Environment({}))) << "nothing is known";
}

TEST(ProgressText, SaysHowFarItIs) {
  EXPECT_EQ(ProgressText("reading names of libLLVM-14.so.1", 12000, 37000, "addresses", 100, true),
            "reading names of libLLVM-14.so.1 \u2026 12,000 of 37,000 addresses");
  EXPECT_EQ(ProgressText("reading a\x1b[2Jb", 0, 0, "", 100, false), "reading a?[2Jb ...");
  EXPECT_LE(DisplayWidth(ProgressText(std::string(300, 'x'), 1, 2, "y", 40, true)), 40u);
}

// A terminal of our own; what is written to `terminal` can be read from `other_end`.
struct Pty {
  Pty() { EXPECT_EQ(openpty(&other_end, &terminal, nullptr, nullptr, nullptr), 0); }
  ~Pty() {
    close(other_end);
    close(terminal);
  }
  // Reads until the text ends in `end`, or for a long time.
  std::string ReadUntil(const std::string& end) {
    std::string text;
    pollfd input{other_end, POLLIN, 0};
    while (text.find(end) == std::string::npos && poll(&input, 1, 30'000) > 0) {
      char bytes[1024];
      const ssize_t count = read(other_end, bytes, sizeof bytes);
      if (count <= 0) break;
      text.append(bytes, static_cast<size_t>(count));
    }
    return text;
  }
  int other_end = -1;
  int terminal = -1;
};

TEST(ProgressLine, AppearsForOneLongStepAndGoesAway) {
  Pty pty;
  {
    ProgressLine line(pty.terminal);
    line.Report("reading names of libLLVM", 5, 10, "addresses");
    EXPECT_NE(pty.ReadUntil("addresses").find("\rreading names of libLLVM"), std::string::npos);
  }
  EXPECT_NE(pty.ReadUntil("\r\033[K").find("\r\033[K"), std::string::npos);
}

TEST(ProgressLine, ShortWorkShowsNothing) {
  Pty pty;
  {
    ProgressLine line(pty.terminal);
    line.Report("reading", 5, 10, "addresses");
  }
  ASSERT_EQ(write(pty.terminal, "end", 3), 3);
  EXPECT_EQ(pty.ReadUntil("end"), "end");
}

std::vector<Key> Keys(std::string bytes) {
  std::vector<Key> keys;
  while (auto key = TakeKey(&bytes, true)) keys.push_back(*key);
  EXPECT_EQ(bytes, "");
  return keys;
}

TEST(Keys, AreWhatTerminalsSend) {
  const std::pair<const char*, Key::Kind> cases[] = {
      {"\033[A", Key::kUp},        {"\033OB", Key::kDown},       {"\033[5~", Key::kPageUp},
      {"\033[6~", Key::kPageDown}, {"\033[H", Key::kHome},       {"\033[4~", Key::kEnd},
      {"\033[3~", Key::kDelete},   {"\r", Key::kEnter},          {"\x7f", Key::kBackspace},
      {"\x03", Key::kInterrupt},   {"\x15", Key::kKillLine},     {"\033", Key::kEscape},
      {"\x0c", Key::kRedraw},      {"\033[1;5Z", Key::kUnknown}, {"\x01", Key::kUnknown},
      {"\xff", Key::kUnknown}};
  for (const auto& [bytes, kind] : cases) {
    const auto keys = Keys(bytes);
    ASSERT_EQ(keys.size(), 1u) << bytes;
    EXPECT_EQ(keys[0].kind, kind) << bytes;
  }
  const auto text = Keys("s\xc3\xa9\033[Aq");
  ASSERT_EQ(text.size(), 4u);
  EXPECT_EQ(text[1].text, "\xc3\xa9");
  EXPECT_EQ(text[2].kind, Key::kUp);
  EXPECT_EQ(text[3].text, "q");
}

TEST(Keys, WaitForTheirEnd) {
  std::string bytes = "\033";
  EXPECT_FALSE(TakeKey(&bytes, false));
  bytes += "[";
  EXPECT_FALSE(TakeKey(&bytes, false));
  bytes += "B";
  EXPECT_EQ(TakeKey(&bytes, false)->kind, Key::kDown);
  bytes = "\xc3";
  EXPECT_FALSE(TakeKey(&bytes, false));
}

TEST(Keys, GarbageComesToAnEnd) {
  EXPECT_GT(Keys("\033[" + std::string(1000, ';')).size(), 1u);
  EXPECT_GT(Keys(std::string(100, '\033')).size(), 1u);
}

}  // namespace
}  // namespace heapgauge::cli
