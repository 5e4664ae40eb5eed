#include "core/base/function_name.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(SymbolName, ParametersGo) {
  EXPECT_EQ(WithoutParameters("f(int, char const*)"), "f");
  EXPECT_EQ(WithoutParameters("ns::C<int>::m(int) const"), "ns::C<int>::m");
  EXPECT_EQ(WithoutParameters("main"), "main");
  EXPECT_EQ(WithoutParameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(WithoutParameters("C::operator()(int) const"), "C::operator()");
  EXPECT_EQ(WithoutParameters("C::operator<(C const&)"), "C::operator<");
  EXPECT_EQ(WithoutParameters("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(WithoutParameters("f(int)::{lambda(int)#1}::operator()(int) const"),
            "f(int)::{lambda(int)#1}::operator()");
  EXPECT_EQ(WithoutParameters("std::function<int (int)>::call(int)"),
            "std::function<int (int)>::call");
  EXPECT_EQ(WithoutParameters("f(int) [clone .part.0]"), "f [clone .part.0]");
  EXPECT_EQ(WithoutParameters("((("), "(((");
}

TEST(SymbolName, LinesOfUnnamedTypesGo) {
  EXPECT_EQ(WithoutLines("Work()::{unnamed type, line 6}::operator()()"),
            "Work()::{unnamed type}::operator()()");
  EXPECT_EQ(WithoutLines("f()::{lambda(int), line 9}::g::{unnamed type, line 12}::h", "*"),
            "f()::{lambda(int)*}::g::{unnamed type*}::h");
  EXPECT_EQ(WithoutLines("online(int, line 7)"), "online(int, line 7)");
  EXPECT_EQ(WithoutLines(", line "), ", line ");
  EXPECT_EQ(WithoutLines(""), "");
}

}  // namespace
}  // namespace heapgauge
