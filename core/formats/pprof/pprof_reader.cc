#include "core/formats/pprof/pprof_reader.h"

#include "core/formats/pprof/pprof_draft.h"
#include "core/formats/pprof/pprof_messages.h"
#include "core/formats/pprof/pprof_resolve.h"

namespace heapgauge {

Result<Profile> ReadPprof(ByteStream* stream, const std::string& name) {
  PprofDraft draft;
  draft.name = name;
  HG_TRY(ReadPprofMessages(stream, &draft));
  HG_TRY(ResolvePprof(&draft));
  return std::move(draft.profile);
}

}  // namespace heapgauge
