// The entries of the service library.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/file.h"
#include "include/heapgauge/heapgauge.h"
#include "service/debug_port.h"
#include "service/own_endpoint.h"
#include "service/profiles.h"
#include "service/runtime.h"

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
