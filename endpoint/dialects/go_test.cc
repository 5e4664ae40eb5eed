#include "endpoint/dialects/go.h"

#include <gtest/gtest.h>

#include "core/base/byte_stream.h"
#include "core/recording/read_profile.h"
#include "endpoint/endpoint.h"
#include "endpoint/testing/fake_process.h"

namespace heapgauge::endpoint {
namespace {

using testing::FakeProcess;
using testing::FakeProcesses;
using testing::MakeHeapProfile;

class Go : public ::testing::Test {
 protected:
  Reply Fetch(const std::string& path, const std::string& query = "") {
    Request request;
    request.path = "/debug/pprof/" + path;
    request.query = query;
    return endpoint_.Handle(request);
  }
  static Profile Parse(const Response& response) {
    auto profile = ReadProfile(StreamOf(response.body), "answer");
    EXPECT_TRUE(profile) << profile.error().message;
    return profile ? *std::move(profile) : Profile();
  }

  std::shared_ptr<FakeProcess> process_ = std::make_shared<FakeProcess>(4242);
  Endpoint endpoint_{
      std::make_shared<FakeProcesses>(std::vector<std::shared_ptr<Process>>{process_})};
};

TEST_F(Go, HeapIsProtoInGosOrderWithItsNames) {
  const Response response = Fetch("heap").response;
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("Content-Type"), "application/octet-stream");
  EXPECT_EQ(response.Header("Content-Disposition"), "attachment; filename=\"heap\"");
  EXPECT_TRUE(response.body.starts_with("\x1f\x8b"));
  const Profile profile = Parse(response);
  ASSERT_EQ(profile.sample_types.size(), 4u);
  EXPECT_EQ(profile.sample_types[0].name, "alloc_objects");
  EXPECT_EQ(profile.sample_types[1].name, "alloc_space");
  EXPECT_EQ(profile.sample_types[2].name, "inuse_objects");
  EXPECT_EQ(profile.sample_types[3].name, "inuse_space");
  EXPECT_EQ(profile.DefaultType(), kInuseSpace);
  EXPECT_EQ(profile.period_type.name, "space");
  EXPECT_EQ(profile.Total(kInuseSpace).value, 8 << 20);
  EXPECT_EQ(profile.functions.size(), 4u);
  EXPECT_EQ(profile.modules.at(0).path, "/usr/bin/server");
}

TEST_F(Go, AllocsIsTheSameWithAnotherTypeFirst) {
  const Response response = Fetch("allocs").response;
  EXPECT_EQ(response.Header("Content-Disposition"), "attachment; filename=\"allocs\"");
  const Profile profile = Parse(response);
  EXPECT_EQ(profile.DefaultType(), kAllocSpace);
  EXPECT_EQ(profile.Total(kAllocSpace).value, 51 << 20);
}

TEST_F(Go, GcIsAccepted) { EXPECT_EQ(Fetch("heap", "gc=1").response.status, 200); }

TEST_F(Go, DebugIsTextThatIsReadBack) {
  for (const char* query : {"debug=1", "debug=2", "gc=1&debug=1"}) {
    const Response response = Fetch("heap", query).response;
    EXPECT_EQ(response.Header("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(response.Header("Content-Disposition"), "");
    EXPECT_TRUE(response.body.starts_with("heap profile: "));
    EXPECT_NE(response.body.find("#\t0x1010\tServer::LoadCache(int)\tcache.cc:42\n"),
              std::string::npos)
        << response.body;
    EXPECT_NE(response.body.find("\n# runtime.MemStats\n# Alloc = 8388608\n"), std::string::npos);
    const Profile profile = Parse(response);
    const size_t live = profile.FindType("inuse_space");
    ASSERT_LT(live, profile.sample_types.size());
    EXPECT_NEAR(profile.Total(live).value, 8 << 20, (8 << 20) * 0.01);
  }
}

TEST_F(Go, TextTellsTwiceTheRate) {
  // Two samples of whole blocks fit the rate, so that the text is a sampled one.
  heapgauge::testing::Maker m;
  m.Row({m.Function("f")}, 1 << 30, 2 << 30);
  Profile profile = m.profile();
  profile.value(0, kInuseObjects) = 1;
  profile.value(0, kAllocObjects) = 2;
  profile.period_type = {"space", "bytes"};
  profile.period = 512 << 10;
  const auto text = GoText(profile);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->substr(0, text->find('\n')).find("@ heap/1048576"), std::string::npos) << *text;
}

TEST_F(Go, SecondsGiveTheDifference) {
  Reply reply = Fetch("heap", "seconds=2");
  ASSERT_TRUE(reply.later);
  EXPECT_GT(reply.due_ns, 0u);
  process_->profile.value(0, kInuseSpace) += 1000;
  process_->profile.value(0, kInuseObjects) += 1;
  process_->profile.value(1, kInuseSpace) -= 500;
  const Response response = reply.later();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("Content-Disposition"), "attachment; filename=\"heap-delta\"");
  const Profile delta = Parse(response);
  EXPECT_EQ(delta.rows.size(), 2u);
  EXPECT_EQ(delta.Total(kInuseSpace).value, 500);
  EXPECT_EQ(delta.Total(kInuseObjects).value, 1);
  EXPECT_EQ(delta.Total(kAllocSpace).value, 0);
  EXPECT_GT(delta.duration_ns, 0);
}

TEST_F(Go, DifferenceAcrossAResetCountsFromTheReset) {
  Reply reply = Fetch("allocs", "seconds=2");
  ASSERT_TRUE(reply.later);
  ASSERT_TRUE(process_->Reset());
  EXPECT_EQ(Parse(reply.later()).Total(kInuseSpace).value, 8 << 20);
}

TEST_F(Go, RefusesSecondsAsGoDoes) {
  for (const char* query : {"seconds=0", "seconds=-1", "seconds=1.5", "seconds=x",
                            "seconds=99999999999999999999", "seconds=301", "seconds=1&debug=1"}) {
    const Reply reply = Fetch("heap", query);
    EXPECT_FALSE(reply.later) << query;
    EXPECT_EQ(reply.response.status, 400) << query;
    EXPECT_EQ(reply.response.Header("X-Go-Pprof"), "1");
    EXPECT_EQ(reply.response.Header("Content-Disposition"), "");
  }
}

TEST_F(Go, ProcessThatGoesInBetweenIsAnError) {
  Reply reply = Fetch("heap", "seconds=2");
  ASSERT_TRUE(reply.later);
  process_->error = "the file is gone";
  EXPECT_EQ(reply.later().status, 409);
}

TEST_F(Go, CommandLineHasNulsInBetween) {
  EXPECT_EQ(Fetch("cmdline").response.body, std::string("/usr/bin/server\0--port=80", 25));
}

TEST_F(Go, IndexListsProfiles) {
  process_->facts.command_line = {"<b>"};
  const Response response = Fetch("").response;
  EXPECT_EQ(response.Header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(response.body.find("<td>3</td><td><a href=\"allocs?debug=1\">"), std::string::npos);
  EXPECT_NE(response.body.find("<td>2</td><td><a href=\"heap?debug=1\">"), std::string::npos);
  EXPECT_EQ(response.body.find("<b></"), std::string::npos);
  EXPECT_EQ(Fetch("").response.status, 200);
}

TEST_F(Go, UnknownProfilesAreNotFound) {
  for (const char* name : {"goroutine", "growth", "profile", "trace", "Heap"}) {
    const Response response = Fetch(name).response;
    EXPECT_EQ(response.status, 404) << name;
    EXPECT_EQ(response.Header("X-Go-Pprof"), "1");
    EXPECT_TRUE(response.body.starts_with("Unknown profile"));
  }
}

TEST_F(Go, EnginesAreAskedByName) {
  testing::FakeEngine engine;
  process_->own_engines = {&engine};
  EXPECT_EQ(Fetch("heap", "engine=jemalloc").response.status, 200);
  EXPECT_EQ(Fetch("heap", "engine=native").response.status, 200);
  EXPECT_EQ(Fetch("heap", "engine=tcmalloc").response.status, 404);
  EXPECT_EQ(Fetch("heap", "engine=../x").response.status, 400);
}

}  // namespace
}  // namespace heapgauge::endpoint
