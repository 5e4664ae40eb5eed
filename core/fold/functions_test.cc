#include "core/fold/functions.h"

#include <gtest/gtest.h>

#include "core/fold/frames.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

const FunctionRow* Find(const Profile& profile, const FunctionReport& report,
                        const std::string& name) {
  for (const FunctionRow& row : report.rows) {
    if (row.function != kNone && profile.functions[row.function].name == name) return &row;
  }
  return nullptr;
}

TEST(Functions, FlatGoesToTheFirstFrameThatIsNotTheAllocator) {
  Maker m;
  const auto new_ = m.Function("operator new(unsigned long)");
  const auto malloc_ = m.Function("malloc");
  const auto user = m.Function("Cache::Insert(int)", 42);
  const auto main_ = m.Function("main");
  m.Row({malloc_, new_, user, main_}, 100, 300);
  m.Row({malloc_, main_}, 10, 10);
  ASSERT_TRUE(m.profile().Check());
  const auto report = AggregateFunctions(m.profile(), {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->rows.size(), 2u);
  EXPECT_EQ(m.profile().functions[report->rows[0].function].name, "Cache::Insert(int)");
  EXPECT_EQ(report->rows[0].flat.live_bytes.value, 100);
  EXPECT_EQ(report->rows[0].flat.allocated_bytes.value, 300);
  EXPECT_EQ(m.profile().frames[report->rows[0].frame].line, 42u);
  EXPECT_EQ(report->rows[1].flat.live_bytes.value, 10);
  EXPECT_EQ(report->rows[1].cum.live_bytes.value, 110);
  EXPECT_EQ(report->total.live_bytes.value, 110);
}

TEST(Functions, RecursionCountsOnce) {
  Maker m;
  const auto f = m.Function("f");
  const auto f2 = m.Function("f", 2);  // another line of the same function
  const auto main_ = m.Function("main");
  m.Row({f, f2, f, f2, main_}, 100, 100);
  FunctionOptions options;
  options.cumulative = true;
  const auto report = AggregateFunctions(m.profile(), options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->rows.size(), 2u);
  EXPECT_EQ(Find(m.profile(), *report, "f")->cum.live_bytes.value, 100);
  EXPECT_EQ(Find(m.profile(), *report, "main")->cum.live_bytes.value, 100);
}

TEST(Functions, AStackOfAllocatorsOnlyBelongsToItsOutermostFrame) {
  Maker m;
  m.Row({m.Function("malloc"), m.Function("operator new(unsigned long)")}, 5, 5);
  m.Row({}, 7, 7);
  const auto report = AggregateFunctions(m.profile(), {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->rows.size(), 2u);
  EXPECT_EQ(report->rows[0].function, kNone) << "the empty stack is a row of its own";
  EXPECT_EQ(m.profile().functions[report->rows[1].function].name, "operator new(unsigned long)");
}

TEST(Functions, FocusAndIgnoreChooseStacks) {
  Maker m;
  const auto a = m.Function("ns::a");
  const auto b = m.Function("ns::b");
  const auto main_ = m.Function("main");
  m.Row({a, main_}, 1, 1);
  m.Row({b, main_}, 2, 2);
  m.Row({b, a, main_}, 4, 4);
  FunctionOptions options;
  options.filter.focus = "::a$";
  EXPECT_EQ(AggregateFunctions(m.profile(), options)->selected.live_bytes.value, 5);
  options.filter.ignore = "b";
  EXPECT_EQ(AggregateFunctions(m.profile(), options)->selected.live_bytes.value, 1);
  EXPECT_EQ(AggregateFunctions(m.profile(), options)->total.live_bytes.value, 7);
  options.filter.focus = "(";
  const auto bad = AggregateFunctions(m.profile(), options);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("regular expression"), std::string::npos);
}

TEST(Functions, FocusTakesANameAsItIsShown) {
  Maker m;
  m.Row({m.Function("a_new(unsigned long)")}, 1, 1);
  m.Row({m.Function("a_newer(int)")}, 2, 2);
  for (const char* focus : {"^a_new$", "^a_new\\(unsigned long\\)$"}) {
    FunctionOptions options;
    options.filter.focus = focus;
    EXPECT_EQ(AggregateFunctions(m.profile(), options)->selected.live_bytes.value, 1) << focus;
  }
}

TEST(Functions, FlatFiguresAloneNameTheSameFrames) {
  Maker m;
  const auto light = m.Function("f", 1);
  const auto heavy = m.Function("f", 2);  // the same flat weight, but called from below as well
  const auto single = m.Function("g", 3);
  const auto other = m.Function("g", 4);
  const auto main_ = m.Function("main", 5);
  m.Row({light, main_}, 10, 10);
  m.Row({heavy, main_}, 10, 10);
  m.Row({single, heavy, main_}, 4, 4);
  m.Row({other, single, light, main_}, 1, 1);
  const auto whole = AggregateFunctions(m.profile(), {});
  FunctionOptions options;
  options.flat_only = true;
  const auto flat = AggregateFunctions(m.profile(), options);
  ASSERT_TRUE(whole && flat);
  ASSERT_EQ(flat->rows.size(), 2u);
  EXPECT_EQ(m.profile().frames[flat->rows[0].frame].line, 2u) << "the cumulative weight decides";
  EXPECT_EQ(m.profile().frames[flat->rows[1].frame].line, 3u);
  for (size_t i = 0; i < flat->rows.size(); ++i) {
    EXPECT_EQ(flat->rows[i].entity, whole->rows[i].entity);
    EXPECT_EQ(flat->rows[i].frame, whole->rows[i].frame);
    EXPECT_EQ(flat->rows[i].flat.live_bytes.value, whole->rows[i].flat.live_bytes.value);
    EXPECT_EQ(flat->rows[i].cum.samples, 0u);
    EXPECT_NE(whole->rows[i].cum.samples, 0u);
  }
}

TEST(Functions, SortsByWhatIsAskedFor) {
  Maker m;
  m.Row({m.Function("live")}, 10, 10);
  m.Row({m.Function("busy")}, 1, 1000);
  m.profile().blocks.push_back({0, 0, 0, 10, 1, 50, false});
  m.profile().blocks.push_back({1, 0, 0, 1, 1, 20, false});
  m.profile().recording.duration_ns = 100;
  const auto first = [&](SortKey key) {
    FunctionOptions options;
    options.sort = key;
    const auto report = AggregateFunctions(m.profile(), options);
    return m.profile().functions[report->rows[0].function].name;
  };
  EXPECT_EQ(first(SortKey::kLive), "live");
  EXPECT_EQ(first(SortKey::kAllocated), "busy");
  EXPECT_EQ(first(SortKey::kAge), "busy");
  const auto report = AggregateFunctions(m.profile(), {});
  EXPECT_EQ(report->rows[0].flat.MeanAge(100), 50u);
  EXPECT_EQ(report->total.OldestAge(100), 80u);
}

TEST(Functions, WhatIsEqualIsSortedByName) {
  const std::vector<std::string> names = {"delta", "alpha", "charlie", "bravo"};
  for (size_t first = 0; first < names.size(); ++first) {
    Maker m;
    for (size_t i = 0; i < names.size(); ++i) {
      m.Row({m.Function(names[(first + i) % names.size()])}, 10, 10);
    }
    const auto report = AggregateFunctions(m.profile(), {});
    ASSERT_TRUE(report);
    std::vector<std::string> sorted;
    for (const FunctionRow& row : report->rows) {
      sorted.push_back(m.profile().functions[row.function].name);
    }
    EXPECT_EQ(sorted, (std::vector<std::string>{"alpha", "bravo", "charlie", "delta"}));
  }
}

TEST(AllocationFrames, KnowsTheUsualOnes) {
  for (const char* name :
       {"malloc",
        "__libc_malloc",
        "__GI___libc_malloc",
        "calloc",
        "posix_memalign",
        "aligned_alloc",
        "operator new(unsigned long)",
        "operator new[](unsigned long, std::align_val_t)",
        "std::allocator<int>::allocate(unsigned long)",
        "__gnu_cxx::new_allocator<char>::allocate(unsigned long, void const*)",
        "std::__new_allocator<char>::allocate(unsigned long, void const*)",
        "std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&, unsigned "
        "long)",
        "std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)",
        "je_malloc",
        "mi_malloc",
        "tc_newarray",
        "tcmalloc::allocate_full_malloc_oom(unsigned long)",
        "__rust_alloc",
        "zmalloc_usable",
        "zrealloc_usable",
        "zcalloc",
        "xmalloc",
        "g_malloc0",
        "g_malloc0_n",
        "CRYPTO_zalloc",
        "sqlite3Malloc",
        "sqlite3DbMallocRawNN",
        "_PyObject_Calloc",
        "PyMem_RawMalloc",
        "alloc::alloc::exchange_malloc",
        "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
        "<alloc::alloc::Global>::alloc_impl_runtime",
        "strdup",
        "heapgauge_pool_allocated",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
        ">::_M_create(unsigned long&, unsigned long)"}) {
    EXPECT_TRUE(IsAllocationFunction(name)) << name;
  }
}

TEST(AllocationFrames, LeavesTheProgramsOwnAlone) {
  for (const char* name :
       {"main", "my_malloc_wrapper", "Pool::allocate(unsigned long)", "malloc_stats_page",
        "std::vector<int, std::allocator<int> >::push_back(int const&)", "make_item", "tick",
        "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int*, int "
        "const&)",
        "mission_control", "zadd", "g_main_loop_run", "sqlite3BtreeOpen", "PyList_New",
        "xmalloc_report", "operator<<(std::ostream&, int)", "allocator_report"}) {
    EXPECT_FALSE(IsAllocationFunction(name)) << name;
  }
  EXPECT_TRUE(IsAllocatorModule("/usr/lib/libjemalloc.so.2"));
  EXPECT_FALSE(IsAllocatorModule("/usr/lib/libc.so.6"));
}

}  // namespace
}  // namespace heapgauge
