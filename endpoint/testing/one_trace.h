// A trace that was made by a test, and an endpoint over it. Not for use outside of tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/trace/testing/make_trace.h"
#include "endpoint/api/sources.h"
#include "endpoint/api/trace_source.h"
#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint::testing {

class OneTrace {
 public:
  explicit OneTrace(const trace::testing::MakeTrace& made) : OneTrace(made.Open()) {}
  explicit OneTrace(std::shared_ptr<const trace::TraceFile> opened, api::SourceLookup lookup = {})
      : trace(std::move(opened)),
        processes_(std::make_shared<FakeProcesses>(std::vector<std::shared_ptr<Process>>{})),
        sources_(std::make_shared<api::Sources>(processes_)),
        endpoint_(processes_, sources_, {}) {
    sources_->set_lookup(std::move(lookup));
    sources_->Add(std::make_shared<api::TraceSource>(trace, "made.hgt", trace::NameStacks()));
  }

  Response Get(const std::string& target) { return AskAt(&endpoint_, "GET", target); }
  // The answer, which must be one.
  nlohmann::json Ask(const std::string& target) {
    const Response response = Get(target);
    EXPECT_EQ(response.status, 200) << target << ": " << response.body;
    return nlohmann::json::parse(response.body, nullptr, false);
  }

  const std::shared_ptr<const trace::TraceFile> trace;

 private:
  const std::shared_ptr<Processes> processes_;
  const std::shared_ptr<api::Sources> sources_;
  Endpoint endpoint_;
};

}  // namespace heapgauge::endpoint::testing
