#include "endpoint/dialects/envoy.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint {
namespace {

using testing::OneProcess;
using testing::ReadBody;

TEST(Envoy, HeapDumpIsCompressedProtoWithNames) {
  OneProcess one;
  const Response r = one.Get("/heap_dump");
  EXPECT_EQ(r.status, 200);
  EXPECT_TRUE(r.body.starts_with("\x1f\x8b"));
  EXPECT_NE(r.Header("Content-Disposition").find("heap.pb.gz"), std::string_view::npos);
  const auto profile = ReadBody(r);
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->Total(kInuseSpace).value, 8 << 20);
  ASSERT_FALSE(profile->functions.empty());
  EXPECT_EQ(one.Post("/heap_dump").status, 405);
}

TEST(Envoy, PeakHeapDumpIsThePeak) {
  OneProcess one;
  one.process->has_peak = true;
  heapgauge::testing::Maker m;
  m.Row({m.Function("Peak")}, 77 << 20, 77 << 20);
  one.process->peak = m.profile();
  const auto profile = ReadBody(one.Get("/peak_heap_dump"));
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->Total(kInuseSpace).value, 77 << 20);
}

TEST(Envoy, AProcessThatCannotBeReadIsNoSuccess) {
  OneProcess one;
  one.process->error = "the gauge file is gone";
  EXPECT_EQ(one.Get("/heap_dump").status, 409);
  EXPECT_EQ(one.Get("/peak_heap_dump").status, 409);
  EXPECT_EQ(one.Get("/memory").status, 409);
  EXPECT_EQ(one.Post("/allocprofiler?enable=y").status, 409);
}

TEST(Envoy, AllocProfilerGivesWhatWasAllocatedInTheWindow) {
  OneProcess one;
  EXPECT_EQ(one.Post("/allocprofiler?enable=n").status, 400);
  const Response start = one.Post("/allocprofiler?enable=y");
  EXPECT_EQ(start.status, 200);
  EXPECT_EQ(start.body, "OK\n");
  EXPECT_EQ(one.Post("/allocprofiler?enable=y").status, 400);
  one.process->profile.value(1, kAllocSpace) += 5 << 20;
  one.process->profile.value(1, kAllocObjects) += 50;
  one.process->profile.value(0, kInuseSpace) = 0;  // a free is not an allocation
  const Response stop = one.Post("/allocprofiler?enable=n");
  EXPECT_EQ(stop.status, 200);
  const auto profile = ReadBody(stop);
  ASSERT_TRUE(profile.has_value());
  ASSERT_EQ(profile->sample_types.size(), 2u);
  EXPECT_EQ(profile->sample_types[0].name, "alloc_objects");
  EXPECT_EQ(profile->sample_types[1].name, "alloc_space");
  EXPECT_EQ(profile->Total(0).value, 50);
  EXPECT_EQ(profile->Total(1).value, 5 << 20);
  EXPECT_EQ(profile->rows.size(), 1u);
  EXPECT_EQ(one.Post("/allocprofiler?enable=n").status, 400);
  EXPECT_EQ(one.Post("/allocprofiler?enable=y").status, 200) << "and once more";
}

TEST(Envoy, AWindowThatIsEmptyIsAProfileAllTheSame) {
  OneProcess one;
  one.Post("/allocprofiler?enable=y");
  const auto profile = ReadBody(one.Post("/allocprofiler?enable=n"));
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->rows.size(), 0u);
}

TEST(Envoy, AfterAResetTheWindowIsWhatCameSince) {
  OneProcess one;
  one.Post("/allocprofiler?enable=y");
  one.Post("/prof/reset");
  for (int64_t& value : one.process->profile.values) value = 0;
  one.process->profile.value(2, kAllocSpace) = 7 << 20;
  one.process->profile.value(2, kAllocObjects) = 1;
  const auto profile = ReadBody(one.Post("/allocprofiler?enable=n"));
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->Total(1).value, 7 << 20);
}

TEST(Envoy, AWindowNeedsSampling) {
  OneProcess one;
  one.process->facts.active = false;
  EXPECT_EQ(one.Post("/allocprofiler?enable=y").status, 400);
}

