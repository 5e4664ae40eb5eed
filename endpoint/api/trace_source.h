// An exact trace as a source: any moment, any range, any kind of block. It stays open with sums of
// its beginning, so that a range of it costs the reading of two segments
// (core/trace/answer/trace_profile.h).
//
// A trace that is still being written is followed: who asks finds it as far as it is written, and
// requests with the same word (Filter::hold) find the same. Each request costs a look at the size
// of the file; where that has grown, only what is new is read.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/trace/answer/selected_blocks.h"
#include "core/trace/answer/trace_profile.h"
#include "endpoint/api/recent.h"
#include "endpoint/api/source.h"

namespace heapgauge::endpoint::api {

class TraceSource final : public Source {
 public:
  // `name_stacks` gives the stacks of the trace their names; called once, and again for each state
  // of a trace that grows.
  TraceSource(std::shared_ptr<const trace::TraceFile> trace, std::string name,
              trace::NameStacks name_stacks);

  Facts facts() override;
  std::string EditionOf(const std::string& hold) override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;
  Result<std::string> Lifetimes(const Filter& filter, const LifetimeWords& words) override;
  Result<leaks::Check> LeaksOfFile() override;
  Result<std::string> MemoryMap(const Filter& filter, const MapWords& words) override;
  Result<History> Recall(const Filter& filter, const RowsOverTime& rows) override;
  std::shared_ptr<const trace::TraceFile> trace() override { return Newest()->trace; }

 private:
  // The blocks of one moment: who looks at the map asks about many places of it.
  struct Placed;
  // The trace as far as it was written at some time.
  struct Reading {
    Reading(std::shared_ptr<const trace::TraceFile> of, trace::NameStacks name_stacks)
        : trace(std::move(of)), answers(trace, std::move(name_stacks)) {}
    Reading(std::shared_ptr<const trace::TraceFile> of, Reading* before)
        : trace(std::move(of)), answers(trace, &before->answers), number(before->number + 1) {}

    const std::shared_ptr<const trace::TraceFile> trace;
    trace::TraceAnswers answers;
    const uint64_t number = 0;
    std::mutex placed_mutex;
    std::string placed_key;
    std::shared_ptr<const Placed> placed;  // the last, unless it is very large
  };

  std::shared_ptr<Reading> Newest();
  // The one that requests with this word are about; "": the newest.
  std::shared_ptr<Reading> Held(const std::string& hold);
  // Of a timeline: what its filter leaves, the text of that, and what it cannot know.
  static Result<trace::BlockChoice> ChoiceOf(Reading* reading, const Filter& filter,
                                             std::string* text, std::vector<std::string>* notes);
  static Result<std::shared_ptr<const Placed>> PlacedAt(Reading* reading, const Filter& filter,
                                                        const MapWords& words);

  const std::string name_;
  std::mutex mutex_;  // of what follows
  std::shared_ptr<Reading> newest_;
  Recent<std::shared_ptr<Reading>> held_{4};
};

}  // namespace heapgauge::endpoint::api
