#include "service/profiles.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "core/fold/frames.h"
#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/gauge/gauge_dump.h"
#include "core/gauge/gauge_reader.h"
#include "core/symbolize/symbolizer.h"
#include "service/runtime.h"

namespace heapgauge::service {
namespace {

Result<std::string> OwnGauge() {
  std::string path = Host().gauge_path();
  if (path.empty()) {
    return Fail(ErrorCode::kUnavailable,
                "this process has no gauge file; `heapgauge doctor` tells why");
  }
  return path;
}

void AddNames(Profile* profile) {
  SymbolizeOptions options;
  options.pid = static_cast<uint32_t>(getpid());
  for (std::string& note : Symbolize(options, profile).notes) {
    profile->comments.push_back(std::move(note));
  }
}

Result<std::string> Write(Profile profile, Format format) {
  StringSink sink;
  if (format == Format::kText) {
    HG_TRY(WriteHeapText(profile, {}, &sink));
  } else {
    AddNames(&profile);
    const PprofWriteOptions options = {AllocationFunctionRegex(), {}, "(unknown stack)", true};
    HG_TRY(WritePprof(profile, options, &sink));
  }
  return sink.text();
}

}  // namespace

Result<Profile> TakeNow() {
  HG_ASSIGN(const std::string path, OwnGauge());
  return ReadGaugeFile(path);
}

Result<std::string> DumpNow(Format format) {
  if (format == Format::kGauge) {
    HG_ASSIGN(const std::string path, OwnGauge());
    HG_ASSIGN(SavedGauge saved, SaveGauge(path, [](Profile*) {}));
    return std::move(saved.bytes);
  }
  HG_ASSIGN(Profile profile, TakeNow());
  return Write(std::move(profile), format);
}

Result<std::string> Difference(const Profile& before, const Profile& after, Format format) {
  std::vector<Profile> both = {after, before};
  ScaleProfile(-1, &both[1]);
  HG_ASSIGN(Profile difference, MergeProfiles(std::move(both)));
  return Write(std::move(difference), format);
}

}  // namespace heapgauge::service
