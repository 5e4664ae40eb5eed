#include "compat/jemalloc/conf.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heapgauge::compat {
namespace {

using Lines = std::vector<std::string>;

struct Parsed {
  JemallocConf conf;
  Lines problems;
};

Parsed Parse(std::string_view text) {
  Parsed parsed;
  parsed.conf.Add(text, &parsed.problems);
  parsed.conf.Settle(&parsed.problems);
  return parsed;
}

TEST(JemallocConf, DefaultsAreThoseOfJemalloc) {
  const JemallocConf conf = Parse("").conf;
  EXPECT_FALSE(conf.prof);
  EXPECT_TRUE(conf.prof_active);
  EXPECT_EQ(conf.lg_prof_sample, 19u);
  EXPECT_EQ(conf.lg_prof_interval, -1);
  EXPECT_EQ(conf.prof_prefix, "jeprof");
}

TEST(JemallocConf, ReadsEveryOptionOfTheProfiler) {
  const Parsed p = Parse(
      "prof:true,prof_active:false,lg_prof_sample:17,prof_prefix:/tmp/x,lg_prof_interval:30,"
      "prof_gdump:true,prof_final:true,prof_leak:true,prof_leak_error:true,prof_accum:true,"
      "prof_thread_active_init:false");
  EXPECT_EQ(p.problems, Lines{});
  EXPECT_TRUE(p.conf.prof && p.conf.prof_gdump && p.conf.prof_final && p.conf.prof_leak);
  EXPECT_TRUE(p.conf.prof_leak_error && p.conf.prof_accum);
  EXPECT_FALSE(p.conf.prof_active || p.conf.prof_thread_active_init);
  EXPECT_EQ(p.conf.lg_prof_sample, 17u);
  EXPECT_EQ(p.conf.lg_prof_interval, 30);
  EXPECT_EQ(p.conf.prof_prefix, "/tmp/x");
}

TEST(JemallocConf, LaterTextsWin) {
  JemallocConf conf;
  Lines problems;
  conf.Add("prof:true,lg_prof_sample:10", &problems);
  conf.Add("lg_prof_sample:20", &problems);
  EXPECT_TRUE(conf.prof);
  EXPECT_EQ(conf.lg_prof_sample, 20u);
}

TEST(JemallocConf, PassesOverWhatOnlyJemallocHas) {
  EXPECT_EQ(Parse("narenas:4,dirty_decay_ms:1000,background_thread:true,prof:true").problems,
            Lines{});
}

TEST(JemallocConf, SaysInJemallocsWordsWhatItCannotUse) {
  EXPECT_EQ(Parse("prof:maybe,nonsense:1,lg_prof_sample:abc,lg_prof_interval:-5").problems,
            (Lines{"<jemalloc>: Invalid conf value: prof:maybe",
                   "<jemalloc>: Invalid conf pair: nonsense:1",
                   "<jemalloc>: Invalid conf value: lg_prof_sample:abc",
                   "<jemalloc>: Out-of-range conf value: lg_prof_interval:-5"}));
  EXPECT_EQ(Parse("prof").problems, Lines{"<jemalloc>: Conf string ends with key"});
  EXPECT_EQ(Parse("prof:true,,x:1").problems, Lines{"<jemalloc>: Malformed conf string"});
  EXPECT_EQ(Parse("prof:true,prof_leak_error:true").problems,
            Lines{"<jemalloc>: prof_leak_error is set w/o prof_final."});
}

TEST(JemallocConf, AnEmptyPrefixIsAValue) {
  EXPECT_EQ(Parse("prof:true,prof_prefix:").conf.prof_prefix, "");
}

TEST(JemallocConf, LeaksNeedAProfile) { EXPECT_TRUE(Parse("prof_leak:true").conf.prof); }

}  // namespace
}  // namespace heapgauge::compat
