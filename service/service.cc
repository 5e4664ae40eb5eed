#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/fold/frames.h"
#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/gauge/gauge_dump.h"
#include "core/gauge/gauge_reader.h"
#include "core/model/profile.h"
#include "core/symbolize/symbolizer.h"
#include "include/heapgauge/heapgauge.h"
#include "service/own_endpoint.h"
#include "service/runtime.h"

namespace heapgauge::service {

// Profiles of this process for the program itself: as bytes, as files, kept in memory, subtracted.
//
// Each is read from the process's own gauge file, like by anybody else. Names are resolved in this
// process, from the files that it runs, for the formats that carry names. Threads: any number.

enum class Format { kGauge = 0, kProto = 1, kText = 2 };  // as in heapgauge.h

// The profile of this moment, in that format.
Result<std::string> DumpNow(Format format);
// The profile of this moment, to keep.
Result<Profile> TakeNow();
// What is in `after` and not in `before`.
Result<std::string> Difference(const Profile& before, const Profile& after, Format format);

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

// The entries of the service library.

struct heapgauge_snapshot {
  heapgauge::Profile profile;
};

namespace heapgauge::service {
namespace {

// Memory that the program gives back by heapgauge_free_data().
int HandOver(const Result<std::string>& bytes, void** data, size_t* size) {
  if (!bytes) return FailWith(bytes.error());
  void* copy = std::malloc(bytes->size() + 1);  // a NUL behind it makes text easy to print
  if (copy == nullptr) return FailWith(HEAPGAUGE_UNAVAILABLE, "out of memory");
  std::memcpy(copy, bytes->c_str(), bytes->size() + 1);
  *data = copy;
  *size = bytes->size();
  return HEAPGAUGE_OK;
}

int Serve(const char* address, const char* token_file, int insecure) {
  return Guarded([&] {
    const Status opened = OpenPort(address, token_file, insecure != 0);
    return opened ? HEAPGAUGE_OK : FailWith(opened.error());
  });
}

int Dump(const char* path, int format) {
  return Guarded([&] {
    const auto bytes = DumpNow(static_cast<Format>(format));
    if (!bytes) return FailWith(bytes.error());
    const Status written = WriteWholeFile(path, *bytes);
    return written ? HEAPGAUGE_OK : FailWith(written.error());
  });
}

int DumpData(int format, void** data, size_t* size) {
  return Guarded([&] { return HandOver(DumpNow(static_cast<Format>(format)), data, size); });
}

int TakeSnapshot(heapgauge_snapshot** snapshot) {
  return Guarded([&] {
    auto profile = TakeNow();
    if (!profile) return FailWith(profile.error());
    *snapshot = new heapgauge_snapshot{*std::move(profile)};
    return int{HEAPGAUGE_OK};
  });
}

int Diff(const heapgauge_snapshot* before, const heapgauge_snapshot* after, int format, void** data,
         size_t* size) {
  return Guarded([&] {
    return HandOver(Difference(before->profile, after->profile, static_cast<Format>(format)), data,
                    size);
  });
}

void ReleaseSnapshot(heapgauge_snapshot* snapshot) {
  const CallScope scope;
  delete snapshot;
}

const wire::Service kService = {
    .version = wire::kServiceVersion,
    .error = LastError,
    .serve = Serve,
    .url = PortUrl,
    .handle = Handle,
    .free_response = FreeResponse,
    .dump = Dump,
    .dump_data = DumpData,
    .free_data = std::free,
    .take_snapshot = TakeSnapshot,
    .diff = Diff,
    .release_snapshot = ReleaseSnapshot,
    .end = EndPort,
};

}  // namespace
}  // namespace heapgauge::service

extern "C" __attribute__((visibility("default")))
heapgauge::wire::ServiceEntry heapgauge_service_v1;

const heapgauge::wire::Service* heapgauge_service_v1(const heapgauge::wire::ServiceHost* host) {
  if (host->version != heapgauge::wire::kServiceVersion) return nullptr;
  heapgauge::service::SetHost(host);
  heapgauge::service::OnFork(heapgauge::service::ForgetPort);
  return &heapgauge::service::kService;
}
