// Programs that a picture could kill or hold up if it were taken without care.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "core/base/file.h"
#include "core/base/testing/eventually.h"
#include "core/leaks/capture/picture.h"
#include "core/os/proc_fields.h"
#include "tests/leaks/capture/call_filter.h"
#include "tests/leaks/capture/child.h"
#include "tests/leaks/capture/started_program.h"
#include "tests/leaks/capture/tracing_test.h"

namespace heapgauge::leaks {
namespace {

class UnharmedTest : public TracingTest {};

std::string Children(pid_t process) {
  const std::string id = std::to_string(process);
  return ReadWholeFile("/proc/" + id + "/task/" + id + "/children", 4096).value_or("?");
}

std::string Filters(const std::string& process) {
  return StatusField(ReadStatus("/proc/" + process), "Seccomp_filters");
}

TEST_F(UnharmedTest, AProgramThatBecomesAnotherOneMeanwhile) {
  int gate[2];
  ASSERT_EQ(pipe2(gate, O_CLOEXEC), 0);
  Child child([&](auto ready) {
    ready();
    char byte = 0;
    if (read(gate[0], &byte, 1) == 1) execl("/bin/sleep", "sleep", "1000", nullptr);
  });
  auto picture = Picture::Take(child.id(), {});
  ASSERT_TRUE(picture) << picture.error().message;
  ASSERT_EQ((*picture)->look(), Look::kCopy);
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  const std::string name = "/proc/" + std::to_string(child.id()) + "/comm";
  ASSERT_TRUE(Eventually("the child is another program",
                         [&] { return ReadWholeFile(name, 64).value_or("") == "sleep\n"; }));
  // When it sleeps it has mapped its libraries.
  ASSERT_TRUE(child.EventuallyIs('S'));
  (*picture)->Release();
  EXPECT_EQ(child.settled_state(), 'S');
  EXPECT_EQ(Children(child.pid()), "") << "the copy is waited for all the same";
  EXPECT_TRUE((*picture)->notes().empty()) << (*picture)->notes()[0];
}

// Whether one thread of the process has a filter of system calls, and all wait.
bool HasFilter(pid_t process) {
  bool has_filter = false;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    const std::string status = ReadStatus(task.path());
    has_filter = has_filter || StatusField(status, "Seccomp_filters") != Filters("self");
    if (!StatusField(status, "State").starts_with("S")) return false;
  }
  return has_filter;
}

TEST_F(UnharmedTest, AThreadWithAFilterOfItsOwnIsNotMadeToCall) {
  int never[2];
  ASSERT_EQ(pipe(never), 0);
  Child child([&](auto ready) {
    std::thread([&] {
      ready();
      ForbidCalls(SYS_read, Calls::kAllButThis);
      char byte = 0;
      while (read(never[0], &byte, 1) >= 0) {
      }
    }).detach();
    // A wait with a timeout: other threads are preferred.
    Sleep();
  });
  ASSERT_TRUE(Eventually("the thread has its filter", [&] { return HasFilter(child.pid()); }));
  auto picture = Picture::Take(child.id(), {});
  ASSERT_TRUE(picture) << picture.error().message;
  EXPECT_EQ((*picture)->look(), Look::kCopy);
  (*picture)->Release();
  EXPECT_EQ(child.settled_state(), 'S');
  EXPECT_EQ(Children(child.pid()), "");
}

TEST_F(UnharmedTest, AThreadWhoseCallsGoElsewhereIsNotMadeToCall) {
  constexpr int kSetUserDispatch = 59;
  constexpr auto kGetUserDispatch = static_cast<__ptrace_request>(0x4211);
  void* const shared =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const selector = static_cast<volatile char*>(shared);
  if (prctl(kSetUserDispatch, 1, 0, 0, selector) != 0) {
    GTEST_SKIP() << "this kernel has no dispatch of system calls";
  }
  ASSERT_EQ(prctl(kSetUserDispatch, 0, 0, 0, 0), 0);
  Child child([&](auto ready) {
    const bool set = prctl(kSetUserDispatch, 1, 0, 0, selector) == 0;
    ready();
    if (!set) return;
    while (true) *selector = 1;
  });
  ASSERT_TRUE(Eventually("the child makes no more calls", [&] { return *selector == 1; }));
  uint64_t configuration[4] = {};
  ASSERT_EQ(ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr), 0);
  ASSERT_EQ(ptrace(PTRACE_INTERRUPT, child.pid(), nullptr, nullptr), 0);
  ASSERT_EQ(waitpid(child.pid(), nullptr, __WALL), child.pid());
  const bool tells =
      ptrace(kGetUserDispatch, child.pid(), sizeof configuration, configuration) >= 0;
  ASSERT_EQ(ptrace(PTRACE_DETACH, child.pid(), nullptr, nullptr), 0);
  if (!tells) GTEST_SKIP() << "this kernel does not tell of it";
  auto picture = Picture::Take(child.id(), {});
  ASSERT_TRUE(picture) << picture.error().message;
  EXPECT_EQ((*picture)->look(), Look::kInPlace);
  (*picture)->Release();
  EXPECT_EQ(child.state(), 'R');
}

