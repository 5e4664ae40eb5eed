// A trace file that grows while a test looks at it: what was made, written in pieces. Not for use
// outside of tests.
//
//   GrowingTrace growing(made);            // tables, no event yet
//   const auto trace = TraceFile::Open(growing.path());
//   growing.WriteUpTo(100);                // the first hundred events are in the file
//   growing.Finish();
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace::testing {

class GrowingTrace {
 public:
  explicit GrowingTrace(MakeTrace made) : made_(std::move(made)) {
    Facts facts = made_.facts;
    facts.recording.state = RecordingState::kLive;
    auto created = TraceWriter::Create(file_.path(), facts, made_.options, true);
    if (!created) std::abort();
    writer_ = *std::move(created);
    made_.WriteTables(writer_.get());
    EXPECT_TRUE(writer_->Flush());
  }

  const MakeTrace& made() const { return made_; }
  const std::string& path() const { return file_.path(); }
  TraceWriter& writer() { return *writer_; }
  size_t events() const { return made_.events().size(); }

  void WriteUpTo(size_t events) {
    made_.WriteEvents(written_, events, writer_.get());
    written_ = events;
    EXPECT_TRUE(writer_->Flush());
  }
  // As if the program had ended.
  void Finish() {
    WriteUpTo(events());
    EXPECT_TRUE(made_.WriteEnd(writer_.get()));
    writer_.reset();
  }
  // As if the recorder were killed.
  void Abandon() { writer_.reset(); }

 private:
  const MakeTrace made_;
  const TemporaryTrace file_;
  std::unique_ptr<TraceWriter> writer_;
  size_t written_ = 0;
};

}  // namespace heapgauge::trace::testing
