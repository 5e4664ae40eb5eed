#include "core/formats/jemalloc/jemalloc.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

Profile Read(const std::string& text, const std::string& thread = "") {
  const auto stream = StreamOf(text);
  TextReadOptions options;
  options.thread = thread;
  auto profile = ReadJemalloc(stream.get(), "x.heap", options);
  EXPECT_TRUE(profile) << profile.error().message << "\n" << text;
  return profile ? *std::move(profile) : Profile();
}

std::string Write(const Profile& profile) {
  StringSink sink;
  const Status status = WriteJemalloc(profile, {}, &sink);
  return status ? sink.Take() : status.error().message;
}

TEST(JemallocWriter, WritesWhatWasRead) {
  const std::string text =
      "heap_v2/4096\n"
      "  t*: 3: 30816 [4: 40032]\n"
      "@ 0x1235 0x2345\n"
      "  t*: 1: 9216 [2: 18432]\n"
      "@ 0x1236 0x2345\n"
      "  t*: 2: 21600 [2: 21600]\n"
      "\n"
      "MAPPED_LIBRARIES:\n"
      "00001000-00003000 r-xp 00000000 00:00 0           /bin/x\n";
  EXPECT_EQ(Write(Read(text)), text);
}

TEST(JemallocWriter, KeepsThreads) {
  const std::string text =
      "heap_v2/4096\n"
      "  t*: 3: 30816 [0: 0]\n"
      "  t3: 1: 9216 [0: 0]\n"
      "  t7: 2: 21600 [0: 0] worker\n"
      "@ 0x1235\n"
      "  t*: 3: 30816 [0: 0]\n"
      "  t3: 1: 9216 [0: 0]\n"
      "  t7: 2: 21600 [0: 0]\n";
  const std::string written = Write(Read(text, "*"));
  const Profile all = Read(written, "*");
  ASSERT_EQ(all.rows.size(), 2u) << written;
  EXPECT_EQ(all.values, Read(text, "*").values);
  EXPECT_EQ(all.strings[all.LabelsOf(1)[0].text], "worker");
  EXPECT_EQ(Read(written, "7").values, Read(text, "7").values);
  // The sum is that of the threads, each scaled by itself.
  EXPECT_EQ(Read(written).rows.size(), 2u);
}

}  // namespace
}  // namespace heapgauge
