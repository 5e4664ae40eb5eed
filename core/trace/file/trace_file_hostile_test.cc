// Traces that were damaged, by chance or on purpose: none may crash, hang or ask for much memory,
// and what is whole is still read.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "core/base/file.h"
#include "core/trace/answer/trace_moment.h"
#include "core/trace/file/segment_columns.h"
#include "core/trace/testing/forge_trace.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::FindColumn;
using testing::MakeTrace;
using testing::TemporaryTrace;
using testing::TraceToDamage;
using testing::WithChecksums;

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Checks what readers may rely on.
void ExpectPromisesKept(const TraceFile& trace, const Segment& segment) {
  uint64_t last = 0;
  for (const Event& event : segment.events) {
    ASSERT_GE(event.time_ns, last);
    last = event.time_ns;
    ASSERT_TRUE(event.born == kNoIndex || event.born < segment.blocks.size());
    ASSERT_TRUE(event.died == kNoIndex || event.died < segment.blocks.size());
    if (event.died == kNoIndex) continue;
    ASSERT_EQ(segment.blocks[event.died].death_ns, event.time_ns);
  }
  for (const Block& block : segment.blocks) {
    ASSERT_LT(block.stack, trace.stack_count());
    ASSERT_TRUE(block.thread == kNoIndex || block.thread < trace.threads().size());
    ASSERT_LT(block.number, trace.blocks());
    ASSERT_GE(block.death_ns, block.birth_ns);
    ASSERT_TRUE(block.previous == kNoBlock || block.previous < block.number);
  }
}

// Reads all that can be read. How many segments that were.
size_t ReadAll(const std::string& path) {
  const auto trace = TraceFile::Open(path);
  if (!trace) {
    EXPECT_FALSE(trace.error().message.empty());
    return 0;
  }
  size_t good = 0;
  Segment segment;
  std::vector<StackSums> sums;
  for (size_t i = 0; i < (*trace)->segments().size(); ++i) {
    if ((*trace)->ReadSegment(i, kEverything, &segment)) {
      ++good;
      ExpectPromisesKept(**trace, segment);
    }
    if ((*trace)->ReadSegment(i, kOldBlocks | kAddresses, &segment)) {
      ExpectPromisesKept(**trace, segment);
    }
    if ((*trace)->ReadSums(i, &sums)) {
      for (const StackSums& s : sums) EXPECT_LT(s.stack, (*trace)->stack_count());
    }
  }
  (void)(*trace)->ForEachSurvivor(
      [&](const Block& block) { EXPECT_LT(block.number, (*trace)->blocks()); });
  if (const auto stacks = (*trace)->ReadStacks()) {
    EXPECT_TRUE((*stacks)->profile.Check());
    EXPECT_EQ((*stacks)->stacks.size(), (*trace)->stack_count());
  }
  (void)PeakOf(**trace, false);
  return good;
}

TEST(TraceFileHostile, AFileThatWasCutShortIsReadUpToThere) {
  const std::string bytes = TraceToDamage();
  const TemporaryTrace file;
  size_t last = 0;
  for (size_t size = 0; size < bytes.size(); size += size < 200 ? 7 : 97) {
    WriteBytes(file.path(), bytes.substr(0, size));
    const size_t good = ReadAll(file.path());
    EXPECT_GE(good, last) << size;
    last = good;
  }
  EXPECT_EQ(last, 4);
}

TEST(TraceFileHostile, ATornEndIsToldInANote) {
  const std::string bytes = TraceToDamage(false);
  const TemporaryTrace file;
  WriteBytes(file.path(), bytes.substr(0, bytes.size() - 10));
  const auto trace = TraceFile::Open(file.path());
  ASSERT_TRUE(trace);
  ASSERT_EQ((*trace)->notes().size(), 1);
  EXPECT_NE((*trace)->notes()[0].find("not whole"), std::string::npos);
  const auto stacks = (*trace)->ReadStacks();
  ASSERT_TRUE(stacks);
  EXPECT_EQ((*stacks)->profile.notes, (*trace)->notes());
}

TEST(TraceFileHostile, ZerosBehindTheLastChunkAreLeftOut) {
  const TemporaryTrace file;
  WriteBytes(file.path(), TraceToDamage(false) + std::string(5000, '\0'));
  EXPECT_EQ(ReadAll(file.path()), 4);
}

TEST(TraceFileHostile, AFlippedBitIsFoundByAChecksum) {
  const std::string bytes = TraceToDamage();
  const TemporaryTrace file;
  std::mt19937 random(1);
  for (size_t at = 0; at < bytes.size(); at += 1 + random() % 60) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << random() % 8);
    WriteBytes(file.path(), damaged);
    ReadAll(file.path());
  }
}

TEST(TraceFileHostile, DamageWithRightChecksumsDoesNoHarm) {
  const std::string bytes = TraceToDamage();
  ASSERT_EQ(WithChecksums(bytes), bytes);
  const TemporaryTrace file;
  std::mt19937 random(2);
  size_t noticed = 0;
  for (int round = 0; round < 600; ++round) {
    std::string damaged = bytes;
    for (uint32_t i = 0; i <= random() % 3; ++i) {
      const size_t at = sizeof(FileHeader) + random() % (bytes.size() - sizeof(FileHeader));
      damaged[at] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    WriteBytes(file.path(), WithChecksums(damaged));
    if (ReadAll(file.path()) < 4) ++noticed;
  }
  EXPECT_GT(noticed, 60);
}

TEST(TraceFileHostile, APieceIsAMappingAndYoungerThanWhatItWasMadeOf) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"f"});
  made.Allocate(1, 0, 10, stack);
  made.Cut(3, made.Map(2, 0, 0x4000, stack), 0x1000, 0x1000);
  made.Allocate(4, 0, 10, stack);
  const TemporaryTrace file;
  ASSERT_TRUE(made.Write(file.path()));
  std::string bytes = *ReadWholeFile(file.path(), 1 << 20);
  const std::span<char> piece = FindColumn(&bytes, ChunkType::kSegment, kPieceColumn);
  ASSERT_EQ(std::string(piece.begin(), piece.end()), "\x04\x02");  // block 3 was made of block 1
  for (const int birth : {0, 1, 2, 3, 4, 5, 6, 127, 129, 255}) {
    for (const int back : {0, 1, 2, 3, 4, 127, 255}) {
      piece[0] = static_cast<char>(birth);
      piece[1] = static_cast<char>(back);
      WriteBytes(file.path(), WithChecksums(bytes));
      // The mapping itself might be a piece, of the block before it.
      const bool possible = (birth == 4 && back >= 1 && back <= 3) || (birth == 2 && back == 1);
      EXPECT_EQ(ReadAll(file.path()), possible ? 1 : 0) << birth << ' ' << back;
    }
  }
}

TEST(TraceFileHostile, OtherFilesAreNoTraces) {
  const TemporaryTrace file;
  for (const char* text :
       {"", "H", "hello", "HGTRACF\n and more of that, up to the length of it"}) {
    WriteBytes(file.path(), text);
    const auto trace = TraceFile::Open(file.path());
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, ErrorCode::kNotRecognized);
    EXPECT_FALSE(IsTrace(text));
  }
  std::string newer = TraceToDamage();
  EXPECT_TRUE(IsTrace(newer));
  newer[8] = 99;
  WriteBytes(file.path(), newer);
  const auto trace = TraceFile::Open(file.path());
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(trace.error().message.find("version 99"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge::trace
