#include "core/elf/demangle.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(Demangle, CppNames) {
  EXPECT_EQ(Demangle("_ZN4shop4Cart7AddItemEi"), "shop::Cart::AddItem(int)");
  EXPECT_EQ(Demangle("_Znwm"), "operator new(unsigned long)");
  EXPECT_EQ(Demangle("main"), "main");
  EXPECT_EQ(Demangle("_Znot_a_name"), "_Znot_a_name");
  EXPECT_EQ(Demangle("malloc@@GLIBC_2.2.5"), "malloc");
  EXPECT_EQ(Demangle(""), "");
}

TEST(Demangle, RustLegacyNamesLoseTheirHash) {
  EXPECT_EQ(Demangle("_ZN4core3ptr13drop_in_place17h0123456789abcdefE"),
            "core::ptr::drop_in_place");
  EXPECT_EQ(
      Demangle("_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into17h0123456789abcdefE"),
      "<T as core::convert::Into<U>>::into");
}

TEST(Demangle, RustNamesOfTheNewKind) {
  EXPECT_EQ(Demangle("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(Demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(Demangle("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of::<f64>");
}

TEST(Demangle, LambdasAndAbiTags) {
  EXPECT_EQ(Demangle("_ZZ4mainENKUliE_clEi"), "main::{lambda(int)#1}::operator()(int) const");
  EXPECT_EQ(Demangle("_ZN4shop4NameB5cxx11Ev"), "shop::Name[abi:cxx11]()");
}

TEST(Demangle, SecondNamesOfGlibcAreThoseThatPeopleKnow) {
  EXPECT_EQ(Demangle("__GI___libc_malloc"), "__libc_malloc");
}

// Each type holds the one before twice: the readable form would have 2^200 letters.
TEST(Demangle, NamesThatExplodeAreLeftAlone) {
  std::string name = "_Z1f1AIiiE";
  for (int i = 0; i < 200; ++i) {
    const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string last = i == 0 ? "S0_" : "";
    if (i > 0) {
      int n = i;
      std::string number;
      for (; n > 0; n /= 36) number.insert(number.begin(), digits[n % 36]);
      last = "S" + number + "_";
    }
    name += "S_I" + last + last + "E";
  }
  EXPECT_LE(Demangle(name).size(), size_t{32} << 10);
  EXPECT_LE(Demangle("_ZN" + std::string(2000, 'P') + "i").size(), size_t{32} << 10);
  EXPECT_LE(Demangle("_RNvC1aIC1b" + std::string(2000, 'T') + "E").size(), size_t{32} << 10);
}

TEST(Demangle, AbsurdlyLongNamesAreLeftAlone) {
  const std::string name = "_Z" + std::string(100'000, 'P') + "i";
  EXPECT_EQ(Demangle(name), name);
}

}  // namespace
}  // namespace heapgauge
