#include <gtest/gtest.h>

#include <set>

#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint {
namespace {

using testing::OneProcess;
using testing::ReadBody;

// Takes a profile as a browser does; the address that it is sent to.
std::string NewProfile(OneProcess* one, const std::string& path = "/hotspots/heap",
                       const std::string& query = "") {
  const Response r = one->Browse(path + query);
  EXPECT_EQ(r.status, 303) << r.body;
  return path + std::string(r.Header("Location"));
}

std::string IdIn(const std::string& address) {
  return address.substr(address.find("view=") + 5, 32);
}

bool Has(const Response& r, const std::string& text) {
  return r.body.find(text) != std::string::npos;
}

TEST(Hotspots, ANewProfileHasAnAddressThatShowsTheSameAgain) {
  OneProcess one;
  const std::string address = NewProfile(&one);
  one.process->profile.value(0, kInuseSpace) = 100 << 20;
  for (int i = 0; i < 2; ++i) {
    const Response page = one.Browse(address);
    EXPECT_EQ(page.status, 200);
    EXPECT_TRUE(page.Header("Content-Type").starts_with("text/html"));
    EXPECT_TRUE(Has(page, "<h1>Live heap of server (pid 4242)</h1>"));
    EXPECT_TRUE(Has(page, "8.0 MB live")) << page.body;
    EXPECT_TRUE(Has(page, "2023-11-14 22:13:20 UTC"));
    EXPECT_TRUE(Has(page, "sampled 1 in 512 kB"));
    EXPECT_TRUE(Has(page, "Only 16 samples"));
  }
  EXPECT_EQ(one.process->taken, 1) << "viewing takes no profile";
}

TEST(Hotspots, TheAddressIsRelativeAndKeepsTheDisplay) {
  OneProcess one;
  const Response r = one.Browse("/mounted/pid/4242/hotspots/heap?display_type=flame");
  EXPECT_EQ(r.status, 303);
  EXPECT_TRUE(r.Header("Location").starts_with("?view="));
  EXPECT_TRUE(r.Header("Location").ends_with("&display_type=flame"));
}

TEST(Hotspots, TerminalsGetText) {
  OneProcess one;
  for (const Headers& headers : {Headers{}, Headers{{"User-Agent", "curl/7.88.1"}}}) {
    const Response r = one.Get("/pid/4242/hotspots/heap", headers);
    EXPECT_EQ(r.status, 200);
    EXPECT_EQ(r.Header("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_TRUE(Has(r, "Server::LoadCache")) << r.body;
    const std::string id(r.Header("X-Heapgauge-View"));
    EXPECT_TRUE(Has(r, "The same profile again: /pid/4242/hotspots/heap?view=" + id));
    const Response again = one.Get("/hotspots/heap?view=" + id, headers);
    EXPECT_EQ(again.status, 200);
    EXPECT_TRUE(Has(again, "Server::LoadCache"));
  }
  EXPECT_TRUE(one.Get("/hotspots/heap?console=1", {{"User-Agent", "Mozilla/5.0"}})
                  .Header("Content-Type")
                  .starts_with("text/plain"));
  EXPECT_EQ(one.Get("/hotspots/heap?console=0", {{"User-Agent", "curl/8"}}).status, 303);
}

TEST(Hotspots, EveryDisplayOfAStoredProfile) {
  OneProcess one;
  const std::string id = IdIn(NewProfile(&one));
  const std::string view = "/hotspots/heap?view=" + id + "&display_type=";
  EXPECT_TRUE(Has(one.Browse(view + "dot"), "display_type=svg\""));
  EXPECT_TRUE(Has(one.Browse(view + "FLAME"), "display_type=flame&amp;console=1\""));
  EXPECT_TRUE(Has(one.Browse(view + "text"), "<pre>"));
  EXPECT_TRUE(Has(one.Browse(view + "text"), "Server::LoadCache"));

  const Response dot = one.Get(view + "dot");
  EXPECT_TRUE(dot.body.starts_with("digraph \"server\" {"));
  const Response flame = one.Get(view + "flame");
  EXPECT_TRUE(flame.Header("Content-Type").starts_with("image/svg+xml"));
  EXPECT_TRUE(Has(flame, "LoadCache"));
  const Response svg = one.Get(view + "svg");
  EXPECT_TRUE(svg.Header("Content-Type").starts_with("image/svg+xml"));
  EXPECT_TRUE(Has(svg, "LoadCache"));
  const auto proto = ReadBody(one.Browse(view + "proto"));
  ASSERT_TRUE(proto.has_value());
  EXPECT_EQ(proto->Total(kInuseSpace).value, 8 << 20);
}

TEST(Hotspots, PicturesAreFramedByThisServerAloneAndRunOnlyWhatIsOurs) {
  OneProcess one;
  const std::string id = IdIn(NewProfile(&one));
  for (const char* display : {"svg", "flame"}) {
    const Response r = one.Get("/hotspots/heap?console=1&view=" + id + "&display_type=" + display);
    const std::string policy(r.Header("Content-Security-Policy"));
    EXPECT_NE(policy.find("sandbox allow-scripts"), std::string::npos);
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_EQ(r.Header("X-Frame-Options"), "SAMEORIGIN");
    const size_t at = policy.find("'nonce-") + 7;
    const std::string nonce = policy.substr(at, policy.find('\'', at) - at);
    EXPECT_EQ(nonce.size(), 32u);
    EXPECT_TRUE(Has(r, "<script nonce=\"" + nonce + "\""));
    EXPECT_FALSE(
        Has(one.Get("/hotspots/heap?console=1&view=" + id + "&display_type=" + display), nonce))
        << "each answer has its own";
  }
}

TEST(Hotspots, ThePageRunsNothingInline) {
  OneProcess one;
  const Response r = one.Browse(NewProfile(&one));
  const std::string policy(r.Header("Content-Security-Policy"));
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(r.body.find(" style=\""), std::string::npos);
  EXPECT_EQ(r.body.find(" onclick="), std::string::npos);
  EXPECT_EQ(r.body.find("http://"), std::string::npos) << "nothing from elsewhere";
  EXPECT_EQ(r.body.find("https://"), std::string::npos);
}

TEST(Hotspots, TwoProfilesAreCompared) {
  OneProcess one;
  const std::string before = IdIn(NewProfile(&one));
  one.process->profile.value(1, kInuseSpace) = 82 << 20;
  one.process->profile.value(1, kInuseObjects) = 820;
  one.process->profile.value(0, kInuseSpace) = 0;
  one.process->profile.value(0, kInuseObjects) = 0;
  const std::string after = IdIn(NewProfile(&one));
  const std::string query = "/hotspots/heap?view=" + after + "&base=" + before + "&display_type=";
  const Response page = one.Browse(query + "text");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(Has(page, "What changed in the memory of server"));
  EXPECT_TRUE(Has(page, "+74.0 MB</b> since")) << page.body;
  const Response text = one.Get(query + "text");
  EXPECT_TRUE(Has(text, "ReadRequest"));
  EXPECT_TRUE(Has(text, "LoadCache"));
  EXPECT_TRUE(Has(text, "gone")) << text.body;
  const Response dot = one.Get(query + "dot");
  EXPECT_TRUE(Has(dot, "80MB")) << dot.body;
  EXPECT_TRUE(Has(dot, "-6MB")) << dot.body;
  const Response flame = one.Get(query + "flame");
  EXPECT_TRUE(Has(flame, "ReadRequest"));
  EXPECT_FALSE(Has(flame, "LoadCache")) << "it shrank";
  const auto proto = ReadBody(one.Get(query + "proto"));
  ASSERT_TRUE(proto.has_value());
  EXPECT_EQ(proto->Total(kInuseSpace).value, 74 << 20);
}

TEST(Hotspots, GrowthIsAboutAllThatWasAllocated) {
  OneProcess one;
  const std::string address = NewProfile(&one, "/hotspots/growth");
  const Response page = one.Browse(address);
  EXPECT_TRUE(Has(page, "<h1>Allocations of server (pid 4242)</h1>"));
  EXPECT_TRUE(Has(page, "51.0 MB allocated")) << page.body;
  const Response text = one.Get("/hotspots/growth");
  EXPECT_LT(text.body.find("Scratch"), text.body.find("LoadCache")) << text.body;
  EXPECT_TRUE(Has(one.Get("/hotspots/growth?display_type=dot"), "40MB"));
  EXPECT_EQ(one.Browse("/hotspots/heap?view=" + IdIn(address)).status, 404)
      << "an id is of one type";
}

TEST(Hotspots, OnlyTheLastAreKept) {
  Limits limits;
  limits.kept_profiles = 2;
  OneProcess one(limits);
  std::vector<std::string> addresses;
  for (int i = 0; i < 3; ++i) addresses.push_back(NewProfile(&one));
  EXPECT_EQ(one.Browse(addresses[0]).status, 404);
  EXPECT_EQ(one.Browse(addresses[1]).status, 200);
  const Response page = one.Browse(addresses[2]);
  EXPECT_TRUE(Has(page, IdIn(addresses[1]))) << "to choose from";
  EXPECT_FALSE(Has(page, IdIn(addresses[0])));
}

TEST(Hotspots, AnIdOfAnotherProcessIsNotFound) {
  auto a = std::make_shared<testing::FakeProcess>(1);
  auto b = std::make_shared<testing::FakeProcess>(2);
  Endpoint endpoint(
      std::make_shared<testing::FakeProcesses>(std::vector<std::shared_ptr<Process>>{a, b}));
  Request request;
  request.path = "/pid/1/hotspots/heap";
  const Response r = testing::HandleAndWait(&endpoint, request);
  ASSERT_EQ(r.status, 200);
  request.query = "view=" + std::string(r.Header("X-Heapgauge-View"));
  EXPECT_EQ(testing::HandleAndWait(&endpoint, request).status, 200);
  request.path = "/pid/2/hotspots/heap";
  EXPECT_EQ(testing::HandleAndWait(&endpoint, request).status, 404);
}

TEST(Hotspots, ParametersComeFromClosedLists) {
  OneProcess one;
  const std::string id = IdIn(NewProfile(&one));
  for (const std::string& word : testing::HostileWords()) {
    for (const char* query : {"view=", "base=", "display_type=", "console=", "engine="}) {
      for (const bool browser : {false, true}) {
        const std::string target = "/hotspots/heap?" + std::string(query) + word;
        const Response r = browser ? one.Browse(target) : one.Get(target);
        EXPECT_TRUE(r.status == 400 || r.status == 404) << target << " " << r.status;
        EXPECT_EQ(r.body.find("alert(1)"), std::string::npos);
        EXPECT_EQ(r.body.find("passwd"), std::string::npos);
        EXPECT_EQ(r.Header("Set-Cookie"), "");
      }
    }
    EXPECT_EQ(one.Browse("/hotspots/heap?view=" + id + "&" + word + "=1").status, 400);
  }
  EXPECT_EQ(one.Get("/hotspots/heap?seconds=5").status, 400);
  EXPECT_EQ(one.Post("/hotspots/heap").status, 405);
}

TEST(Hotspots, PagesOfOtherSitesMayLinkButNotTakeProfiles) {
  OneProcess one;
  Headers picture = {
      {"User-Agent", "Mozilla/5.0"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Dest", "image"}};
  EXPECT_EQ(one.Get("/hotspots/heap", picture).status, 403);
  EXPECT_EQ(one.process->taken, 0);
  Headers link = {{"User-Agent", "Mozilla/5.0"},
                  {"Sec-Fetch-Site", "cross-site"},
                  {"Sec-Fetch-Dest", "document"}};
  EXPECT_EQ(one.Get("/hotspots/heap", link).status, 303);
}

TEST(Hotspots, NamesOfTheProgramCannotBecomeMarkup) {
  OneProcess one;
  const std::string evil = "</pre><script>alert(1)</script>\"'&";
  heapgauge::testing::Maker m;
  const ModuleId module = m.Module("/bin/x\" URL=\"javascript:alert(1)");
  m.Row({m.Function(evil, 1, evil, module), m.Function("main")}, 6 << 20, 8 << 20);
  one.process->profile = m.profile();
  one.process->facts.command_line = {evil};
  one.process->facts.allocator = evil;
  const std::string id = IdIn(NewProfile(&one));
  for (const char* display : {"text", "dot", "flame"}) {
    const Response page = one.Browse("/hotspots/heap?view=" + id + "&display_type=" + display);
    EXPECT_EQ(page.status, 200);
    EXPECT_FALSE(Has(page, "<script>alert")) << display;
    const Response picture = one.Get("/hotspots/heap?view=" + id + "&display_type=" + display);
    if (std::string(display) != "text" && std::string(display) != "dot") {
      EXPECT_FALSE(Has(picture, "<script>alert")) << display;
    }
  }
  EXPECT_FALSE(Has(one.Get("/hotspots/heap?view=" + id + "&display_type=svg"), "<script>alert"));
  const Response dot = one.Get("/hotspots/heap?view=" + id + "&display_type=dot");
  EXPECT_FALSE(Has(dot, "x\" URL=\"javascript")) << dot.body;
}

TEST(Hotspots, AnEnginesProfileIsShownTheSameWay) {
  OneProcess one;
  testing::FakeEngine engine;
  one.process->own_engines = {&engine};
  const Response r = one.Get("/hotspots/heap?engine=jemalloc");
  EXPECT_EQ(r.status, 200) << r.body;
  EXPECT_EQ(one.process->taken, 0);
  EXPECT_EQ(one.Get("/hotspots/heap?engine=tcmalloc").status, 404);
}

TEST(Hotspots, WhatIsMissingIsSaid) {
  OneProcess one;
  one.process->facts.active = false;
  one.process->facts.lost = {{"table full", 12}};
  one.process->facts.lost_bytes = 3 << 20;
  const Response page = one.Browse(NewProfile(&one));
  EXPECT_TRUE(Has(page, "Sampling is switched off"));
  EXPECT_TRUE(Has(page, "12 samples were lost, about 3.0 MB"));
  one.process->error = "the gauge file is gone";
  const Response gone = one.Browse("/hotspots/heap");
  EXPECT_EQ(gone.status, 409);
  EXPECT_TRUE(Has(gone, "the gauge file is gone"));
}

}  // namespace
}  // namespace heapgauge::endpoint