TEST(Envoy, HeapProfilerHasItsKnownMessages) {
  OneProcess one;
  one.process->facts.active = false;
  EXPECT_EQ(one.Post("/heapprofiler?enable=n").body, "Fail to stop heap profiler: not started");
  EXPECT_EQ(one.Post("/heapprofiler?enable=n").status, 400);
  const Response start = one.Post("/heapprofiler?enable=y");
  EXPECT_EQ(start.status, 200);
  EXPECT_EQ(start.body, "Starting heap profiler");
  EXPECT_TRUE(one.process->facts.active);
  const Response again = one.Post("/heapprofiler?enable=y");
  EXPECT_EQ(again.status, 400);
  EXPECT_EQ(again.body, "Fail to start heap profiler: already started");
  const Response stop = one.Post("/heapprofiler?enable=n");
  EXPECT_EQ(stop.status, 200);
  EXPECT_TRUE(stop.body.starts_with(
      "Heap profiler stopped and data written to /var/dumps/server.4242.0001.hg."))
      << stop.body;
  EXPECT_FALSE(one.process->facts.active) << "as it was before";
}

TEST(Envoy, HeapProfilerLeavesSamplingOnWhereItWasOn) {
  OneProcess one;
  one.Post("/heapprofiler?enable=y");
  one.process->dump_error = "/var/dumps: permission denied";
  const Response stop = one.Post("/heapprofiler?enable=n");
  EXPECT_EQ(stop.status, 500);
  EXPECT_NE(stop.body.find("/var/dumps: permission denied"), std::string::npos);
  EXPECT_TRUE(one.process->facts.active);
}

TEST(Envoy, TheOnlyParameterIsEnable) {
  OneProcess one;
  for (const char* path : {"/allocprofiler", "/heapprofiler"}) {
    EXPECT_EQ(one.Get(std::string(path) + "?enable=y").status, 405);
    for (const char* query : {"", "?enable=", "?enable=yes", "?enable=Y", "?disable=y",
                              "?enable=y&enable=y", "?enable=y&path=/tmp/x"}) {
      const Response r = one.Post(std::string(path) + query);
      EXPECT_EQ(r.status, 400) << path << query;
      EXPECT_EQ(r.body, "?enable=<y|n>\n");
    }
    for (const std::string& word : testing::HostileWords()) {
      EXPECT_EQ(one.Post(std::string(path) + "?enable=" + word).status, 400) << word;
    }
  }
  const Response form =
      one.Ask("POST", "/allocprofiler", {{"Content-Type", "application/x-www-form-urlencoded"}},
              "enable=y");
  EXPECT_EQ(form.status, 200) << form.body;
}

class EnvoyMemory : public ::testing::Test {
 protected:
  EnvoyMemory() {
    MemorySurvey& s = one.process->survey;
    s.accounting.resident = 100 << 20;
    s.accounting.heap_resident = 60 << 20;
    s.accounting.live.bytes.value = 40 << 20;
    s.accounting.parts[static_cast<size_t>(Part::kLive)] = 40 << 20;
    s.accounting.parts[static_cast<size_t>(Part::kFree)] = 20 << 20;
    s.accounting.parts[static_cast<size_t>(Part::kRest)] = 40 << 20;
  }
  OneProcess one;
};

TEST_F(EnvoyMemory, JsonHasEnvoysFieldsAsTextsOfNumbers) {
  const Response r = one.Get("/memory", {{"User-Agent", "curl/7.88.1"}, {"Accept", "*/*"}});
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.Header("Content-Type"), "application/json");
  const auto json = nlohmann::json::parse(r.body, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << r.body;
  EXPECT_EQ(json["allocated"], std::to_string(40 << 20));
  EXPECT_EQ(json["heap_size"], std::to_string(60 << 20));
  EXPECT_EQ(json["pageheap_unmapped"], "0");
  EXPECT_EQ(json["pageheap_free"], std::to_string(20 << 20));
  EXPECT_EQ(json["total_thread_cache"], "0");
  EXPECT_EQ(json["total_physical_bytes"], std::to_string(60 << 20));
  EXPECT_EQ(json["heapgauge"]["memory"]["resident_bytes"], 100 << 20);
}

