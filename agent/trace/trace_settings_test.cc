#include "agent/trace/trace_settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heapgauge::agent {
namespace {

TEST(RecorderLife, IsOverOnceItsProcessIs) {
  struct stat own {};
  ASSERT_EQ(stat("/proc/self/ns/pid", &own), 0);
  TraceSettings settings;
  settings.recorder_namespace = own.st_ino;
  settings.recorder_pid = static_cast<uint32_t>(getpid());
  EXPECT_FALSE(IsRecorderGone(settings));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  settings.recorder_pid = static_cast<uint32_t>(child);
  EXPECT_FALSE(IsRecorderGone(settings)) << "it was not waited for";
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(IsRecorderGone(settings));
  settings.recorder_namespace = own.st_ino + 1;
  EXPECT_FALSE(IsRecorderGone(settings)) << "numbers of another namespace mean nothing here";
  settings.recorder_namespace = 0;
  EXPECT_FALSE(IsRecorderGone(settings));
}

TEST(RecorderLife, OfNobodyIsNotOver) {
  struct stat own {};
  ASSERT_EQ(stat("/proc/self/ns/pid", &own), 0);
  TraceSettings settings;
  settings.recorder_namespace = own.st_ino;
  EXPECT_FALSE(IsRecorderGone(settings));
}

}  // namespace
}  // namespace heapgauge::agent
