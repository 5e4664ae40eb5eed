#include "core/symbolize/demangle_names.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

std::string Default(const std::string& name) { return DemangledName(name, DemangleMode::kDefault); }

TEST(DemangledName, LeavesOutParametersAndTemplateArgumentsByDefault) {
  EXPECT_EQ(Default("_Z3fooi"), "foo");
  EXPECT_EQ(Default("_ZNSt6vectorIiSaIiEE9push_backERKi"), "std::vector::push_back");
  EXPECT_EQ(Default("_Z3maxIiET_S0_S0_"), "max");
  EXPECT_EQ(Default("_ZNK1A3getEv.isra.0"), "A::get");
  EXPECT_EQ(Default("main"), "main");
  EXPECT_EQ(Default("_start"), "_start");
  EXPECT_EQ(Default("_Zbroken"), "_Zbroken");
}

TEST(DemangledName, KeepsWhatTheModeSays) {
  const std::string name = "_ZNSt6vectorIiSaIiEE9push_backERKi.cold";
  EXPECT_EQ(DemangledName(name, DemangleMode::kTemplates),
            "std::vector<int, std::allocator<int> >::push_back");
  EXPECT_EQ(DemangledName(name, DemangleMode::kFull),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(DemangledName(name, DemangleMode::kMangled), name);
}

TEST(DemangledName, KnowsOperatorsAndLocalFunctions) {
  EXPECT_EQ(Default("_ZlsRSoRK1A"), "operator<<");
  EXPECT_EQ(Default("_ZltIiEbRK1AIT_ES4_"), "operator<");
  EXPECT_EQ(Default("_ZN1AclEi"), "A::operator()");
  EXPECT_EQ(Default("_ZN1AptEv"), "A::operator->");
  EXPECT_EQ(Default("_ZN1AcvSt6vectorIiSaIiEEEv"), "A::operator std::vector");
  EXPECT_EQ(Default("_ZN12_GLOBAL__N_11fEv"), "(anonymous namespace)::f");
  EXPECT_EQ(Default("_ZZ3fooiE3bar"), "foo(int)::bar");
  EXPECT_EQ(Default("_ZZ4mainENKUlSt6vectorIiSaIiEEE_clES1_"),
            "main::{lambda(std::vector)#1}::operator()");
}

TEST(DemangledName, RustNamesKeepTheirAngleBrackets) {
  EXPECT_EQ(Default("_ZN4core3ptr13drop_in_place17h0123456789abcdefE"), "core::ptr::drop_in_place");
  EXPECT_EQ(Default("_ZN29_$LT$a..B$u20$as$u20$c..D$GT$1f17h0123456789abcdefE").find("<a"), 0u);
}

TEST(DemangledName, NamesThatAreDemangledAlreadyAreSimplifiedAsText) {
  EXPECT_EQ(Default("std::vector<int>::push_back(int const&)"), "std::vector::push_back");
  EXPECT_EQ(DemangledName("a::f<int>(b)", DemangleMode::kTemplates), "a::f<int>");
  EXPECT_EQ(DemangledName("a::f<int>(b)", DemangleMode::kFull), "a::f<int>(b)");
  EXPECT_EQ(Default("main.(*T[...]).Method"), "main.(*T[...]).Method");
  EXPECT_EQ(Default("java.util.List.<init>"), "java.util.List.<init>");
  EXPECT_EQ(Default("f(int)"), "f(int)") << "nothing says that it is C++";
  EXPECT_EQ(Default("a::b)(c"), "a::b)(c");
}

TEST(WithoutTemplates, LooksThroughExpressions) {
  EXPECT_EQ(WithoutTemplates("f<(1)<(2)>"), "f");
  EXPECT_EQ(WithoutTemplates("f<((a)>(b)), std::g<int> >::h"), "f::h");
  EXPECT_EQ(WithoutTemplates("operator< <int>"), "operator<");
  EXPECT_EQ(WithoutTemplates("broken<int"), "broken<int");
  EXPECT_EQ(WithoutTemplates("my_operator<int>"), "my_operator");
}

TEST(DemangleNames, LeavesNamesThatDifferFromTheLinkersUnlessForced) {
  Profile profile;
  profile.functions.resize(4);
  profile.functions[0].name = "_Z3fooi";
  profile.functions[1].name = "bar(int)";
  profile.functions[1].system_name = "_Z3bari";
  profile.functions[2].name = "a::b<c>";
  profile.functions[2].no_system_name = true;
  profile.functions[3].name = "main";
  DemangleNames(DemangleMode::kDefault, false, &profile);
  EXPECT_EQ(profile.functions[0].name, "foo");
  EXPECT_EQ(profile.functions[0].system_name, "_Z3fooi");
  EXPECT_EQ(profile.functions[1].name, "bar(int)");
  EXPECT_EQ(profile.functions[2].name, "a::b<c>");
  EXPECT_EQ(profile.functions[3].system_name, "");
  DemangleNames(DemangleMode::kDefault, true, &profile);
  EXPECT_EQ(profile.functions[1].name, "bar");
  EXPECT_EQ(profile.functions[1].system_name, "_Z3bari");
  DemangleNames(DemangleMode::kMangled, true, &profile);
  EXPECT_EQ(profile.functions[0].name, "_Z3fooi");
}

}  // namespace
}  // namespace heapgauge
