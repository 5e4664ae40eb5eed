#include "core/source/object_code.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(ParseObjdump, GivesInstructionsWithFunctionFileAndLine) {
  const auto code = ParseObjdump(
      "\n"
      "/bin/x:     file format elf64-x86-64\n"
      "\n"
      "Disassembly of section .text:\n"
      "\n"
      "0000000000001139 <A::f(int)>:\n"
      "A::f(int)():\n"
      "/src/a.cc:3\n"
      "    1139:\tpush   %rbp\n"
      "/src/a.cc:4 (discriminator 2)\n"
      "    113a:\tcall   1040 <malloc@plt>\n"
      "    113f:\tlea    0x0(,%rax,8),%rdx        # 12 <x:1>\n");
  ASSERT_EQ(code.size(), 3u);
  EXPECT_EQ(code[0].address, 0x1139u);
  EXPECT_EQ(code[0].text, "push   %rbp");
  EXPECT_EQ(code[0].function, "A::f(int)");
  EXPECT_EQ(code[0].file, "/src/a.cc");
  EXPECT_EQ(code[0].line, 3);
  EXPECT_EQ(code[1].line, 4);
  EXPECT_EQ(code[1].text, "call   1040 <malloc@plt>");
  EXPECT_EQ(code[2].line, 4);
}

TEST(ParseObjdump, ForgetsTheSourceAtAnEmptyLine) {
  const auto code = ParseObjdump("f():\n/a.c:1\n 10:\tnop\n\n 20:\tnop\n");
  ASSERT_EQ(code.size(), 2u);
  EXPECT_EQ(code[1].function, "");
  EXPECT_EQ(code[1].line, 0);
}

TEST(ParseObjdump, SurvivesAnything) {
  EXPECT_TRUE(ParseObjdump("").empty());
  EXPECT_TRUE(ParseObjdump(":::\n::1\n;\n; \n<>:\n():\n").empty());
  EXPECT_EQ(ParseObjdump("ffffffffffffffffffff:\tnop\n").size(), 0u);
}

TEST(RunTool, GivesWhatTheToolPrints) {
  const auto output = RunTool({"sh", "-c", "printf one; printf two >&2; cat"});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(*output, "one");
}

TEST(RunTool, TellsAMissingToolFromOneThatFails) {
  const auto missing = RunTool({"/no/such/tool"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  const auto failed = RunTool({"sh", "-c", "exit 3"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kIo);
}

TEST(RunTool, StopsAToolThatPrintsWithoutEnd) {
  ToolLimits limits;
  limits.bytes = 1 << 20;
  const auto output =
      RunTool({"sh", "-c", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"}, limits);
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("was stopped"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
