#include "core/leaks/verdict/check_process.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "core/base/file.h"
#include "core/base/testing/eventually.h"
#include "core/os/proc_fields.h"
#include "tests/leaks/capture/child.h"
#include "tests/leaks/capture/started_program.h"
#include "tests/leaks/capture/tracing_test.h"
#include "wire/gauge_format.h"

namespace heapgauge::leaks {
namespace {

// One that asks and asks, and counts what goes wrong.
class Client {
 public:
  explicit Client(int port) : port_(port), thread_([this] { Run(); }) {}
  ~Client() {
    ending_ = true;
    thread_.join();
  }
  std::atomic<uint64_t> answered{0};
  std::atomic<uint64_t> failed{0};

 private:
  void Run() {
    while (!ending_) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(static_cast<uint16_t>(port_));
      if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) ++failed;
      for (int i = 0; i < 20 && !ending_; ++i) Ask(fd, "echo", std::to_string(i));
      Ask(fd, "bye", "end");
      // The end of the connection has to come by itself, and not when a copy dies.
      char byte = 0;
      if (!Wait(fd) || recv(fd, &byte, 1, 0) != 0) ++failed;
      close(fd);
    }
  }
  static bool Wait(int fd) {
    pollfd wait{fd, POLLIN, 0};
    return poll(&wait, 1, 30'000) == 1;
  }
  void Ask(int fd, const std::string& word, const std::string& text) {
    const std::string request = word + " " + text + "\n";
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      ++failed;
      return;
    }
    std::string answer;
    while (answer.empty() || answer.back() != '\n') {
      char buffer[256];
      const ssize_t got = Wait(fd) ? recv(fd, buffer, sizeof buffer, 0) : -1;
      if (got <= 0) break;
      answer.append(buffer, static_cast<size_t>(got));
    }
    ++(answer == text + "\n" ? answered : failed);
  }

  int port_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

class CheckProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = WhyNoTracing();
    if (!why.empty()) GTEST_SKIP() << why;
    char name[] = "/tmp/heapgauge-check-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }
  std::string GaugeFile() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      if (entry.path().extension() == ".hg") return entry.path();
    }
    return "";
  }
  StartedProgram Start(const char* program, const char* argument = "") {
    return StartedProgram({"/usr/bin/env", std::string("LD_PRELOAD=") + HEAPGAUGE_AGENT,
                           "HEAPGAUGE_DIR=" + directory_, "HEAPGAUGE_SAMPLE=4K", program,
                           argument});
  }

  std::string directory_;
};

struct Figures {
  uint64_t blocks = 0;
  std::map<Kind, uint64_t> of_kind;
};
Figures Count(const Check& check) {
  Figures figures;
  for (const Verdict& verdict : check.verdicts) {
    ++figures.blocks;
    ++figures.of_kind[verdict.kind];
  }
  return figures;
}

// Dead or alive.
bool HasChildren(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(directory)) {
    const auto list = ReadWholeFile(thread.path() / "children", 4096);
    if (list && !list->empty()) return true;
  }
  return false;
}

