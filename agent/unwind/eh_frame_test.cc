#include "agent/unwind/eh_frame.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "agent/unwind/cfa_program.h"
#include "tests/unwind/eh_frame_builder.h"

namespace heapgauge::agent {
namespace {

// def_cfa rsp+8; return address at CFA-8.
const Bytes kEntryRow = {0x0c, 7, 8, 0x90, 1};

class TwoFunctions : public testing::TestWithParam<bool> {
 protected:
  TwoFunctions() {
    const size_t cie = builder_.AddCie("zR", kEntryRow);
    builder_.AddFde(cie, builder_.code() + 0x200, 0x40, {});  // not in order, as linkers may do
    builder_.AddFde(cie, builder_.code(), 0x100, {});
    object_ = builder_.Finish(GetParam());
  }
  bool Finds(uintptr_t offset, FrameDescription* found) {
    return FindFrameDescription(object_, builder_.code() + offset, found);
  }
  EhFrameBuilder builder_;
  LoadedObject object_;
};

TEST_P(TwoFunctions, AreFoundByEveryAddressInThemAndNoOther) {
  FrameDescription found;
  EXPECT_FALSE(FindFrameDescription(object_, builder_.code() - 1, &found));
  ASSERT_TRUE(Finds(0, &found));
  EXPECT_EQ(found.begin, builder_.code());
  EXPECT_EQ(found.end, builder_.code() + 0x100);
  EXPECT_EQ(found.code_alignment, 1u);
  EXPECT_EQ(found.data_alignment, -8);
  EXPECT_EQ(found.return_column, 16u);
  EXPECT_FALSE(found.signal_frame);
  EXPECT_EQ(found.initial_program.left(), kEntryRow.size());
  EXPECT_TRUE(Finds(0xff, &found));
  EXPECT_FALSE(Finds(0x100, &found));
  EXPECT_FALSE(Finds(0x1ff, &found));
  ASSERT_TRUE(Finds(0x200, &found));
  EXPECT_EQ(found.begin, builder_.code() + 0x200);
  EXPECT_TRUE(Finds(0x23f, &found));
  EXPECT_FALSE(Finds(0x240, &found));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTable, TwoFunctions, testing::Bool());

TEST(EhFrame, TellsASignalFrameByItsAugmentation) {
  EhFrameBuilder builder;
  builder.AddFde(builder.AddCie("zRS", kEntryRow), builder.code(), 16, {});
  FrameDescription found;
  ASSERT_TRUE(FindFrameDescription(builder.Finish(), builder.code(), &found));
  EXPECT_TRUE(found.signal_frame);
}

TEST(EhFrame, ReadsAbsoluteAddressesAndPlainAugmentation) {
  for (const char* augmentation : {"zR", ""}) {
    EhFrameBuilder builder;
    builder.AddFde(builder.AddCie(augmentation, kEntryRow, 0x00), builder.code(), 16, {});
    FrameDescription found;
    ASSERT_TRUE(FindFrameDescription(builder.Finish(), builder.code() + 15, &found));
    EXPECT_EQ(found.end, builder.code() + 16);
  }
}

TEST(EhFrame, RefusesAnAugmentationItCannotSkip) {
  EhFrameBuilder builder;
  builder.AddFde(builder.AddCie("Q", kEntryRow), builder.code(), 16, {});
  FrameDescription found;
  EXPECT_FALSE(FindFrameDescription(builder.Finish(), builder.code(), &found));
}

TEST(EhFrame, AnObjectWithoutHeaderHasNoDescriptions) {
  FrameDescription found;
  EXPECT_FALSE(FindFrameDescription(LoadedObject{0x1000, 0x2000, 0}, 0x1800, &found));
}

// Damage of any kind must end in "not found" or in some description, never outside the object: the
// builder's memory ends at an inaccessible page, and the object at its end.
TEST(EhFrame, DamagedBytesAreNeverReadBeyondTheObject) {
  std::mt19937 random(42);
  int found_count = 0;
  for (int round = 0; round < 20'000; ++round) {
    EhFrameBuilder builder;
    const size_t cie = builder.AddCie("zR", kEntryRow);
    builder.AddFde(cie, builder.code(), 0x100, {0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0b});
    const LoadedObject whole = builder.Finish(round % 2 == 0);
    LoadedObject object = whole;
    for (uint32_t i = random() % 4; i > 0; --i) {
      const bool in_header = random() % 3 == 0;
      const size_t at = in_header ? random() % 24
                                  : EhFrameBuilder::kEhFrameOffset +
                                        random() % (object.end - object.start - 4096);
      builder.bytes()[at] = static_cast<uint8_t>(random());
    }
    if (random() % 4 == 0) {  // cut: move to the end of the memory what is left
      const size_t size = 1 + random() % (whole.end - whole.start);
      memmove(builder.bytes() + EhFrameBuilder::kBytes - size, builder.bytes(), size);
      object.end = whole.start + EhFrameBuilder::kBytes;
      object.start = object.end - size;
      object.eh_frame_hdr = object.start;
    }
    FrameDescription found;
    if (FindFrameDescription(object, builder.code() + random() % 0x100, &found)) {
      ++found_count;
      EvaluateProgram(found, builder.code() + 0x80);
    }
  }
  EXPECT_GT(found_count, 1'000);
  EXPECT_LT(found_count, 19'000);
}

TEST(EhFrame, FindsTheFunctionItRunsIn) {
  const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  LoadedObject object;
  ASSERT_TRUE(ObjectAt(pc, &object));
  FrameDescription found;
  ASSERT_TRUE(FindFrameDescription(object, pc, &found));
  EXPECT_LE(found.begin, pc);
  EXPECT_GT(found.end, pc);
  EXPECT_FALSE(ObjectAt(0x1000, &object));
}

}  // namespace
}  // namespace heapgauge::agent
