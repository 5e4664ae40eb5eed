#include <gtest/gtest.h>

#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint {
namespace {

using testing::Field;
using testing::OneProcess;

TEST(Userver, EnableAndDisableAnswerOkAndMayBeRepeated) {
  OneProcess one;
  for (const char* path : {"/service/jemalloc/prof/", "/prof/", "/pid/4242/prof/"}) {
    for (const bool active : {false, false, true, true}) {
      const Response r = one.Post(std::string(path) + (active ? "enable" : "disable"));
      EXPECT_EQ(r.status, 200);
      EXPECT_EQ(r.body, "OK\n");
      EXPECT_EQ(one.process->facts.active, active);
    }
  }
}

TEST(Userver, AChangeThatAnIdleProcessHasNotSeenYetIsMarked) {
  OneProcess one;
  EXPECT_EQ(one.Post("/prof/disable").Header("X-Heapgauge-Pending"), "");
  one.process->seen = false;
  const Response r = one.Post("/prof/enable");
  EXPECT_EQ(r.body, "OK\n");
  EXPECT_EQ(r.Header("X-Heapgauge-Pending"), "until the next sample");
}

TEST(Userver, PutDoesAsWellAndGetIsRefused) {
  OneProcess one;
  EXPECT_EQ(one.Ask("PUT", "/prof/disable").status, 200);
  for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS"}) {
    const Response r = one.Ask(method, "/service/jemalloc/prof/enable");
    EXPECT_EQ(r.status, 405) << method;
    EXPECT_NE(r.Header("Allow").find("POST"), std::string_view::npos);
  }
  EXPECT_FALSE(one.process->facts.active);
}

TEST(Userver, StatHasTheLineOnProfActive) {
  OneProcess one;
  EXPECT_NE(one.Post("/prof/stat").body.find("\n prof.active: true\n"), std::string::npos);
  one.process->facts.active = false;
  const Response r = one.Post("/prof/stat");
  EXPECT_NE(r.body.find("\n prof.active: false\n"), std::string::npos);
  EXPECT_NE(r.body.find("server  pid 4242"), std::string::npos);
  EXPECT_EQ(r.Header("Content-Type"), "text/plain; charset=utf-8");
}

TEST(Userver, StatusIsShort) {
  OneProcess one;
  const Response r = one.Post("/prof/status");
  EXPECT_EQ(Field(r.body, "prof.active"), "true");
  EXPECT_EQ(Field(r.body, "prof.interval"), "524288");
  EXPECT_EQ(Field(r.body, "prof.samples"), "106");
}

TEST(Userver, DumpTellsThePathAndAnIdThatCanBeFetched) {
  OneProcess one;
  const Response r = one.Post("/mounted/pid/4242/prof/dump");
  EXPECT_EQ(r.status, 200);
  EXPECT_TRUE(r.body.starts_with("OK\n"));
  EXPECT_EQ(Field(r.body, "path"), "/var/dumps/server.4242.0001.hg");
  const std::string id = Field(r.body, "id");
  EXPECT_EQ(id.size(), 32u);
  const std::string fetch = Field(r.body, "fetch");
  EXPECT_TRUE(fetch.starts_with("/mounted/pid/4242/hotspots/heap?view=" + id)) << fetch;
  const auto profile = testing::ReadBody(one.Get(fetch));
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->Total(kInuseSpace).value, 8 << 20);
}

TEST(Userver, ADirectoryThatCannotBeWrittenIsNamedAndTheProfileIsNotLost) {
  OneProcess one;
  one.process->dump_error = "/var/dumps: no such directory; make it, or name another";
  const Response r = one.Post("/prof/dump");
  EXPECT_EQ(r.status, 500);
  EXPECT_NE(r.body.find("/var/dumps: no such directory"), std::string::npos);
  EXPECT_EQ(one.Get(Field(r.body, "fetch")).status, 200);
}

TEST(Userver, SampleTakesSizesWithinBounds) {
  OneProcess one;
  EXPECT_EQ(one.Post("/prof/sample?bytes=65536").body, "OK\n");
  EXPECT_EQ(one.process->facts.interval, 65536u);
  EXPECT_EQ(one.Post("/prof/sample?bytes=1M").body, "OK\n");
  EXPECT_EQ(one.process->facts.interval, 1u << 20);
  for (const char* bad : {"", "?bytes=", "?bytes=0", "?bytes=-1", "?bytes=9999999999999999999999",
                          "?bytes=1e3x", "?bytes=2T", "?bytes=64K&bytes=1M", "?count=1"}) {
    EXPECT_EQ(one.Post(std::string("/prof/sample") + bad).status, 400) << bad;
  }
  EXPECT_EQ(one.process->facts.interval, 1u << 20);
}