// The agent waits for a copy of its own at the first request after the copy has ended. On a busy
// machine the last request may come before that: then another one is needed.
template <typename Ask>
testing::AssertionResult EventuallyHasNoChildren(pid_t process, Ask&& ask_again) {
  return Eventually("the copies are waited for", [&] {
    for (int i = 0; i < 100 && HasChildren(process); ++i) usleep(10'000);
    if (!HasChildren(process)) return true;
    ask_again();
    return false;
  });
}

// By each of the ways to see memory.
void CheckUnderLoad(const std::string& gauge_path, StartedProgram* server, int port, int rounds,
                    const CheckOptions& how, Look expected) {
  Client one(port);
  Client two(port);
  const auto answers = [&] { return one.answered + two.answered; };
  const auto failures = [&] { return one.failed + two.failed; };
  ASSERT_TRUE(Eventually("the server is under load", [&] { return answers() >= 4000; }));
  CheckOptions options = how;
  options.gauge_path = gauge_path;
  options.may_stop_ns = 0;
  Figures last;
  for (int i = 0; i < rounds; ++i) {
    const uint64_t before = answers();
    const auto check = CheckProcess(static_cast<uint32_t>(server->pid()), options);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_EQ(check->look, expected);
    EXPECT_EQ(check->threads, 5u);
    EXPECT_GT(check->pause_ns, 0u);
    EXPECT_EQ(check->verdicts.size(), check->known.blocks.size());
    last = Count(*check);
    ASSERT_TRUE(
        Eventually("the server goes on", [&] { return answers() != before || failures() != 0; }));
  }
  // No copy is left. The agent waits for its own when it next looks.
  EXPECT_TRUE(EventuallyHasNoChildren(server->pid(), [&] {
    EXPECT_TRUE(CheckProcess(static_cast<uint32_t>(server->pid()), options));
  }));
  EXPECT_EQ(one.failed, 0u);
  EXPECT_EQ(two.failed, 0u);
  // Of 2000 that are lost one in two was sampled. Some may be pointed to by old words of the heap.
  // The kept ones are changed so fast that few of them are sampled, and the youngest do not count.
  EXPECT_GT(last.of_kind[Kind::kDefinite] + last.of_kind[Kind::kPossible], 700u);
  EXPECT_GT(last.of_kind[Kind::kDefinite], 200u);
  EXPECT_GT(last.of_kind[Kind::kReachable] + last.of_kind[Kind::kPossible], 50u);
}

TEST_F(CheckProcessTest, AServerUnderLoadIsCheckedAgainAndAgain) {
  StartedProgram server = Start(HEAPGAUGE_SMALL_SERVER);
  int port = 0;
  const std::string line = server.ReadLine();
  ASSERT_EQ(std::sscanf(line.c_str(), "port %d", &port), 1) << line;
  CheckUnderLoad(GaugeFile(), &server, port, Rounds(30), {}, Look::kCopy);
  int status = 0;
  EXPECT_EQ(server.Finish(&status), "0 failures\n");
}

TEST_F(CheckProcessTest, AServerThatItsUserMayNotTraceCopiesItself) {
  if (geteuid() == 0) GTEST_SKIP() << "root may trace every program";
  StartedProgram server = Start(HEAPGAUGE_SMALL_SERVER, "hidden");
  int port = 0;
  const std::string line = server.ReadLine();
  ASSERT_EQ(std::sscanf(line.c_str(), "port %d", &port), 1) << line;
  CheckUnderLoad(GaugeFile(), &server, port, 5, {}, Look::kOwnCopy);
  int status = 0;
  EXPECT_EQ(server.Finish(&status), "0 failures\n");
}

TEST_F(CheckProcessTest, AServerUnderLoadWhoseAgentIsAskedCopiesItself) {
  StartedProgram server = Start(HEAPGAUGE_SMALL_SERVER);
  int port = 0;
  const std::string line = server.ReadLine();
  ASSERT_EQ(std::sscanf(line.c_str(), "port %d", &port), 1) << line;
  CheckOptions options;
  options.may_trace = false;
  CheckUnderLoad(GaugeFile(), &server, port, Rounds(10), options, Look::kOwnCopy);
  // And where its memory may not be read either.
  options.agent.read_directly = false;
  CheckUnderLoad(GaugeFile(), &server, port, Rounds(5), options, Look::kOwnCopy);
  int status = 0;
  EXPECT_EQ(server.Finish(&status), "0 failures\n");
}

// What it allocates between its copy and the look at its samples is not in the copy.
TEST_F(CheckProcessTest, AProgramThatGrowsWhileItsAgentCopiesItLosesNothing) {
  StartedProgram program = Start(HEAPGAUGE_GROWING_PROGRAM);
  ASSERT_EQ(program.ReadLine(), "ready");
  CheckOptions options;
  options.gauge_path = GaugeFile();
  options.may_trace = false;
  for (int i = 0; i < Rounds(5); ++i) {
    const auto check = CheckProcess(static_cast<uint32_t>(program.pid()), options);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_EQ(check->look, Look::kOwnCopy);
    Figures figures = Count(*check);
    EXPECT_GT(figures.blocks, 100u);
    EXPECT_EQ(figures.of_kind[Kind::kDefinite], 0u);
  }
}

// As if those who asked had been killed.
TEST_F(CheckProcessTest, ACopyWhoseAskerWasKilledLeavesNothing) {
  StartedProgram server = Start(HEAPGAUGE_SMALL_SERVER);
  int port = 0;
  const std::string line = server.ReadLine();
  ASSERT_EQ(std::sscanf(line.c_str(), "port %d", &port), 1) << line;
  static auto* const left = new std::vector<AgentCopy*>;  // reachable to the end
  {
    Client client(port);
    for (int i = 0; i < 3; ++i) {
      auto copy = AgentCopy::Ask(static_cast<uint32_t>(server.pid()), GaugeFile(), {});
      ASSERT_TRUE(copy) << copy.error().message;
      left->push_back(copy->release());
    }
    EXPECT_TRUE(HasChildren(server.pid()));
    {
      const auto copy = AgentCopy::Ask(static_cast<uint32_t>(server.pid()), GaugeFile(), {});
      ASSERT_TRUE(copy) << copy.error().message;
    }
    EXPECT_TRUE(EventuallyHasNoChildren(server.pid(), [&] {
      EXPECT_TRUE(AgentCopy::Ask(static_cast<uint32_t>(server.pid()), GaugeFile(), {}));
    }));
    EXPECT_EQ(client.failed, 0u);
  }
  int status = 0;
  EXPECT_EQ(server.Finish(&status), "0 failures\n");
}

TEST_F(CheckProcessTest, AnotherCheckOfTheProgramIsWaitedFor) {
  const PausingChild child;
  std::atomic<bool> traced{false};
  const std::string own = "/proc/self/task/" + std::to_string(gettid());
  const auto sleeps = [&] {
    return std::atoi(StatusField(ReadStatus(own), "voluntary_ctxt_switches").c_str());
  };
  std::thread other([&] {  // it lets go when it ends
    EXPECT_EQ(ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr), 0);
    const int before = sleeps();
    traced = true;
    // The check sleeps between its tries.
    EXPECT_TRUE(Eventually("the check waits", [&] { return sleeps() > before + 10; }));
  });
  while (!traced) std::this_thread::yield();
  CheckOptions options;
  options.known_blocks = []() -> Result<KnownBlocks> { return KnownBlocks(); };
  const auto check = CheckProcess(child.id(), options);
  other.join();
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->look, Look::kCopy);
}