// Takes milliseconds to copy, but little memory.
void MapManyPages() {
  constexpr size_t kBytes = size_t{1} << 30;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  auto* const bytes = static_cast<volatile char*>(memory);
  bytes[0] = 1;
  for (size_t i = 4096; i < kBytes; i += 4096) (void)bytes[i];
}

// A picture of a child to which another thread does something as soon as it is traced.
struct DisturbedPicture {
  Result<std::unique_ptr<Picture>> picture;
  bool disturbed = false;  // not if it was over before the other thread saw it
};
template <typename Disturb>
DisturbedPicture TakeDisturbed(const Child& child, Disturb&& disturb) {
  std::atomic<bool> over{false};
  bool disturbed = false;
  std::thread other([&] {
    while (!IsTraced(child.pid())) {
      if (over) return;
    }
    disturbed = true;
    disturb();
  });
  auto picture = Picture::Take(child.id(), {});
  over = true;
  other.join();
  return {std::move(picture), disturbed};
}

TEST_F(UnharmedTest, AProgramThatIsStoppedAndContinuedMeanwhileGoesOn) {
  Child child([](auto ready) {
    MapManyPages();
    ready();
    Sleep();
  });
  int disturbed = 0;
  for (int i = 0; i < Rounds(20); ++i) {
    const DisturbedPicture taken = TakeDisturbed(child, [&] {
      usleep(static_cast<useconds_t>(i % 4) * 500);
      kill(child.pid(), SIGSTOP);
      usleep(static_cast<useconds_t>(i % 5) * 1000 + 100);
      kill(child.pid(), SIGCONT);
    });
    const auto& picture = taken.picture;
    ASSERT_TRUE(picture) << picture.error().message;
    EXPECT_EQ((*picture)->look(), Look::kCopy)
        << ((*picture)->notes().empty() ? "" : (*picture)->notes()[0]);
    (*picture)->Release();
    ASSERT_EQ(child.settled_state(), 'S') << "in round " << i;
    disturbed += taken.disturbed;
  }
  EXPECT_GT(disturbed, 0);
}

TEST_F(UnharmedTest, AProgramThatIsStoppedMeanwhileStaysStopped) {
  Child child([](auto ready) {
    MapManyPages();
    ready();
    Sleep();
  });
  int disturbed = 0;
  for (int i = 0; i < Rounds(10); ++i) {
    const DisturbedPicture taken = TakeDisturbed(child, [&] {
      usleep(static_cast<useconds_t>(i % 5) * 500);
      kill(child.pid(), SIGSTOP);
    });
    const auto& picture = taken.picture;
    ASSERT_TRUE(picture) << picture.error().message;
    (*picture)->Release();
    if (!taken.disturbed) continue;
    ++disturbed;
    ASSERT_EQ(child.settled_state(), 'T') << "in round " << i;
    kill(child.pid(), SIGCONT);
    ASSERT_TRUE(child.EventuallyIs('S'));
  }
  EXPECT_GT(disturbed, 0);
}

TEST_F(UnharmedTest, AProgramThatIsStoppedAndContinuedAgainAndAgainIsCopied) {
  const SleepingChild child;
  std::atomic<bool> ending{false};
  std::thread other([&] {
    while (!ending) {
      kill(child.pid(), SIGSTOP);
      kill(child.pid(), SIGCONT);
      usleep(1000);
    }
  });
  for (int i = 0; i < Rounds(100); ++i) {
    auto picture = Picture::Take(child.id(), {});
    EXPECT_TRUE(picture) << picture.error().message;
    if (!picture) break;
    (*picture)->Release();
    EXPECT_EQ((*picture)->look(), Look::kCopy);
    EXPECT_TRUE((*picture)->notes().empty()) << (*picture)->notes()[0];
  }
  ending = true;
  other.join();
  EXPECT_EQ(child.settled_state(), 'S');
  EXPECT_EQ(Children(child.pid()), "");
}