TEST_F(EnvoyMemory, TheAllocatorsOwnWordCountsForMore) {
  wire::AllocatorStatistics statistics{};
  statistics.mask = kHasMapped | kHasResident | kHasInUse | kHasFree | kHasCached | kHasMetadata;
  statistics.mapped_bytes = 90;
  statistics.resident_bytes = 70;
  statistics.in_use_bytes = 50;
  statistics.free_bytes = 10;
  statistics.cached_bytes = 5;
  statistics.metadata_bytes = 4;
  one.process->survey.statistics = statistics;
  const auto json = nlohmann::json::parse(one.Get("/memory").body, nullptr, false);
  EXPECT_EQ(json["allocated"], "50");
  EXPECT_EQ(json["heap_size"], "90");
  EXPECT_EQ(json["pageheap_unmapped"], "20");
  EXPECT_EQ(json["pageheap_free"], "10");
  EXPECT_EQ(json["total_thread_cache"], "5");
  EXPECT_EQ(json["total_physical_bytes"], "70");
}

TEST_F(EnvoyMemory, TextSpellsOutFragmentationForEveryAllocator) {
  testing::FakeEngine engine;
  one.process->own_engines = {&engine};
  const Response r = one.Get("/memory?format=text");
  EXPECT_EQ(r.Header("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_NE(r.body.find("glibc (estimated from samples"), std::string::npos) << r.body;
  EXPECT_NE(r.body.find("jemalloc (its own interface, version 5.3.0)"), std::string::npos);
  EXPECT_NE(r.body.find("active but not allocated: 75.6% of active pages"), std::string::npos)
      << r.body;
  EXPECT_NE(r.body.find("resident but neither allocated nor metadata"), std::string::npos);
  EXPECT_NE(r.body.find("statistics of jemalloc with Ja"), std::string::npos);
}

TEST_F(EnvoyMemory, FormFollowsParametersThenAccept) {
  testing::FakeEngine engine;
  one.process->own_engines = {&engine};
  EXPECT_NE(one.Get("/memory?opts=Jm").body.find("statistics of jemalloc with Jm"),
            std::string::npos);
  EXPECT_TRUE(one.Browse("/memory").Header("Content-Type").starts_with("text/html"));
  EXPECT_TRUE(one.Browse("/memory?format=json").Header("Content-Type").starts_with("application/"));
  EXPECT_TRUE(one.Get("/memory", {{"Accept", "text/plain"}})
                  .Header("Content-Type")
                  .starts_with("text/plain"));
  EXPECT_EQ(one.Get("/memory?format=xml").status, 400);
}

TEST_F(EnvoyMemory, OptionsAreLettersFromAList) {
  EXPECT_EQ(one.Get("/memory?opts=").status, 200);
  EXPECT_EQ(one.Get("/memory?opts=JgmdablxehJgmdablxeh").status, 400);
  for (const std::string& word : testing::HostileWords()) {
    EXPECT_EQ(one.Get("/memory?opts=" + word).status, 400) << word;
    EXPECT_EQ(one.Get("/memory?format=" + word).status, 400) << word;
    EXPECT_EQ(one.Get("/memory?" + word).status, 400) << word;
  }
}

TEST_F(EnvoyMemory, NamesInThePageAreEscaped) {
  one.process->facts.command_line = {"<script>alert(1)</script>"};
  one.process->facts.program = "/bin/<b>x";
  one.process->survey.notes = {"<i>note</i>"};
  const Response r = one.Browse("/memory");
  EXPECT_EQ(r.body.find("<script>alert"), std::string::npos);
  EXPECT_EQ(r.body.find("<b>x"), std::string::npos);
  EXPECT_EQ(r.body.find("<i>note"), std::string::npos);
  const std::string_view policy = r.Header("Content-Security-Policy");
  EXPECT_NE(policy.find("default-src 'none'"), std::string_view::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string_view::npos);
}

TEST_F(EnvoyMemory, TcmallocIsAskedWhereItIs) {
  EXPECT_EQ(one.Get("/memory/tcmalloc").status, 501);
  testing::FakeEngine engine;
  engine.engine_name = "tcmalloc";
  one.process->own_engines = {&engine};
  const Response r = one.Get("/memory/tcmalloc");
  EXPECT_EQ(r.status, 200);
  EXPECT_NE(r.body.find("statistics of tcmalloc"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge::endpoint