// As programs with AddressSanitizer have them, of many terabytes.
TEST_F(CheckProcessTest, AVastMappingThatIsHardlyTouchedIsNotSearched) {
  constexpr size_t kBytes = size_t{1} << 39;
  const Child child([](auto ready) {
    void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    for (const size_t at : {size_t{0}, kBytes / 2, kBytes - 1}) {
      static_cast<volatile char*>(memory)[at] = 1;
    }
    ready();
    Sleep();
  });
  CheckOptions options;
  options.known_blocks = []() -> Result<KnownBlocks> { return KnownBlocks(); };
  const auto check = CheckProcess(child.id(), options);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->look, Look::kCopy);
  EXPECT_LT(check->scanned_bytes, kBytes / 100);
}

TEST_F(CheckProcessTest, ARequestIsTakenBackIfTheCheckIsCancelled) {
  StartedProgram server = Start(HEAPGAUGE_SMALL_SERVER);
  server.ReadLine();
  kill(server.pid(), SIGSTOP);  // its agent is not to answer
  const auto file = File::OpenForReading(GaugeFile());
  const auto requests = [&] {
    uint32_t number = 0;
    file->ReadAt(offsetof(wire::Header, leaks) + offsetof(wire::LeakControl, picture_requests),
                 &number, sizeof number);
    return number;
  };
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t asker = fork();
    if (asker == 0) {
      std::signal(signal, SIG_DFL);  // a shell may have started the test with SIGINT ignored
      AgentCopy::Options options;
      options.timeout_ms = 600'000;
      (void)AgentCopy::Ask(static_cast<uint32_t>(server.pid()), GaugeFile(), options);
      _exit(0);
    }
    EXPECT_TRUE(Eventually("the request is made", [&] { return requests() % 2 != 0; }));
    kill(asker, signal);
    int status = 0;
    const bool ended = static_cast<bool>(
        Eventually("the asker ends", [&] { return waitpid(asker, &status, WNOHANG) != 0; }));
    EXPECT_TRUE(ended) << "it outlives signal " << signal;
    if (!ended) kill(asker, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(requests() % 2, 0u);
  }
  AgentCopy::Options options;
  options.timeout_ms = 10;
  EXPECT_FALSE(AgentCopy::Ask(static_cast<uint32_t>(server.pid()), GaugeFile(), options));
  EXPECT_EQ(requests() % 2, 0u);
}