TEST_F(UnharmedTest, FilesOfAProgramThatEndsMeanwhileAreClosed) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  std::unique_ptr<Picture> picture;
  {
    const SleepingChild child;
    close(pipe_ends[1]);
    auto taken = Picture::Take(child.id(), {});
    ASSERT_TRUE(taken) << taken.error().message;
    ASSERT_EQ((*taken)->look(), Look::kCopy);
    picture = *std::move(taken);
  }
  // It had the other end.
  ASSERT_EQ(fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK), 0);
  char byte = 0;
  EXPECT_EQ(read(pipe_ends[0], &byte, 1), 0);
  EXPECT_TRUE(picture->intact());
  close(pipe_ends[0]);
}

TEST_F(UnharmedTest, AWaitForMessagesWithATimeoutGoesOn) {
  Child child([](auto ready) {
    int ends[2];
    const timeval timeout{1000, 0};
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0) {
      return;
    }
    char byte = 0;
    iovec to{&byte, 1};
    mmsghdr message{};
    message.msg_hdr.msg_iov = &to;
    message.msg_hdr.msg_iovlen = 1;
    ready();
    recvmmsg(ends[0], &message, 1, 0, nullptr);
  });
  ASSERT_TRUE(child.EventuallyIs('S'));
  auto picture = Picture::Take(child.id(), {});
  ASSERT_TRUE(picture) << picture.error().message;
  (*picture)->Release();
  EXPECT_EQ(child.settled_state(), 'S');
}

long CopyOf(pid_t process) { return std::strtol(Children(process).c_str(), nullptr, 10); }

TEST_F(UnharmedTest, ACopyThatIsKilledAtOnceIsWaitedFor) {
  const SleepingChild child;
  PictureOptions options;
  options.while_stopped = [&] { kill(static_cast<pid_t>(CopyOf(child.pid())), SIGKILL); };
  EXPECT_FALSE(Picture::Take(child.id(), options));
  EXPECT_EQ(Children(child.pid()), "");
  EXPECT_EQ(child.settled_state(), 'S');
}

// By that a later picture knows it if whoever takes this one is killed.
TEST_F(UnharmedTest, TheCopyIsMarkedBeforeTheProgramGoesOn) {
  const SleepingChild child;
  std::string score;
  PictureOptions options;
  options.while_stopped = [&] {
    const std::string copy = std::to_string(CopyOf(child.pid()));
    score = ReadWholeFile("/proc/" + copy + "/oom_score_adj", 16).value_or("");
  };
  auto picture = Picture::Take(child.id(), options);
  ASSERT_TRUE(picture) << picture.error().message;
  EXPECT_EQ(score, "1000\n");
}

// Whether all children of a process are zombies.
bool AllHaveEnded(pid_t process) {
  std::istringstream children(Children(process));
  for (uint32_t child = 0; children >> child;) {
    const auto info = ReadProcess(child);
    if (info && !info->ended()) return false;
  }
  return true;
}

TEST_F(UnharmedTest, CopiesOfThoseWhoWereKilledAtOnceAreClearedAway) {
  Child child([](auto ready) {
    MapManyPages();
    ready();
    Sleep();
  });
  int left = 0;
  for (int i = 0; i < Rounds(8); ++i) {
    {
      // It takes one picture after the other: the copy that this sees need not be the first.
      StartedProgram taker({HEAPGAUGE_TAKE_PICTURES, std::to_string(child.id()), "1000000"});
      ASSERT_TRUE(Eventually(
          "a copy is made", [&] { return !Children(child.pid()).empty(); },
          std::chrono::microseconds(0)));
      usleep(static_cast<useconds_t>(i) * 50);
    }
    ASSERT_TRUE(Eventually("the program is let go", [&] { return !IsTraced(child.pid()); }));
    // A call that was under way may have made the copy just now.
    ASSERT_EQ(child.settled_state(), 'S');
    ASSERT_TRUE(Eventually("the copies end", [&] { return AllHaveEnded(child.pid()); }));
    left += Children(child.pid()).empty() ? 0 : 1;
    auto picture = Picture::Take(child.id(), {});
    ASSERT_TRUE(picture) << picture.error().message;
    (*picture)->Release();
    EXPECT_EQ(Children(child.pid()), "") << "in round " << i;
  }
  EXPECT_GT(left, 0);
}

}  // namespace
}  // namespace heapgauge::leaks
