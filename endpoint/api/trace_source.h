// An exact trace as a source: any moment, any range, any kind of block. It stays open with sums of
// its beginning, so that a range of it costs the reading of two segments
// (core/trace/trace_answers.h).
#ifndef HEAPGAUGE_ENDPOINT_API_TRACE_SOURCE_H_
#define HEAPGAUGE_ENDPOINT_API_TRACE_SOURCE_H_

#include <memory>
#include <mutex>
#include <string>

#include "core/trace/trace_answers.h"
#include "endpoint/api/source.h"

namespace heapgauge::endpoint::api {

class TraceSource final : public Source {
 public:
  // `name_stacks` gives the stacks of the trace their names; called once.
  TraceSource(std::shared_ptr<const trace::TraceFile> trace, std::string name,
              trace::NameStacks name_stacks);

  Facts facts() override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;
  Result<std::string> Lifetimes(const Filter& filter, const LifetimeWords& words) override;
  Result<leaks::Check> LeaksOfFile() override;
  Result<std::string> MemoryMap(const Filter& filter, const MapWords& words) override;
  Result<History> Recall(const Filter& filter, const RowsOverTime& rows) override;
  std::shared_ptr<const trace::TraceFile> trace() override { return trace_; }

 private:
  // The blocks of one moment: who looks at the map asks about many places of it.
  struct Placed;
  Result<std::shared_ptr<const Placed>> PlacedAt(const Filter& filter, const MapWords& words);
  // What the filter leaves of the blocks, by when they were born too.
  Result<trace::Filter> BlocksOf(const trace::Question& question) const;

  const std::shared_ptr<const trace::TraceFile> trace_;
  const std::string name_;
  trace::TraceAnswers answers_;
  std::mutex placed_mutex_;
  std::string placed_key_;
  std::shared_ptr<const Placed> placed_;  // the last, unless it is very large
};

}  // namespace heapgauge::endpoint::api

#endif  // HEAPGAUGE_ENDPOINT_API_TRACE_SOURCE_H_