// Asks in a process of its own, which is killed when `is_time`.
void KillAsker(uint32_t program, const std::string& gauge_path,
               const std::function<bool()>& is_time) {
  const pid_t asker = fork();
  if (asker == 0) {
    AgentCopy::Options options;
    options.timeout_ms = 600'000;
    const auto copy = AgentCopy::Ask(program, gauge_path, options);
    for (;;) pause();
  }
  EXPECT_TRUE(Eventually("it is time to kill the asker", is_time));
  kill(asker, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(asker, &status, 0), asker);
}

TEST_F(CheckProcessTest, ARequestOfAnAskerThatWasKilledIsDropped) {
  StartedProgram server = Start(HEAPGAUGE_SMALL_SERVER);
  int port = 0;
  const std::string line = server.ReadLine();
  ASSERT_EQ(std::sscanf(line.c_str(), "port %d", &port), 1) << line;
  const auto file = File::OpenForReading(GaugeFile());
  const auto words = [&] {
    wire::LeakControl now{};
    file->ReadAt(offsetof(wire::Header, leaks), &now, sizeof now);
    return now;
  };
  const auto program = static_cast<uint32_t>(server.pid());
  kill(server.pid(), SIGSTOP);  // its agent is not to answer yet
  KillAsker(program, GaugeFile(), [&] { return words().picture_requests % 2 != 0; });
  kill(server.pid(), SIGCONT);
  {
    Client client(port);
    EXPECT_TRUE(Eventually("the agent answers", [&] {
      const wire::LeakControl now = words();
      return now.picture_answers == now.picture_requests;
    }));
    EXPECT_EQ(words().picture_pid, 0u) << "a copy for nobody";
    EXPECT_EQ(words().picture_error, static_cast<uint32_t>(ECANCELED));
    // One that is there already does not outlive who asked by a minute. The agent, which would wait
    // for it, is not asked again.
    KillAsker(program, GaugeFile(), [&] { return words().picture_pid != 0; });
    const auto copy = std::to_string(words().picture_pid);
    const auto ended = [&] {
      const auto stat = ReadWholeFile("/proc/" + copy + "/stat", 4096);
      return !stat || stat->find(") Z ") != std::string::npos;
    };
    EXPECT_TRUE(Eventually("the copy ends", ended));
    EXPECT_EQ(client.failed, 0u);
  }
}

// A gauge file that names another child of the program as its copy.
TEST_F(CheckProcessTest, AChildThatIsNoCopyIsLeftAlone) {
  StartedProgram server = Start(HEAPGAUGE_SMALL_SERVER);
  server.ReadLine();
  kill(server.pid(), SIGSTOP);  // its agent is not to answer
  const PausingChild child;
  std::thread answering([&, path = GaugeFile()] {
    constexpr size_t kWords = offsetof(wire::Header, leaks);
    const auto file = File::OpenForUpdate(path);
    wire::LeakControl words{};
    ASSERT_TRUE(Eventually("the request is made", [&] {
      EXPECT_EQ(file->ReadAt(kWords, &words, sizeof words), sizeof words);
      return words.picture_requests % 2 != 0;
    }));
    words.picture_pid = child.id();
    words.picture_answers = words.picture_requests;
    ASSERT_TRUE(file->WriteAt(kWords, &words, sizeof words));
  });
  {
    const auto copy = AgentCopy::Ask(static_cast<uint32_t>(getpid()), GaugeFile(), {});
    answering.join();
    ASSERT_FALSE(copy);
    EXPECT_NE(copy.error().message.find("is no copy of process"), std::string::npos)
        << copy.error().message;
  }
  usleep(50'000);
  EXPECT_EQ(waitpid(child.pid(), nullptr, WNOHANG), 0);
}

}  // namespace
}  // namespace heapgauge::leaks
