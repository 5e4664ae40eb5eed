#include "cli/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heapgauge::cli {
namespace {

// Two commands, of which each notes that it was described.
class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    for (const char* name : {"top", "tree"}) {
      line_.Add(name, std::string("what ") + name + " shows", [this, name](Command command) {
        described_.push_back(name);
        command.Footer(std::string("footer of ") + name);
        command.Add("SOURCE", &source_, "where from");
        command.Flag("--cum", &cumulative_, "with what it calls");
        command.OnChosen([this, name] { chosen_ = name; });
      });
    }
  }

  Result<bool> Parse(std::vector<const char*> words) {
    words.insert(words.begin(), "heapgauge");
    return line_.Parse(static_cast<int>(words.size()), words.data());
  }
  std::string Printed(std::vector<const char*> words) {
    testing::internal::CaptureStdout();
    const auto parsed = Parse(std::move(words));
    std::string text = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(parsed && !*parsed);
    return text;
  }

  CommandLine line_{"what it is about", "first steps", "heapgauge 1.2"};
  std::vector<std::string> described_;
  std::string chosen_;
  std::string source_;
  bool cumulative_ = false;
};

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST_F(CommandLineTest, DescribesTheCommandThatIsMeantAlone) {
  ASSERT_TRUE(Parse({"tree", "--cum", "top"}).value());
  EXPECT_EQ(described_, std::vector<std::string>{"tree"});
  EXPECT_EQ(chosen_, "tree");
  EXPECT_EQ(source_, "top") << "a word after the command is no other command";
  EXPECT_TRUE(cumulative_);
}

TEST_F(CommandLineTest, ListsAllCommandsWithoutDescribingThem) {
  const std::string help = Printed({"--help"});
  EXPECT_TRUE(Has(help, "what top shows") && Has(help, "what tree shows")) << help;
  EXPECT_TRUE(Has(help, "first steps")) << help;
  EXPECT_TRUE(described_.empty());
  EXPECT_EQ(line_.CommandNames(), (std::vector<std::string>{"top", "tree"}));
}

TEST_F(CommandLineTest, TellsItsVersionWithoutDescribingCommands) {
  EXPECT_EQ(Printed({"--version"}), "heapgauge 1.2\n");
  EXPECT_TRUE(described_.empty());
}

TEST_F(CommandLineTest, HelpOfACommandIsWhole) {
  const std::string help = Printed({"top", "--help"});
  for (const char* part : {"what top shows", "SOURCE", "--cum", "footer of top"}) {
    EXPECT_TRUE(Has(help, part)) << part << " in " << help;
  }
  EXPECT_FALSE(Has(help, "tree")) << help;
}

TEST_F(CommandLineTest, FindsTheCommandBehindOptions) {
  EXPECT_TRUE(Has(Printed({"--help", "top"}), "footer of top"));
  EXPECT_EQ(described_, std::vector<std::string>{"top"});
}

TEST_F(CommandLineTest, KnowsWhichOptionMayBeMeant) {
  const auto parsed = Parse({"--cumm", "tree"});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "there is no option '--cumm'; did you mean '--cum'?");
}

}  // namespace
}  // namespace heapgauge::cli
