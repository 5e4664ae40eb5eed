#include "endpoint/dialects/displays.h"

#include <gtest/gtest.h>

#include "endpoint/api/sources.h"
#include "endpoint/base/kept_profiles.h"
#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint {
namespace {

class DisplayHeapTest : public ::testing::Test {
 protected:
  Response Ask(const std::string& query) {
    const Request request;
    const auto parameters = ParseQuery(query);
    if (!parameters) return ErrorText(400, "malformed");
    const Call call{request,   "pprof/heap", "",       *parameters, process,
                    processes, kept,         *sources, limits};
    return DisplayHeap(call).response;
  }

  std::shared_ptr<testing::FakeProcess> process = std::make_shared<testing::FakeProcess>(4242);
  testing::FakeProcesses processes{{process}};
  Limits limits;
  KeptProfiles kept{limits};
  std::shared_ptr<api::Sources> sources = std::make_shared<api::Sources>(nullptr);
};

TEST_F(DisplayHeapTest, TextIsATable) {
  const Response r = Ask("display=text");
  EXPECT_EQ(r.status, 200);
  EXPECT_LT(r.body.find("LoadCache"), r.body.find("ReadRequest")) << r.body;
}

TEST_F(DisplayHeapTest, ExtraOptionsReallyChangeTheReport) {
  process->profile.value(1, kInuseObjects) = 9000;  // of all the smaller ones
  const std::string plain = Ask("display=text").body;
  EXPECT_LT(plain.find("LoadCache"), plain.find("ReadRequest"));
  const std::string allocated = Ask("display=text&extra_options=alloc_space").body;
  EXPECT_LT(allocated.find("Scratch"), allocated.find("LoadCache")) << allocated;
  const std::string objects = Ask("display=text&extra_options=inuse_objects").body;
  EXPECT_LT(objects.find("ReadRequest"), objects.find("LoadCache")) << objects;
  const std::string counted = Ask("display=text&extra_options=--alloc_objects").body;
  EXPECT_NE(counted.find("834"), std::string::npos) << counted;
  const std::string cum = Ask("display=text&extra_options=cum").body;
  EXPECT_LT(cum.find("main"), cum.find("LoadCache")) << cum;
  const std::string lines = Ask("display=text&extra_options=lines,alloc_space").body;
  EXPECT_NE(lines.find("scratch.cc:99"), std::string::npos) << lines;
  EXPECT_NE(Ask("display=svg&extra_options=alloc_space").body.find("40MB"), std::string::npos);
}

TEST_F(DisplayHeapTest, PicturesAreSvg) {
  for (const char* display : {"svg", "flamegraph"}) {
    const Response r = Ask(std::string("display=") + display);
    EXPECT_EQ(r.status, 200);
    EXPECT_TRUE(r.Header("Content-Type").starts_with("image/svg+xml"));
    EXPECT_NE(r.body.find("LoadCache"), std::string::npos);
  }
}

TEST_F(DisplayHeapTest, StatsAreTheAllocators) {
  testing::FakeEngine engine;
  process->own_engines = {&engine};
  EXPECT_NE(Ask("display=stats").body.find("statistics of jemalloc with Ja"), std::string::npos);
  EXPECT_NE(Ask("display=stats&opts=g").body.find("statistics of jemalloc with g"),
            std::string::npos);
  EXPECT_EQ(Ask("display=stats&opts=%3Bid").status, 400);
}

TEST_F(DisplayHeapTest, EverythingElseIsRefused) {
  EXPECT_EQ(Ask("display=pdf").status, 400);
  EXPECT_EQ(Ask("display=text&extra_options=alloc_space,inuse_objects").status, 400);
  EXPECT_EQ(Ask("display=text&seconds=1").status, 400);
  for (const std::string& word : testing::HostileWords()) {
    EXPECT_EQ(Ask("display=" + word).status, 400) << word;
    EXPECT_EQ(Ask("display=text&extra_options=" + word).status, 400) << word;
    EXPECT_EQ(Ask("display=text&extra_options=cum,%20" + word).status, 400) << word;
    EXPECT_EQ(Ask("display=stats&opts=" + word).status, 400) << word;
  }
}

TEST(ExtraOptions, CommasSpacesAndDashesAreAllTheSame) {
  const auto options = ParseExtraOptions("--alloc_space, -cum,,lines ");
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->type, "alloc_space");
  EXPECT_TRUE(options->cumulative);
  EXPECT_TRUE(options->lines);
  EXPECT_TRUE(ParseExtraOptions("").has_value());
  EXPECT_FALSE(ParseExtraOptions("cumulative").has_value());
  EXPECT_FALSE(ParseExtraOptions("lines;id").has_value());
}

}  // namespace
}  // namespace heapgauge::endpoint
