#include "core/symbolize/demangle.h"

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

TEST(Demangle, AbsurdlyLongNamesAreLeftAlone) {
  const std::string name = "_Z" + std::string(100'000, 'P') + "i";
  EXPECT_EQ(Demangle(name), name);
}

}  // namespace
}  // namespace heapgauge
