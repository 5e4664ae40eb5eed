#include "core/trace/answer/trace_profile.h"

#include "core/trace/answer/stack_figures.h"
#include "core/trace/answer/stack_profile.h"

namespace heapgauge::trace {

Result<Profile> ReadTraceProfile(const TraceFile& trace, const ProfileRequest& request,
                                 ProgressSink* progress, const NameStacks& name) {
  HG_ASSIGN(std::shared_ptr<const TraceFile::Stacks> stacks, trace.ReadStacks());
  if (name && request.filter.asks_about_stacks()) {
    auto named = std::make_shared<TraceFile::Stacks>(*stacks);
    name(&named->profile);
    stacks = std::move(named);
  }
  HG_ASSIGN(const StackAnswer answer,
            FigureStacks(trace, *stacks, request, SumsIndex(), nullptr, progress));
  return ProfileOf(trace, *stacks, request, answer);
}

}  // namespace heapgauge::trace
