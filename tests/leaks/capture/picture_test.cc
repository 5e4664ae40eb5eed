#include "core/leaks/capture/picture.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstdlib>
#include <random>

#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/capture/stopped_process.h"
#include "tests/leaks/capture/call_filter.h"
#include "tests/leaks/capture/child.h"
#include "tests/leaks/capture/started_program.h"
#include "tests/leaks/capture/tracing_test.h"

namespace heapgauge::leaks {
namespace {

class PictureTest : public TracingTest {};

struct Addresses {
  unsigned long first = 0;
  unsigned long second = 0;
};

Addresses ReadyLine(StartedProgram* program) {
  Addresses a;
  const std::string line = program->ReadLine();
  EXPECT_EQ(std::sscanf(line.c_str(), "ready %lx %lx", &a.first, &a.second), 2) << line;
  return a;
}

void TakeMany(StartedProgram* program, const Addresses& pair, const PictureOptions& options,
              int rounds, Look expected) {
  for (int i = 0; i < rounds; ++i) {
    auto picture = Picture::Take(static_cast<uint32_t>(program->pid()), options);
    ASSERT_TRUE(picture) << picture.error().message;
    EXPECT_EQ((*picture)->look(), expected);
    EXPECT_GE((*picture)->threads().size(), 11u);
    const ProcessMemoryImage image((*picture)->memory_process());
    uint64_t first = 0;
    uint64_t second = 0;
    ASSERT_EQ(image.Read(pair.first, sizeof first, &first), sizeof first);
    usleep(2000);  // a program that ran would have gone on
    ASSERT_EQ(image.Read(pair.second, sizeof second, &second), sizeof second);
    EXPECT_LE(first - second, 1u) << "not of one instant";
    (*picture)->Release();
    EXPECT_GT((*picture)->pause_ns(), 0u);
    ASSERT_TRUE((*picture)->notes().empty() ||
                (*picture)->notes()[0].find("waits in the kernel") != std::string::npos)
        << (*picture)->notes()[0];
  }
}

TEST_F(PictureTest, ABusyProgramDoesNotNoticeThatItIsCopied) {
  StartedProgram program({HEAPGAUGE_BUSY_PROGRAM});
  const Addresses pair = ReadyLine(&program);
  PictureOptions options;
  options.may_look_in_place = false;
  TakeMany(&program, pair, options, Rounds(30), Look::kCopy);
  int status = 0;
  const std::string said = program.Finish(&status);
  EXPECT_NE(said.find("undisturbed: 0 wrong, 0 interrupted, 0 left behind"), std::string::npos)
      << said;
}

TEST_F(PictureTest, NorThatItIsLookedAtInPlace) {
  StartedProgram program({HEAPGAUGE_BUSY_PROGRAM});
  const Addresses pair = ReadyLine(&program);
  PictureOptions options;
  options.in_place = true;
  TakeMany(&program, pair, options, Rounds(30), Look::kInPlace);
  int status = 0;
  const std::string said = program.Finish(&status);
  EXPECT_NE(said.find("undisturbed: 0 wrong, 0 interrupted, 0 left behind"), std::string::npos)
      << said;
}

// Some waits end by EINTR then, and a dead copy may be left for its parent; nothing worse.
TEST_F(PictureTest, WhoeverTakesItMayBeKilledAtAnyMoment) {
  StartedProgram program({HEAPGAUGE_BUSY_PROGRAM});
  ReadyLine(&program);
  std::mt19937 random(1);
  for (int i = 0; i < Rounds(60); ++i) {
    StartedProgram taker({HEAPGAUGE_TAKE_PICTURES, std::to_string(program.pid()), "1000"});
    const timespec nap{0, static_cast<long>(2'000'000 + random() % 30'000'000)};
    nanosleep(&nap, nullptr);
  }
  // Everything is let go; and what was left behind is cleared away.
  auto picture = Picture::Take(static_cast<uint32_t>(program.pid()), {});
  ASSERT_TRUE(picture) << picture.error().message;
  (*picture)->Release();
  int status = 0;
  const std::string said = program.Finish(&status);
  EXPECT_NE(said.find("undisturbed: 0 wrong"), std::string::npos) << said;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << said;
}

TEST_F(PictureTest, AProcessThatIsTracedAlreadySaysByWhom) {
  const PausingChild child;
  ASSERT_EQ(ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr), 0);
  const auto picture = Picture::Take(child.id(), {});
  ASSERT_FALSE(picture);
  EXPECT_EQ(picture.error().code, ErrorCode::kHeld);
  EXPECT_EQ(picture.error().holder, static_cast<uint32_t>(getpid()));
  EXPECT_NE(picture.error().message.find("is traced by " + std::to_string(getpid())),
            std::string::npos)
      << picture.error().message;
}

TEST_F(PictureTest, AStoppedProcessStaysStopped) {
  const PausingChild child;
  kill(child.pid(), SIGSTOP);
  ASSERT_TRUE(child.EventuallyIs('T'));
  for (int i = 0; i < 3; ++i) {
    auto picture = Picture::Take(child.id(), {});
    ASSERT_TRUE(picture) << picture.error().message;
    EXPECT_EQ((*picture)->look(), Look::kCopy);
    (*picture)->Release();
    EXPECT_EQ(child.settled_state(), 'T');
  }
  kill(child.pid(), SIGCONT);
  EXPECT_TRUE(child.EventuallyIs('S'));
}

TEST_F(PictureTest, AFilterOfSystemCallsIsNotPutToTheTest) {
  Child child([](auto ready) {
    if (ForbidCalls(SYS_clone, Calls::kThis)) ready();
    while (true) pause();
  });
  auto picture = Picture::Take(child.id(), {});
  ASSERT_TRUE(picture) << picture.error().message;
  EXPECT_EQ((*picture)->look(), Look::kInPlace);
  EXPECT_NE((*picture)->notes().at(0).find("seccomp"), std::string::npos);
  (*picture)->Release();
  EXPECT_EQ(child.settled_state(), 'S');
  PictureOptions copy_only;
  copy_only.may_look_in_place = false;
  EXPECT_FALSE(Picture::Take(child.id(), copy_only));
  EXPECT_EQ(child.settled_state(), 'S');
}

TEST_F(PictureTest, ABusyProgramDoesNotNoticeThatItDidNotStopInTime) {
  StartedProgram program({HEAPGAUGE_BUSY_PROGRAM});
  ReadyLine(&program);
  int late = 0;
  for (int i = 0; i < Rounds(30); ++i) {
    StoppedProcess stopped;
    const Status status = stopped.Stop(program.pid(), 0);
    if (status) continue;
    ++late;
    EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(status.error().message.find("could not be stopped within 0 s"), std::string::npos)
        << status.error().message;
    EXPECT_GT(stopped.stood_still_ns(), 0u);
    EXPECT_TRUE(stopped.threads().empty());
    EXPECT_FALSE(IsTraced(program.pid()));
  }
  EXPECT_GT(late, 0);
  int status = 0;
  const std::string said = program.Finish(&status);
  EXPECT_NE(said.find("undisturbed: 0 wrong, 0 interrupted, 0 left behind"), std::string::npos)
      << said;
}

TEST_F(PictureTest, AThreadThatWaitsForAVforkChildIsDoneWithout) {
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  Child child([&](auto ready) {
    if (vfork() == 0) {
      ready();
      char byte = 0;
      const ssize_t got = read(gate[0], &byte, 1);
      _exit(got == 1 ? 0 : 1);
    }
    while (true) pause();
  });
  const auto picture = Picture::Take(child.id(), {});
  ASSERT_TRUE(picture) << picture.error().message;
  ASSERT_FALSE((*picture)->notes().empty());
  EXPECT_NE((*picture)->notes()[0].find("could not be stopped"), std::string::npos);
  EXPECT_EQ((*picture)->threads().size(), 1u);
  EXPECT_NE((*picture)->threads()[0].stack_pointer, 0u);
  (*picture)->Release();
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  EXPECT_TRUE(child.EventuallyIs('S'));
}

TEST_F(PictureTest, AChildThatEndsWhileItIsTracedKeepsItsExitCode) {
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    _exit(read(gate[0], &byte, 1) == 1 ? 3 : 1);
  }
  ASSERT_EQ(Seize(child), 0);
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  constexpr uint64_t kLongestNs = 120 * kSecondNs;
  EXPECT_EQ(WaitForStop(child, MonotonicNow() + kLongestNs).kind, StopKind::kGone);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST_F(PictureTest, AProcessThatIsGoneIsNotFound) {
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  const auto picture = Picture::Take(static_cast<uint32_t>(gone), {});
  ASSERT_FALSE(picture);
  EXPECT_EQ(picture.error().code, ErrorCode::kNotFound) << picture.error().message;
}

}  // namespace
}  // namespace heapgauge::leaks
