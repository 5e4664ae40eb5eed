#include "core/base/short_name.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "core/base/text.h"

namespace heapgauge {
namespace {

using Cases = std::vector<std::pair<const char*, const char*>>;

void Check(const Cases& cases, const ShortNameOptions& options = {}) {
  for (const auto& [name, expected] : cases) EXPECT_EQ(ShortName(name, options), expected) << name;
}

TEST(ShortName, FoldsTemplatesAndParameters) {
  Check({
      {"main", "main"},
      {"f(int, char const*)", "f"},
      {"std::vector<std::pair<int, Foo> >::push_back(Foo const&)", "std::vector<…>::push_back"},
      {"ns::C<int>::m(int) const", "ns::C<…>::m"},
      {"C<>::m()", "C<>::m"},
      {"void std::vector<int>::_M_realloc_insert<int const&>(int*, int const&)",
       "std::vector<…>::_M_realloc_insert<…>"},
      {"unsigned long ns::f<3ul>(unsigned long)", "ns::f<…>"},
      {"f(void (*)(int), std::function<int (int)>)", "f"},
      {"void (*pick<int>(int))(char)", "pick<…>"},
      {"decltype (((declval<A>)()).f()) call<A>(A&&)", "call<…>"},
      {"decltype(auto) call<A>(A&&)", "call<…>"},
      {"std::enable_if<((N)<(4)), int>::type g<5>(int)", "g<…>"},
      {"f[abi:cxx11](int)", "f[abi:cxx11]"},
      {"non-virtual thunk to A::f(int)", "non-virtual thunk to A::f"},
      {"A::~A()", "A::~A"},
  });
}

TEST(ShortName, KeepsOperators) {
  Check({
      {"C::operator()(int) const", "C::operator()"},
      {"C::operator<(C const&)", "C::operator<"},
      {"bool operator< <int>(V<int> const&, V<int> const&)", "operator< <…>"},
      {"C::operator->() const", "C::operator->"},
      {"C::operator->*(int)", "C::operator->*"},
      {"std::ostream& operator<< <char>(int)", "operator<< <…>"},
      {"C::operator<=>(C const&) const", "C::operator<=>"},
      {"operator new[](unsigned long)", "operator new[]"},
      {"operator new(unsigned long, std::align_val_t)", "operator new"},
      {"C::operator std::vector<int, std::allocator<int> >() const", "C::operator std::vector<…>"},
      {"C::operator bool() const", "C::operator bool"},
      {"C::operator[](int)", "C::operator[]"},
      {"my_operator_thing<int>(int)", "my_operator_thing<…>"},
      {"f<&A::operator->>(int)", "f<…>"},
  });
}

TEST(ShortName, KeepsScopesThatAreNotNames) {
  Check({
      {"Server::Run()::{lambda(int)#2}::operator()(int) const",
       "Server::Run::{lambda#2}::operator()"},
      {"Server::Run()::{lambda(int)#2}", "Server::Run::{lambda#2}"},
      {"Server::Run()::{unnamed type, line 26}::operator()(int)",
       "Server::Run::{unnamed type, line 26}::operator()"},
      {"Server::Run() const::{lambda()#1}::operator()() const",
       "Server::Run::{lambda#1}::operator()"},
      {"Server::Run()::'lambda'(int)::operator()(int) const", "Server::Run::'lambda'::operator()"},
      {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
      {"int (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<…>"},
      {"a::(anonymous namespace)::B<int>::f()", "a::(anonymous namespace)::B<…>::f"},
      {"f(int) [clone .part.0]", "f [clone .part.0]"},
      {"f(int)::g(int)::h", "f::g::h"},
      {"f(int) const &::x", "f::x"},
  });
}

TEST(ShortName, KnowsTheStandardLibrary) {
  Check({
      {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
       ">::append(char)",
       "std::string::append"},
      {"std::basic_string<wchar_t, std::char_traits<wchar_t> >::f()", "std::wstring::f"},
      {"std::basic_ostream<char, std::char_traits<char> >::flush()", "std::ostream::flush"},
      {"std::basic_string<char16_t>::f()", "std::basic_string<…>::f"},
      {"std::__1::vector<int, std::__1::allocator<int> >::push_back(int)",
       "std::vector<…>::push_back"},
      {"std::__cxx11::list<int>::f()", "std::list<…>::f"},
  });
}

TEST(ShortName, KnowsRust) {
  Check({
      {"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
       "<alloc::vec::Vec<…> as core::iter::Extend<…>>::extend"},
      {"core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<…>"},
      {"core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place::<…>"},
      {"server::run::h0123456789abcdef", "server::run"},
      {"server::run::{{closure}}::h0123456789abcdef", "server::run::{{closure}}"},
      {"<server::Pool>::grow::{closure#0}", "<server::Pool>::grow::{closure#0}"},
      {"<&mut W as core::fmt::Write>::write_str", "<&mut W as core::fmt::Write>::write_str"},
      {"<<T as A>::B as C>::m", "<<T as A>::B as C>::m"},
      {"h0123456789abcdef", "h0123456789abcdef"},
  });
}

TEST(ShortName, CanKeepWhatTellsOverloadsApart) {
  ShortNameOptions parameters;
  parameters.parameters = true;
  Check({{"f(int, std::vector<int>)", "f(int, std::vector<…>)"},
         {"C::m() const", "C::m() const"},
         {"f(std::__cxx11::basic_string<char, std::char_traits<char> > const&)",
          "f(std::string const&)"}},
        parameters);
  ShortNameOptions templates;
  templates.template_levels = templates.own_levels = 1;
  Check({{"std::vector<std::pair<int, Foo>, std::allocator<std::pair<int, Foo> > >::at(int)",
          "std::vector<std::pair<…>>::at"},
         {"std::map<int, A, std::less<int>, std::allocator<int> >::f()", "std::map<int, A>::f"}},
        templates);
}

TEST(ShortName, CanKeepArgumentsOfScopesOrTheFunctionsOwn) {
  const char* node =
      "std::_Rb_tree<int, std::pair<int const, A>, std::_Select1st<std::pair<int const, A> >, "
      "std::less<int>, std::allocator<std::pair<int const, A> > "
      ">::_Auto_node::_Auto_node<std::piecewise_construct_t const&, std::tuple<int&&>, "
      "std::tuple<> >(std::piecewise_construct_t const&)";
  ShortNameOptions scopes;
  scopes.template_levels = 1;
  Check({{node, "std::_Rb_tree<int, std::pair<…>>::_Auto_node::_Auto_node<…>"},
         {"C<int>::operator< <char>(char)", "C<int>::operator< <…>"},
         {"C<int>::f(int)::{lambda(A<int>)#1}::operator()(A<int>) const",
          "C<int>::f::{lambda#1}::operator()"},
         {"std::_Hashtable<int, std::pair<int const, A>, std::allocator<std::pair<int const, A> >, "
          "std::__detail::_Select1st, std::equal_to<int>, std::hash<int>, "
          "std::__detail::_Mod_range_hashing, std::__detail::_Hashtable_traits<false, false, true> "
          ">::_M_insert<B>(B&&)",
          "std::_Hashtable<int, std::pair<…>>::_M_insert<…>"}},
        scopes);
  ShortNameOptions own;
  own.own_levels = 1;
  Check({{"C<int>::f<char, std::vector<int> >(char)", "C<…>::f<char, std::vector<…>>"},
         {"void f<int>(int)", "f<int>"}},
        own);
}

TEST(ShortName, IsNeverEmptyAndSurvivesAnything) {
  for (const char* name :
       {"(",         ")",        "<",         ">",      "<>",     "()", "::",  "(((",     ")))",
        "<<<<",      "operator", "operator<", " (",     "f(",     "f<", "{",   "{lambda", "a b(",
        "decltype(", "(*",       "(*)",       " x::y ", "void (", "?",  "<<T", "f(int) "}) {
    EXPECT_NE(ShortName(name), "") << name;
    EXPECT_NE(TrimName(ShortName(name), 5), "") << name;
  }
  EXPECT_EQ(ShortName(""), "");
  std::mt19937 random(1);
  static constexpr std::string_view kParts[] = {"<",        ">",
                                                "(",        ")",
                                                "{",        "}",
                                                "[",        "]",
                                                "::",       " ",
                                                "operator", "a",
                                                "std::",    "basic_string",
                                                "char",     ",",
                                                "->",       "lambda",
                                                "#1",       "(anonymous namespace)",
                                                "const",    "*",
                                                "&",        "decltype",
                                                "\xe2"};
  for (int i = 0; i < 20000; ++i) {
    std::string name = "f::";
    for (size_t k = random() % 24; k > 0; --k) name += kParts[random() % std::size(kParts)];
    for (int levels = 0; levels < 2; ++levels) {
      ShortNameOptions options;
      options.template_levels = levels;
      options.own_levels = static_cast<int>(random() % 2);
      options.parameters = random() % 2 == 0;
      const std::string made = ShortName(name, options);
      EXPECT_NE(made, "") << name;
      EXPECT_LE(made.size(), 3 * name.size()) << name;
      EXPECT_LE(DisplayWidth(TrimName(made, 10)), 10u) << name;
    }
  }
}

// Not a measurement: anything worse than linear would not come back from these.
TEST(ShortName, IsLinear) {
  constexpr size_t kLong = 2'000'000;
  for (const char* unit : {"<", "(", "f<", "a::", "operator<", "operator ", "<T as ", "{lambda(",
                           "x ", "(*", "f(int)::", ", std::allocator<", "basic_string<char"}) {
    std::string name;
    while (name.size() < kLong) name += unit;
    EXPECT_NE(ShortName(name), "");
    EXPECT_NE(TrimName(name, 40), "");
  }
}

TEST(TrimName, FoldsTemplatesFirstAndKeepsTheClass) {
  const char* name = "std::_Rb_tree<int, std::pair<…>>::_Auto_node::_Auto_node<std::tuple<…>, B>";
  EXPECT_EQ(TrimName(name, 74), name);
  EXPECT_EQ(TrimName(name, 73), "std::_Rb_tree<int, std::pair<…>>::_Auto_node::_Auto_node<…>");
  EXPECT_EQ(TrimName(name, 58), "std::_Rb_tree<…>::_Auto_node::_Auto_node<…>");
  EXPECT_EQ(TrimName(name, 42), "…_Rb_tree<…>::_Auto_node::_Auto_node<…>");
  EXPECT_EQ(TrimName(name, 30), "…_Auto_node::_Auto_node<…>");
  EXPECT_EQ(TrimName(name, 25), "std::_Rb_…::_Auto_node<…>");
  EXPECT_EQ(TrimName("<alloc::vec::Vec<…> as core::iter::Extend<…>>::extend", 20),
            "<alloc::vec…::extend");
  EXPECT_EQ(TrimName("a::f(std::vector<int>, b::C<char>)", 30), "f(std::vector<int>, b::C<cha…)");
}

TEST(TrimName, KeepsTheLastComponent) {
  const char* name = "llvm::DenseMapBase<…>::LookupBucketFor";
  EXPECT_EQ(TrimName(name, 40), name);
  EXPECT_EQ(TrimName(name, 30), "llvm::DenseM…::LookupBucketFor");
  EXPECT_EQ(TrimName(name, 18), "…::LookupBucketFor");
  EXPECT_EQ(TrimName(name, 17), "…LookupBucketFor");
  EXPECT_EQ(TrimName(name, 11), "Looku…etFor");
  EXPECT_EQ(TrimName("Server::Run::{lambda#2}::operator()", 33),
            "Ser…::Run::{lambda#2}::operator()");
  EXPECT_EQ(TrimName(name, 30, "..."), "llvm::Dens...::LookupBucketFor");
  EXPECT_EQ(TrimName("llvm::PassManager::run(llvm::Module&, int)", 20), "run(llvm::Module&,…)");
  EXPECT_EQ(TrimName("f", 0), "");
}

}  // namespace
}  // namespace heapgauge