TEST(Userver, ResetResets) {
  OneProcess one;
  EXPECT_EQ(one.Post("/service/jemalloc/prof/reset").body, "OK\n");
  EXPECT_EQ(one.process->resets, 1);
}

TEST(Userver, WhatCannotBeDoneIsNoSuccess) {
  OneProcess one;
  one.process->control_error = "the process has ended";
  for (const char* command : {"enable", "disable", "reset", "sample?bytes=1M"}) {
    const Response r = one.Post(std::string("/prof/") + command);
    EXPECT_EQ(r.status, 409) << command;
    EXPECT_NE(r.body.find("the process has ended"), std::string::npos);
  }
}

TEST(Userver, UnknownCommandsAre404AndDoNotEcho) {
  OneProcess one;
  EXPECT_EQ(one.Post("/prof/enable2").status, 404);
  EXPECT_EQ(one.Post("/prof/").status, 404);
  for (const std::string& word : testing::HostileWords()) {
    const Response r = one.Post("/prof/" + word);
    EXPECT_TRUE(r.status == 404 || r.status == 400) << word << r.status;
    EXPECT_EQ(r.body.find("script"), std::string::npos);
    EXPECT_EQ(r.body.find("passwd"), std::string::npos);
  }
}

TEST(Userver, HostileParametersAreRefused) {
  OneProcess one;
  for (const std::string& word : testing::HostileWords()) {
    EXPECT_EQ(one.Post("/prof/sample?bytes=" + word).status, 400) << word;
    EXPECT_EQ(one.Post("/prof/enable?" + word + "=1").status, 400) << word;
    const int status = one.Post("/prof/enable?engine=" + word).status;
    EXPECT_TRUE(status == 400 || status == 404) << word << status;
  }
  EXPECT_EQ(one.process->facts.interval, 512u << 10);
}

TEST(Userver, BackgroundThreadsAreJemallocsOwn) {
  OneProcess one;
  for (const char* command :
       {"bg_threads_set_max?count=2", "bg_threads_enable", "bg_threads_disable"}) {
    const Response r = one.Post(std::string("/prof/") + command);
    EXPECT_EQ(r.status, 400);
    EXPECT_NE(r.body.find("jemalloc"), std::string::npos);
  }
}

TEST(Userver, AnEngineIsDrivenWhenAskedFor) {
  OneProcess one;
  testing::FakeEngine engine;
  one.process->own_engines = {&engine};
  EXPECT_EQ(one.Post("/prof/enable?engine=jemalloc").body, "OK\n");
  EXPECT_TRUE(engine.facts.active);
  EXPECT_EQ(one.Post("/prof/sample?bytes=4K&engine=jemalloc").body, "OK\n");
  EXPECT_EQ(engine.facts.interval, 4096u);
  EXPECT_EQ(one.Post("/prof/reset?engine=jemalloc").body, "OK\n");
  EXPECT_EQ(engine.resets, 1);
  const Response stat = one.Post("/prof/stat?engine=jemalloc");
  EXPECT_NE(stat.body.find(" prof.active: true\n"), std::string::npos);
  EXPECT_NE(stat.body.find("statistics of jemalloc"), std::string::npos);
  const Response dump = one.Post("/prof/dump?engine=jemalloc");
  EXPECT_EQ(dump.status, 200) << dump.body;
  EXPECT_EQ(one.Get(Field(dump.body, "fetch")).status, 200);
  EXPECT_EQ(one.process->resets, 0) << "the native profiler is left alone";
}

TEST(Userver, AnEngineThatCannotProfileSaysWhatToDo) {
  OneProcess one;
  testing::FakeEngine engine;
  engine.facts.can_profile = false;
  engine.facts.why_not = "start the program with MALLOC_CONF=prof:true";
  one.process->own_engines = {&engine};
  for (const char* command : {"enable", "disable", "reset", "dump"}) {
    const Response r = one.Post(std::string("/prof/") + command + "?engine=jemalloc");
    EXPECT_EQ(r.status, 409) << command;
    EXPECT_NE(r.body.find("MALLOC_CONF=prof:true"), std::string::npos);
  }
  EXPECT_EQ(one.Post("/prof/enable?engine=tcmalloc").status, 404);
}

}  // namespace
}  // namespace heapgauge::endpoint
