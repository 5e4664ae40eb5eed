// Whatever is wrong with the command line or its input: exit code 2 and exactly one line that says
// what.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/base/file.h"
#include "core/gauge/testing/gauge_builder.h"
#include "core/query/testing/example_trace.h"
#include "tests/cli/command.h"

namespace heapgauge::testing {
namespace {

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& says,
                   const Environment& environment = {}) {
  const Outcome outcome = Heapgauge(arguments, environment);
  std::string shown;
  for (const std::string& argument : arguments) shown += argument + " ";
  EXPECT_EQ(outcome.code, 2) << shown << outcome.err;
  EXPECT_EQ(outcome.out, "") << shown;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << shown << outcome.err;
  EXPECT_EQ(outcome.err.rfind("heapgauge: ", 0), 0u) << shown << outcome.err;
  EXPECT_NE(outcome.err.find(says), std::string::npos) << shown << outcome.err;
}

std::string GoodFile(const ScratchDir& dir, const std::string& name = "server.1.hg") {
  GaugeBuilder b;
  b.AddLive(b.AddStack({0x1000}), 1000);
  b.header().ended_ns = 5;
  b.WriteTo(dir / name);
  return dir / name;
}

TEST(BadInput, OptionsAndFilesOfLeakChecks) {
  const ScratchDir dir;
  const std::string file = GoodFile(dir);
  std::ofstream(dir / "bad.supp") << "# mine\nrace:x\n";
  std::ofstream(dir / "other.json") << "{\"a\": 1}";
  ExpectRefused({"leaks"}, "SOURCE");
  ExpectRefused({"leaks", dir / "none.hg"}, "none.hg");
  ExpectRefused({"leaks", "--show-leak-kinds", "lost", file}, "'lost' is no kind of leak");
  ExpectRefused({"leaks", "--errors-for-leak-kinds", "x", file}, "--errors-for-leak-kinds: 'x'");
  ExpectRefused({"leaks", "--heuristics", "x", file}, "'x' is no heuristic");
  ExpectRefused({"leaks", "--suppressions", dir / "bad.supp", file}, "line 2: ");
  ExpectRefused({"leaks", "--suppressions", dir / "none.supp", file}, "none.supp");
  ExpectRefused({"leaks", "--since", dir / "other.json", file}, "not the JSON of a leak check");
  ExpectRefused({"leaks", "--increased", file}, "need --since");
  ExpectRefused({"leaks", "--json", "--sarif", file}, "at a time");
  ExpectRefused({"leaks", dir / "other.json"}, "");
}

TEST(BadInput, FilesOfThePage) {
  const ScratchDir dir;
  std::ofstream(dir / "damaged.heap") << "heap profile: 1: 8 [1: 8] @ heapprofile\n1: x\n";
  std::ofstream(dir / "other.bin") << std::string(100, '\x01');
  const auto refused = [&](const std::string& file, const std::string& says) {
    ExpectRefused({"ui", "--no-browser", dir / file}, says);
  };
  refused("none.pb.gz", "none.pb.gz");
  refused("other.bin", "no profile of a format that is known");
  refused("damaged.heap", "damaged.heap");
}

TEST(BadInput, CommandsAndOptions) {
  ExpectRefused({}, "a command is needed");
  ExpectRefused({"topp"}, "did you mean 'heapgauge top'");
  ExpectRefused({"frobnicate"}, "--help");
  ExpectRefused({"--frobnicate"}, "--frobnicate");
  ExpectRefused({"top"}, "SOURCE");
  ExpectRefused({"top", "--frobnicate", "x"}, "heapgauge top --help");
  ExpectRefused({"top", "--lnes=1", "x"}, "no option '--lnes'; did you mean '--lines'?");
  ExpectRefused({"ps", "--dir", "/tmp"}, "there is no option '--dir' (see");
  ExpectRefused({"top", "--sort", "colour", "x"}, "--sort");
  ExpectRefused({"top", "-n", "many", "x"}, "--rows: 'many' is not a number from 0 on");
  ExpectRefused({"top", "-n", "-3", "x"}, "--rows: '-3' is not a number from 0 on");
  ExpectRefused({"top", "x", "--", "y"}, "heapgauge run");
  ExpectRefused({"top", "--sort=", "x"}, "--sort= has no value");
  ExpectRefused({"top", "--focus=", "x", "-n", "1"}, "a word of its own: --focus ''");
  ExpectRefused({"run", "--output=", "true"}, "--output= has no value");
  ExpectRefused({"ctl"}, "SOURCE");
  ExpectRefused({"ctl", "1"}, "heapgauge ctl --help");
  ExpectRefused({"ctl", "1", "explode"}, "heapgauge ctl --help");
  ExpectRefused({"ctl", "1", "sample"}, "BYTES");
  ExpectRefused({"ctl", "1", "dump", "-o"}, "--output");
  ExpectRefused({"ps", "extra"}, "'extra' is a word too many (see heapgauge ps --help)");
}

TEST(BadInput, TwoFormsAtOnce) {
  for (const char* report : {"top", "tree", "traces", "timeline"}) {
    ExpectRefused({report, "--json", "--csv", "x.hg"}, "--json excludes --csv");
  }
  ExpectRefused({"timeline", "--massif", "--csv", "x.hg"}, "--csv excludes --massif");
  ExpectRefused({"top", "-o", "", "x.hg"}, "--output: is empty");
}

TEST(BadInput, WhatATraceCannotAnswer) {
  const ScratchDir dir;
  const std::string trace = dir / "server.hgt";
  ASSERT_TRUE(query::testing::ExampleTrace().Write(trace));
  for (const char* verb : {"top", "tree", "flame", "diff"}) {
    ExpectRefused({verb, "--sort", "age", trace, trace}, "a trace is not sorted by age");
  }
  for (const char* verb : {"top", "proto", "heaptrack", "dhat"}) {
    ExpectRefused({verb, "--inherited", "only", trace}, "--inherited is for gauge files");
  }
  for (const char* option : {"--at", "--from", "--to", "--thread", "--function", "--min-size"}) {
    ExpectRefused({"top", option, "", trace}, "is empty");
  }
  ExpectRefused({"timeline", "--from", "", trace}, "is empty");
  const std::string massif = dir / "x.massif";
  ExpectRefused({"timeline", "--kind", "mmap", "-o", massif, trace}, "--kind mmap: massif's");
  ExpectRefused({"timeline", "--focus", "f", "-o", massif, trace}, "--focus f: massif's");
  ExpectRefused({"timeline", "--min-size", "1M", "--massif", trace}, "--min-size 1M: massif's");
  ExpectRefused({"timeline", "--not-freed", "--massif", trace}, "--not-freed: massif's");
  const std::string sql = "SELECT sum(live_bytes) FROM stacks";
  ExpectRefused({"query", "--peak", sql, trace}, "snapshots('peak')");
  ExpectRefused({"query", "--kind", "mmap", sql, trace}, "is_mapping");
}

TEST(BadInput, WordsThatChooseAFigureAndDoNotAgree) {
  const ScratchDir dir;
  const std::string trace = dir / "server.hgt";
  ASSERT_TRUE(query::testing::ExampleTrace().Write(trace));
  for (const char* verb : {"top", "tree", "traces", "collapsed", "proto"}) {
    ExpectRefused({verb, "--value", "live", "--type", "alloc_space", trace},
                  "--type and --value both choose");
    ExpectRefused({verb, "--blocks", "--type", "alloc_space", trace},
                  "--type and --blocks both choose");
  }
  for (const char* sort : {"live", "allocated", "age"}) {
    ExpectRefused({"top", "--blocks", "--sort", sort, trace}, "--blocks counts blocks");
  }
  const std::string gauge = GoodFile(dir);
  ExpectRefused({"diff", "--sort", "age", gauge, gauge}, "an age is none");
  EXPECT_EQ(Heapgauge({"top", "--blocks", "--sort", "count", trace}).out,
            Heapgauge({"top", "--blocks", trace}).out);
  EXPECT_EQ(
      Heapgauge({"diff", "--value", "allocated", "--sort", "count", trace + "@2s", trace}).out,
      Heapgauge({"diff", "--value", "allocated", "--blocks", trace + "@2s", trace}).out);
}

TEST(BadInput, FiguresThatAnExportHasNoPlaceFor) {
  const ScratchDir dir;
  const std::string trace = dir / "server.hgt";
  ASSERT_TRUE(query::testing::ExampleTrace().Write(trace));
  for (const char* verb : {"heaptrack", "gperftools", "jemalloc"}) {
    ExpectRefused({verb, "--value", "left", trace}, "or use heapgauge proto");
    ExpectRefused({verb, "--type", "temporary_space", trace}, "--type temporary_space: ");
    ExpectRefused({verb, "--blocks", trace}, "--blocks: ");
    EXPECT_EQ(Heapgauge({verb, "--value", "live", "-o", dir / "x", trace}).code, 0);
  }
  ExpectRefused({"heaptrack", "--from", "2s", trace}, "use --at or --to");
  ExpectRefused({"jemalloc", "--value", "allocated", trace}, "--alloc_space");
  const std::string names = "--symbolized";
  EXPECT_NE(Heapgauge({"gperftools", names, "--from", "2s", trace}).out,
            Heapgauge({"gperftools", names, trace}).out);
}

TEST(BadInput, TheAxisOfMassifsFilesIsTheirs) {
  const ScratchDir dir;
  const std::string snapshot =
      "#-----------\nsnapshot=0\n#-----------\ntime=0\nmem_heap_B=10\nmem_heap_extra_B=0\n"
      "mem_stacks_B=0\nheap_tree=empty\n";
  const auto made = [&](const std::string& unit) {
    const std::string path = dir / ("massif.out." + unit);
    EXPECT_TRUE(WriteWholeFile(path, "desc: x\ncmd: ./x\ntime_unit: " + unit + "\n" + snapshot));
    return path;
  };
  const std::string instructions = made("i");
  const std::string time = made("ms");
  const std::string bytes = made("B");
  for (const std::string& file : {instructions, time, bytes}) {
    ExpectRefused({"timeline", "--unit", "allocations", file}, "leave out --unit allocations");
    ExpectRefused({"timeline", "--massif", "--unit", "allocations", file}, "leave out --unit");
    EXPECT_EQ(Heapgauge({"timeline", file}).code, 0);
  }
  ExpectRefused({"timeline", "--unit", "time", instructions}, "its axis counts instructions");
  ExpectRefused({"timeline", "--unit", "bytes", time}, "its axis counts time");
  ExpectRefused({"timeline", "--unit", "ms", bytes}, "its axis counts bytes");
  EXPECT_EQ(Heapgauge({"timeline", "--unit", "ms", time}).code, 0);
  EXPECT_EQ(Heapgauge({"timeline", "--unit", "bytes", bytes}).code, 0);
}

TEST(BadInput, WhatFilesOfOthersCannotAnswer) {
  const ScratchDir dir;
  const std::string stacks = dir / "stacks.collapsed";
  ASSERT_TRUE(WriteWholeFile(stacks, "main;work 100\n"));
  ExpectRefused({"top", "--peak", stacks}, "does not tell what was live at its peak");
  ExpectRefused({"top", "--kind", "mmap", stacks}, "--kind is for gauge files and traces");
  ExpectRefused({"top", "--inherited", "none", stacks}, "--inherited is for gauge files");
  ExpectRefused({"import", "-o", "-", stacks}, "name a file");
  const Outcome all = Heapgauge({"top", "-n", "0", stacks});
  EXPECT_NE(all.out.find("work"), std::string::npos) << all.out;
}

TEST(BadInput, Sources) {
  const ScratchDir dir;
  ExpectRefused({"top", dir / "none.hg"}, "there is no file");
  ExpectRefused({"top", "0x12"}, "not a PID");
  ExpectRefused({"top", "2147483646"}, "no process 2147483646", {{"HEAPGAUGE_DIR", dir.path()}});
  ExpectRefused({"top", std::to_string(getpid())}, "there is no gauge file of process",
                {{"HEAPGAUGE_DIR", dir.path()}});
  ExpectRefused({"top", dir.path()}, "holds no gauge files");
  const std::string one = GoodFile(dir, "a.1.hg");
  EXPECT_EQ(Heapgauge({"top", dir.path()}).code, 0) << "one file in a directory is meant";
  GoodFile(dir, "b.2.hg");
  ExpectRefused({"top", dir.path()}, "--pick newest");
  EXPECT_EQ(Heapgauge({"top", "--pick", "newest", dir.path()}).code, 0);
  ExpectRefused({"top", "--focus", "(", one}, "regular expression");
  ExpectRefused({"top", "--type", "x", one}, one + ": there is no sample type 'x'");
  ExpectRefused({"peek", "nobody", one}, one + ": no function");
  ExpectRefused({"top", "--peak", one}, "no peak");
  ExpectRefused({"top", "-o", dir / "no/such/dir/x", one}, "cannot write");
}

TEST(BadInput, Files) {
  const ScratchDir dir;
  const std::string good = GoodFile(dir);
  std::ifstream in(good, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string bad = dir / "bad.hg";
  // Reports take any format, control takes gauge files only.
  const auto refused_as = [&](const std::string& content, const std::string& report_says,
                              const std::string& control_says) {
    std::ofstream(bad, std::ios::binary | std::ios::trunc) << content;
    for (const char* verb : {"top", "traces", "collapsed", "proto"}) {
      ExpectRefused({verb, bad}, report_says);
    }
    ExpectRefused({"ctl", bad, "status"}, control_says);
    ExpectRefused({"ctl", bad, "enable"}, control_says);
    ExpectRefused({"ctl", bad, "dump", "-o", dir / "copy"}, control_says);
  };
  const auto refused = [&](const std::string& content, const std::string& says) {
    refused_as(content, says, says);
  };
  refused_as("", "the file is empty", "no header yet");
  refused(std::string(1 << 16, '\0'), "no header yet");
  refused_as("some text\n", "no profile of a format that is known", "not a gauge file");
  refused(bytes.substr(0, 100), "cut short");
  refused(bytes.substr(0, 70'000), "cut short");
  std::string other = bytes;
  other[offsetof(wire::Header, version)] = 42;
  refused(other, "version 42");
  other = bytes;
  other[offsetof(wire::Header, segment_bytes)] = 1;
  refused(other, "segment size");
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  ExpectRefused({"top", dir / "fifo"}, "the file is empty");
  ExpectRefused({"top", "/dev/zero"}, "is a device");
}

TEST(BadInput, NamesWithControlCharactersDoNotReachTheTerminal) {
  const Outcome outcome = Heapgauge({"top", "evil\x1b[31m\nname"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
}

TEST(BadInput, LongWordsAreToldBackInPart) {
  const ScratchDir dir;
  const std::string file = GoodFile(dir);
  const std::string word(100'000, 'x');
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{word},
                                             {"top", word},
                                             {"top", "--" + word, file},
                                             {"top", "--sort", word, file},
                                             {"top", "--type", word, file},
                                             {"top", "--focus", "(" + word, file},
                                             {"query", "SELECT " + word, file}}) {
    const Outcome outcome = Heapgauge(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_LT(outcome.err.size(), 9000u);
    EXPECT_NE(outcome.err.find(" bytes ... "), std::string::npos) << outcome.err;
  }
}

TEST(BadInput, NoPermission) {
  const ScratchDir dir;
  const std::string good = GoodFile(dir);
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(good.c_str(), 0), 0);
  const User user = geteuid() == 0 ? User::kNobody : User::kSame;
  const Outcome outcome = Command(HeapgaugeCommand({"top", good}), {}, "", user).Wait();
  if (outcome.code == kCannotBeNobody) GTEST_SKIP() << "the program is not there for user nobody";
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("Permission denied"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
}

TEST(BadInput, ControlOfAProgramThatIsGone) {
  const ScratchDir dir;
  const std::string good = GoodFile(dir);
  ExpectRefused({"ctl", good, "enable"}, "does not run any more");
  ExpectRefused({"ctl", good, "sample", "12X"}, "not a size");
  EXPECT_EQ(Heapgauge({"ctl", good, "status"}).code, 0);
}

TEST(BadInput, Run) {
  const ScratchDir dir;
  const Environment agent = {{"HEAPGAUGE_AGENT", HEAPGAUGE_FAKE_AGENT}};
  ExpectRefused({"run"}, "no program to run", agent);
  ExpectRefused({"run", "--"}, "no program to run", agent);
  ExpectRefused({"run", "--sample", "x", "--", "true"}, "--sample", agent);
  ExpectRefused({"run", "--sample", "0", "--", "true"}, "--sample", agent);
  ExpectRefused({"run", "--max-rate", "-1", "--", "true"}, "--max-rate", agent);
  ExpectRefused({"run", "-o", dir / "no/such/x.hg", "--", "true"}, "No such file", agent);
  ExpectRefused({"run", "-o", dir.path(), "--", "true"}, "is a directory", agent);
  ExpectRefused({"run", "--", "true"}, "HEAPGAUGE_AGENT", {{"HEAPGAUGE_AGENT", "/no/agent.so"}});
}

}  // namespace
}  // namespace heapgauge::testing
