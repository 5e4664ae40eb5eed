#include "endpoint/dialects/gperftools.h"

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

Response Fetch(std::shared_ptr<FakeProcess> process, const std::string& path,
               const std::string& method = "GET", const std::string& body = "",
               const std::string& type = "") {
  Endpoint endpoint(
      std::make_shared<FakeProcesses>(std::vector<std::shared_ptr<Process>>{process}));
  Request request;
  request.method = method;
  request.path = path;
  request.body = body;
  if (!type.empty()) request.headers = {{"Content-Type", type}};
  return endpoint.Handle(request).response;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(GperftoolsHeap, IsReadBackWithTheSameFigures) {
  const Profile profile = MakeHeapProfile();
  const auto text = HeapPage(profile);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(FirstLine(*text).find("@ heap"), std::string::npos);
  const auto again = ReadProfile(StreamOf(*text), "page");
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->sample_types.size(), 4u);
  const double live = profile.Total(kInuseSpace).value;
  EXPECT_NEAR(again->Total(again->FindType("inuse_space")).value, live, live * 0.01);
  const double allocated = profile.Total(kAllocSpace).value;
  EXPECT_NEAR(again->Total(again->FindType("alloc_space")).value, allocated, allocated * 0.01);
}

TEST(GperftoolsHeap, TellsAllocationsFromLiveBlocksAlsoWhereTheyAreTheSame) {
  EXPECT_EQ(TellApart("heap profile: 1: 20 [1: 20] @ heap_v2/1\nrest"),
            "heap profile:      1:       20 [     2:       21] @ heap_v2/1\nrest");
  EXPECT_EQ(TellApart("heap profile: 0: 0 [0: 0] @ x\n"),
            "heap profile:      0:        0 [     1:        1] @ x\n");
  EXPECT_EQ(TellApart("heap profile: 1: 20 [3: 60] @ x\n"), "heap profile: 1: 20 [3: 60] @ x\n");
  EXPECT_EQ(TellApart("something else"), "something else");
}

TEST(GperftoolsGrowth, CountsAllAllocationsAndIsNotScaled) {
  const auto text = GrowthPage(MakeHeapProfile());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_TRUE(FirstLine(*text).ends_with("@ growth")) << FirstLine(*text);
  // What was freed again is there too.
  EXPECT_NE(text->find("     4: 41943040 ["), std::string::npos) << *text;
  EXPECT_NE(text->find("   800:  8388608 ["), std::string::npos) << *text;
}

TEST(GperftoolsPages, CommandLineBeginsWithTheProgram) {
  auto process = std::make_shared<FakeProcess>(1);
  EXPECT_EQ(Fetch(process, "/pprof/cmdline").body, "/usr/bin/server\n--port=80\n");
  process->facts.command_line.clear();
  EXPECT_EQ(Fetch(process, "/pprof/cmdline").body, "/usr/bin/server\n");
  process->facts.program.clear();
  EXPECT_EQ(Fetch(process, "/pprof/cmdline").body, "unknown\n");
}

TEST(GperftoolsPages, ErrorsAreRealOnesWithText) {
  auto process = std::make_shared<FakeProcess>(1);
  process->error = "the file is gone";
  const Response response = Fetch(process, "/pprof/heap");
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.body, "the file is gone\n");
  EXPECT_EQ(response.Header("X-Go-Pprof"), "1");
}

TEST(Symbol, SaysThatThereAreSome) {
  auto process = std::make_shared<FakeProcess>(1);
  EXPECT_EQ(Fetch(process, "/pprof/symbol").body, "num_symbols: 1\n");
  EXPECT_EQ(Fetch(process, "/pprof/symbol", "HEAD").status, 200);
  EXPECT_EQ(Fetch(process, "/symbolz").body, "num_symbols: 1\n");
}

TEST(Symbol, AnswersEachAddressInALineAndLeavesOutWhatIsUnknown) {
  auto process = std::make_shared<FakeProcess>(1);
  process->symbols = {{0x1abc, {"inner(int)", "outer()"}}, {0x2000, {"Box::operator--(int)"}}};
  const Response plain =
      Fetch(process, "/pprof/symbol", "POST", "0x1ABC+0x3000+2000", "application/octet-stream");
  EXPECT_EQ(plain.body, "0x1abc\tinner(int)\n0x2000\tBox::operator--(int)\n");
  EXPECT_EQ(Fetch(process, "/symbolz", "POST", "0x2000").body, "0x2000\tBox::operator--(int)\n");
}

TEST(Symbol, GivesChainsOfInlinedCallsToFormsAlone) {
  auto process = std::make_shared<FakeProcess>(1);
  process->symbols = {{0x1abc, {"inner(int)", "middle()", "outer()"}},
                      {0x2000, {"Box::operator--", "f()"}}};
  const Response response =
      Fetch(process, "/pprof/symbol", "POST", "0x0000000000001abc+0x0000000000002000",
            "application/x-www-form-urlencoded");
  EXPECT_EQ(response.body,
            "0x1abc\touter()--middle()--inner(int)\n0x2000\tf()--Box::operator- -\n");
}

TEST(Symbol, ShowsWhoAllocatedToThoseWhoGetOneName) {
  auto process = std::make_shared<FakeProcess>(1);
  process->symbols = {{0x10, {"operator new(unsigned long)", "Cache::Grow()", "main"}},
                      {0x20, {"operator new(unsigned long)"}}};
  EXPECT_EQ(Fetch(process, "/pprof/symbol", "POST", "0x10+0x20").body,
            "0x10\tCache::Grow()\n0x20\toperator new(unsigned long)\n");
}

TEST(Symbol, TakesNonsenseAndRefusesFloods) {
  auto process = std::make_shared<FakeProcess>(1);
  process->symbols = {{0x10, {"f"}}};
  EXPECT_EQ(Fetch(process, "/pprof/symbol", "POST", "'0x10+zz++0x+0x1ffffffffffffffff").body,
            "0x10\tf\n");
  EXPECT_EQ(Fetch(process, "/pprof/symbol", "POST", "").body, "");
  std::string flood;
  for (size_t i = 0; i <= (1 << 20); ++i) flood += "1+";
  EXPECT_EQ(Fetch(process, "/pprof/symbol", "POST", flood).status, 413);
}

TEST(Symbol, NamesCannotBreakALine) {
  auto process = std::make_shared<FakeProcess>(1);
  process->symbols = {{0x10, {"f\n0x20\tg"}}};
  const std::string body = Fetch(process, "/pprof/symbol", "POST", "0x10").body;
  EXPECT_EQ(std::count(body.begin(), body.end(), '\n'), 1);
}

TEST(Symbol, OfGoBeginsWithTheCountAndTakesAQuery) {
  auto process = std::make_shared<FakeProcess>(1);
  process->symbols = {{0x10, {"f"}}, {0x20, {"g"}}};
  EXPECT_EQ(Fetch(process, "/debug/pprof/symbol", "POST", "0x10+0x20").body,
            "num_symbols: 1\n0x10 f\n0x20 g\n");
  Endpoint endpoint(
      std::make_shared<FakeProcesses>(std::vector<std::shared_ptr<Process>>{process}));
  Request request;
  request.path = "/debug/pprof/symbol";
  request.query = "0x10+0x20";
  EXPECT_EQ(endpoint.Handle(request).response.body, "num_symbols: 1\n0x10 f\n0x20 g\n");
}

}  // namespace
}  // namespace heapgauge::endpoint
