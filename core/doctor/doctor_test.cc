// The checks on facts that were made up. tests/e2e/doctor_test.py produces each cause for real.

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "core/base/file.h"
#include "core/doctor/command.h"
#include "core/doctor/directory.h"
#include "core/doctor/examine.h"
#include "core/doctor/executable.h"
#include "core/doctor/finding.h"
#include "core/doctor/gauge.h"
#include "core/doctor/host.h"
#include "core/doctor/process.h"

namespace heapgauge {
namespace {

ExecutableFacts OrdinaryProgram() {
  ExecutableFacts facts;
  facts.kind = ExecutableFacts::Kind::kElf;
  facts.path = "/bin/server";
  facts.is_64_bit = true;
  facts.machine = EM_X86_64;
  facts.interpreter = "/lib64/ld-linux-x86-64.so.2";
  facts.is_dynamic = true;
  facts.mode = S_IFREG | 0755;
  facts.uid = facts.gid = 1000;
  return facts;
}

std::string Ids(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) text += (text.empty() ? "" : " ") + finding.id;
  return text;
}

TEST(Finding, CausesHaveNamesOfTheirOwn) {
  std::set<std::string> ids;
  for (const Cause& cause : Causes()) {
    EXPECT_TRUE(ids.insert(cause.id).second) << cause.id;
    EXPECT_NE(cause.short_meaning[0], 0) << cause.id;
  }
}

TEST(Finding, TheMostImportantComesFirst) {
  Findings findings = {Fine("a"), Found("other-preload", "b", "", ""),
                       Found("static-executable", "c", "", ""), Found("too-coarse", "d", "", "")};
  SortFindings(&findings);
  EXPECT_EQ(Ids(findings), "static-executable too-coarse other-preload ok");
  EXPECT_TRUE(HasProblem(findings));
}

TEST(Finding, ForeignTextsCannotSteerATerminal) {
  const Finding finding = Found("not-found", "\x1b[2J", "a\nb", "\x07");
  EXPECT_EQ(finding.what.find('\x1b'), std::string::npos);
  EXPECT_EQ(finding.evidence.find('\n'), std::string::npos);
}

TEST(Executable, AnOrdinaryProgramIsFine) {
  EXPECT_EQ(Ids(CheckExecutable(OrdinaryProgram())), "ok");
}

TEST(Executable, ASetUserIdProgramOfOneselfIsFine) {
  ExecutableFacts facts = OrdinaryProgram();
  facts.mode |= S_ISUID;
  facts.owner = 0;
  EXPECT_EQ(Ids(CheckExecutable(facts)), "set-user-id");
  facts.no_set_user_id = true;
  EXPECT_EQ(Ids(CheckExecutable(facts)), "ok");
  facts.no_set_user_id = false;
  facts.uid = 0;
  EXPECT_EQ(Ids(CheckExecutable(facts)), "ok");
  facts.mode = S_IFREG | S_ISGID | 0755;
  EXPECT_EQ(Ids(CheckExecutable(facts)), "set-user-id");
}

TEST(Executable, CapabilitiesDoNotMatterToRoot) {
  ExecutableFacts facts = OrdinaryProgram();
  facts.has_capabilities = true;
  EXPECT_EQ(Ids(CheckExecutable(facts)), "file-capabilities");
  facts.uid = 0;
  EXPECT_EQ(Ids(CheckExecutable(facts)), "ok");
}

TEST(Executable, AllocatorsAreKnownByTheirNames) {
  EXPECT_EQ(AllocatorOf({"malloc", "mallctl"}), "jemalloc");
  EXPECT_EQ(AllocatorOf({"_rjem_malloc"}), "jemalloc");
  EXPECT_EQ(AllocatorOf({"tc_malloc"}), "tcmalloc");
  EXPECT_EQ(AllocatorOf({"mi_malloc"}), "mimalloc");
  EXPECT_EQ(AllocatorOf({"malloc", "free"}), "");
}

TEST(Executable, AStrippedAllocatorIsKnownByItsMessages) {
  ExecutableFacts facts = OrdinaryProgram();
  facts.marks = {"jemalloc"};
  EXPECT_EQ(Ids(CheckExecutable(facts)), "private-allocator");
}

TEST(Executable, OtherFilesAreNoPrograms) {
  EXPECT_EQ(Ids(CheckExecutable(ReadExecutable("/nonexistent/x"))), "not-found");
  EXPECT_EQ(Ids(CheckExecutable(ReadExecutable("/"))), "not-a-program");
  EXPECT_EQ(Ids(CheckExecutable(ReadExecutable("/etc/passwd"))), "not-a-program");
  EXPECT_EQ(Ids(CheckExecutable(ReadExecutable(""))), "not-found");
}

// Every byte of a program may be anything: no crash, no endless loop.
TEST(Executable, DamagedProgramsAreSurvived) {
  const std::string path = ::testing::TempDir() + "heapgauge_damaged_" + std::to_string(getpid());
  std::string whole = ReadWholeFile("/bin/true", 1 << 20).value_or("");
  ASSERT_GT(whole.size(), 1000u);
  const size_t sections = [&] {
    Elf64_Ehdr header{};
    std::memcpy(&header, whole.data(), sizeof header);
    return std::min<size_t>(header.e_shoff, whole.size() - 1);
  }();
  std::minstd_rand random(7);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 8; ++i) {
      // The headers at both ends are where damage does most.
      const size_t at =
          round % 2 == 0 ? random() % 1024 : sections + random() % (bytes.size() - sections);
      bytes[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    if (round % 10 == 9) bytes.resize(random() % bytes.size());
    ASSERT_TRUE(WriteWholeFile(path, bytes));
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
    EXPECT_FALSE(CheckExecutable(ReadExecutable(path)).empty());
    DefinedSymbols(path);
  }
  unlink(path.c_str());
}

TEST(Executable, ScriptsThatLeadNowhereEnd) {
  const std::string path = ::testing::TempDir() + "heapgauge_script_" + std::to_string(getpid());
  for (const std::string& text : {"#!" + path + "\n", std::string("#!"), std::string("#! \t\n"),
                                  std::string("#!/usr/bin/env\n"), std::string("#!\0x", 4)}) {
    ASSERT_TRUE(WriteWholeFile(path, text));
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
    EXPECT_FALSE(CheckExecutable(ReadExecutable(path)).empty()) << text;
  }
  unlink(path.c_str());
}

TEST(Command, LaunchersAreKnown) {
  EXPECT_EQ(Ids(CheckCommand({"/usr/bin/sudo", "ls"})), "launcher");
  EXPECT_EQ(Ids(CheckCommand({"env", "-i", "ls"})), "launcher");
  EXPECT_EQ(Ids(CheckCommand({"env", "A=b", "ls", "-i"})), "");
  EXPECT_EQ(Ids(CheckCommand({"env", "LD_PRELOAD=", "ls"})), "launcher");
  EXPECT_EQ(Ids(CheckCommand({"valgrind", "ls"})), "valgrind");
  EXPECT_EQ(Ids(CheckCommand({"qemu-aarch64", "x"})), "emulator");
  EXPECT_EQ(Ids(CheckCommand({"env", ""})), "");
}

TEST(Command, IsQuotedAsOneWouldTypeIt) {
  EXPECT_EQ(Quoted({"a", "b c", "d'e", ""}), "a 'b c' 'd'\\''e' ''");
}

ProcessFacts Running() {
  ProcessFacts facts;
  facts.pid = 42;
  facts.exists = facts.maps_readable = facts.environment_readable = true;
  facts.state = 'S';
  facts.name = "server";
  facts.command_line = {"./server", "--port", "80"};
  return facts;
}

TEST(Process, SaysHowToStartItAgain) {
  const Findings findings = CheckAgent(Running(), {});
  ASSERT_EQ(Ids(findings), "not-preloaded");
  EXPECT_EQ(findings[0].remedy, "start it again: heapgauge run -- ./server --port 80");
  ProcessFacts service = Running();
  service.unit = "server.service";
  EXPECT_NE(CheckAgent(service, {})[0].remedy.find("systemctl edit server.service"),
            std::string::npos);
}

TEST(Process, TheExecutableExplainsMoreThanTheEnvironment) {
  const Findings executable = {Found("static-executable", "", "", "")};
  EXPECT_EQ(Ids(CheckAgent(Running(), executable)), "static-executable");
}

TEST(Process, RaisedRightsComeBeforeTheFile) {
  ProcessFacts facts = Running();
  facts.preload = {{"/x/libheapgauge.so", "No such file", true, false, ""}};
  EXPECT_EQ(Ids(CheckAgent(facts, {})), "preload-failed");
  facts.secure = true;
  EXPECT_EQ(Ids(CheckAgent(facts, {})), "secure-execution");
}

TEST(Process, AnUnknownInterposerMayPassCallsOn) {
  ProcessFacts facts = Running();
  facts.agents = {"/lib/libheapgauge.so"};
  facts.environment["LD_PRELOAD"] = "x";
  facts.preload = {{"/x.so", "", false, true, ""}, {"/lib/libheapgauge.so", "", true, true, ""}};
  Findings findings = CheckAgent(facts, {});
  ASSERT_EQ(Ids(findings), "interposer-first");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  facts.preload[0].allocator = "jemalloc";
  EXPECT_EQ(CheckAgent(facts, {})[0].severity, Severity::kProblem);
  std::swap(facts.preload[0], facts.preload[1]);
  EXPECT_EQ(Ids(CheckAgent(facts, {})), "other-preload");
}

TEST(Process, AFilterOfTheContainersIsNotTheProgramsOwn) {
  ProcessFacts facts = Running();
  facts.agents = {"/lib/libheapgauge.so"};
  facts.seccomp = 2;
  EXPECT_EQ(Ids(CheckSurroundings(facts)), "");
  facts.seccomp_is_its_own = true;
  EXPECT_EQ(Ids(CheckSurroundings(facts)), "seccomp");
}

TEST(Directory, TheAgentsOrderIsKept) {
  const auto paths = [](const std::map<std::string, std::string>& environment) {
    std::string text;
    for (const DirectoryChoice& choice : GaugeDirectoryChoices(environment, 7)) {
      text += choice.path + " ";
    }
    return text;
  };
  EXPECT_EQ(paths({}), "/dev/shm/heapgauge-7 /tmp/heapgauge-7 ");
  EXPECT_EQ(paths({{"XDG_RUNTIME_DIR", "/run/user/7"}}),
            "/run/user/7/heapgauge /dev/shm/heapgauge-7 /tmp/heapgauge-7 ");
  EXPECT_EQ(paths({{"HEAPGAUGE_DIR", "/d"}, {"XDG_RUNTIME_DIR", "/r"}}), "/d ");
  EXPECT_EQ(paths({{"HEAPGAUGE_OUT", "/o/x.hg"}, {"HEAPGAUGE_DIR", "/d"}}), "/o ");
}

DirectoryFacts GoodDirectory() {
  DirectoryFacts facts;
  facts.path = "/dev/shm/heapgauge-7";
  facts.uid = facts.owner = 7;
  facts.exists = facts.is_directory = facts.writable = true;
  facts.mode = S_IFDIR | 0700;
  facts.file_system = "tmpfs";
  facts.in_memory = true;
  facts.total_bytes = uint64_t{8} << 30;
  facts.free_bytes = uint64_t{4} << 30;
  return facts;
}

TEST(Directory, AStickyDirectoryOfRootIsTrusted) {
  DirectoryFacts facts = GoodDirectory();
  EXPECT_EQ(Ids(CheckDirectories({facts})), "ok");
  facts.owner = 0;
  facts.mode = S_IFDIR | 01777;
  EXPECT_EQ(Ids(CheckDirectories({facts})), "ok");
  facts.mode = S_IFDIR | 0777;
  EXPECT_EQ(Ids(CheckDirectories({facts})), "directory-mode");
  facts.owner = 8;
  EXPECT_EQ(Ids(CheckDirectories({facts})), "directory-owner");
}

TEST(Directory, OneThatIsPassedOverIsOnlyWorthAWarning) {
  DirectoryFacts bad = GoodDirectory();
  bad.writable = false;
  EXPECT_TRUE(HasProblem(CheckDirectories({bad})));
  const Findings findings = CheckDirectories({bad, GoodDirectory()});
  EXPECT_EQ(Ids(findings), "directory-not-writable ok");
  EXPECT_FALSE(HasProblem(findings));
}

TEST(Directory, RoomIsJudged) {
  DirectoryFacts facts = GoodDirectory();
  facts.total_bytes = 64 << 20;
  EXPECT_EQ(Ids(CheckDirectories({facts})), "directory-small");
  facts.free_bytes = 1000;
  EXPECT_EQ(Ids(CheckDirectories({facts})), "directory-full");
  facts.total_bytes = 0;  // a tmpfs without a limit
  EXPECT_EQ(Ids(CheckDirectories({facts})), "ok");
}

TEST(Host, LimitsAreNamed) {
  HostFacts facts;
  facts.may_trace = true;
  facts.hide_pid = "hidepid=2";
  EXPECT_EQ(Ids(CheckHost(facts)), "");
  facts.may_trace = false;
  EXPECT_EQ(Ids(CheckHost(facts)), "hidden-processes ptrace-limits");
}

TEST(Host, AnAgentOfAnotherVersionIsNamed) {
  AgentProbe probe;
  EXPECT_EQ(Ids(CheckProbe(probe, "/x.so", "1")), "agent-broken");
  probe.made_gauge = true;
  probe.version = "2";
  EXPECT_EQ(Ids(CheckProbe(probe, "/x.so", "1")), "agent-version");
  probe.version = "1";
  EXPECT_EQ(Ids(CheckProbe(probe, "/x.so", "1")), "ok");
}

TEST(Text, EndsWithAWordOfComfort) {
  Examination examination{"x", {Found("static-executable", "what", "evidence", "remedy")}};
  EXPECT_EQ(DoctorText(examination),
            "x\n\nproblem  static-executable\n  what\n  -> remedy\n     (evidence)\n\n"
            "Nothing else stands in the way.\n");
  examination.findings = {Fine("good")};
  EXPECT_EQ(DoctorText(examination), "x\n\nok       good\n\nNothing stands in the way.\n");
}

}  // namespace
}  // namespace heapgauge
