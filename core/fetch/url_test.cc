#include "core/fetch/http.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

std::string Planned(const char* source, int seconds = -1, int timeout = -1) {
  const auto plan = PlanFetch(source, "/debug/pprof/profile", seconds, timeout);
  return plan ? plan->url.Text() + " " + std::to_string(plan->timeout_seconds) : "";
}

TEST(UrlTest, TakesAUrlApartAndPutsItTogether) {
  const auto url = ParseUrl("HTTPS://user:secret@host:8080/a/b?x=1&y=2#part");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "user:secret@host:8080");
  EXPECT_EQ(url->path, "/a/b");
  EXPECT_EQ(url->query, "x=1&y=2");
  EXPECT_EQ(url->Text(), "https://user:secret@host:8080/a/b?x=1&y=2");
}

TEST(UrlTest, WhatIsNoUrlIsNone) {
  for (const char* text : {"", "heap.pb.gz", "ftp://host/x", "http://", "http:///path", "://x",
                           "http://a b/c", "http://host/\x01"}) {
    EXPECT_FALSE(ParseUrl(text)) << text;
  }
}

TEST(UrlTest, HostAndPortAreToldFromFiles) {
  EXPECT_TRUE(UrlOfSource("localhost:6060"));
  EXPECT_TRUE(UrlOfSource("127.0.0.1:6060/debug/pprof/heap"));
  EXPECT_TRUE(UrlOfSource("[::1]:6060/debug/pprof/heap"));
  EXPECT_FALSE(UrlOfSource("localhost"));
  EXPECT_FALSE(UrlOfSource("dir/name:with-colon"));
  EXPECT_FALSE(UrlOfSource("./a:b"));
  EXPECT_FALSE(UrlOfSource("4242"));
}

TEST(UrlTest, AServerWithoutAPathIsAskedForTheUsualOne) {
  EXPECT_EQ(Planned("localhost:6060"), "http://localhost:6060/debug/pprof/profile 60");
  EXPECT_EQ(Planned("http://localhost:6060/"), "http://localhost:6060/debug/pprof/profile 60");
  EXPECT_EQ(Planned("localhost:6060/x"), "http://localhost:6060/x 60");
}

TEST(UrlTest, TheTimeToRecordGoesIntoTheUrl) {
  EXPECT_EQ(Planned("h:1/x", 30), "http://h:1/x?seconds=30 45");
  EXPECT_EQ(Planned("h:1/x?seconds=10&debug=1", 30), "http://h:1/x?debug=1&seconds=30 45");
  EXPECT_EQ(Planned("h:1/x?seconds=10"), "http://h:1/x?seconds=10 15");
  EXPECT_EQ(Planned("h:1/x?seconds=10", -1, 7), "http://h:1/x?seconds=10 7");
  EXPECT_EQ(Planned("h:1/x?seconds=99999999999"), "http://h:1/x?seconds=99999999999 60");
}

TEST(UrlTest, QueriesAreSortedAndEncoded) {
  EXPECT_EQ(Planned("h:1/x?b=a+b&a=%2F%zz&c"), "http://h:1/x?a=%2F%25zz&b=a+b&c= 60");
}

TEST(UrlTest, SymbolsAreBesideTheProfile) {
  EXPECT_EQ(SymbolUrlOf(*ParseUrl("http://h:1/debug/pprof/heap?debug=1")).Text(),
            "http://h:1/debug/pprof/symbol");
  EXPECT_EQ(SymbolUrlOf(*ParseUrl("http://h:1/app/pprof/heap")).Text(),
            "http://h:1/app/pprof/symbol");
  EXPECT_EQ(SymbolUrlOf(*ParseUrl("http://h:1/heapz")).Text(), "http://h:1/symbolz");
}

}  // namespace
}  // namespace heapgauge
