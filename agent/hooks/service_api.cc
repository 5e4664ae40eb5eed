// The part of the program's interface that the service library carries out: calls are passed on.
// The other part is in api.cc.
#include "agent/hooks/api.h"
#include "agent/hooks/service_loader.h"

namespace {

using heapgauge::agent::FailWith;
using heapgauge::agent::LoadedService;
using heapgauge::agent::LoadService;
using heapgauge::wire::Service;

// Takes over the words of a failure in the service.
int Passed(const Service* service, int result) {
  if (result != HEAPGAUGE_OK) hg_last_error = service->error();
  return result;
}

bool IsFormat(int format) {
  return format >= HEAPGAUGE_FORMAT_GAUGE && format <= HEAPGAUGE_FORMAT_TEXT;
}

constexpr char kNoFormat[] = "there is no such format";
constexpr char kNoPlace[] = "a pointer for the result is missing";

}  // namespace

int heapgauge_dump(const char* path, enum heapgauge_format format) {
  if (path == nullptr || *path == '\0') return FailWith(HEAPGAUGE_INVALID, "a path is missing");
  if (!IsFormat(format)) return FailWith(HEAPGAUGE_INVALID, kNoFormat);
  const Service* service = LoadService();
  if (service == nullptr) return HEAPGAUGE_UNAVAILABLE;
  return Passed(service, service->dump(path, format));
}

int heapgauge_dump_data(enum heapgauge_format format, void** data, size_t* size) {
  if (data == nullptr || size == nullptr) return FailWith(HEAPGAUGE_INVALID, kNoPlace);
  *data = nullptr;
  *size = 0;
  if (!IsFormat(format)) return FailWith(HEAPGAUGE_INVALID, kNoFormat);
  const Service* service = LoadService();
  if (service == nullptr) return HEAPGAUGE_UNAVAILABLE;
  return Passed(service, service->dump_data(format, data, size));
}

void heapgauge_free_data(void* data) {
  const Service* service = LoadedService();
  if (service != nullptr && data != nullptr) service->free_data(data);
}

int heapgauge_take_snapshot(heapgauge_snapshot** snapshot) {
  if (snapshot == nullptr) return FailWith(HEAPGAUGE_INVALID, kNoPlace);
  *snapshot = nullptr;
  const Service* service = LoadService();
  if (service == nullptr) return HEAPGAUGE_UNAVAILABLE;
  return Passed(service, service->take_snapshot(snapshot));
}

int heapgauge_diff(const heapgauge_snapshot* before, const heapgauge_snapshot* after,
                   enum heapgauge_format format, void** data, size_t* size) {
  if (data == nullptr || size == nullptr) return FailWith(HEAPGAUGE_INVALID, kNoPlace);
  *data = nullptr;
  *size = 0;
  if (before == nullptr || after == nullptr) {
    return FailWith(HEAPGAUGE_INVALID, "a snapshot is missing");
  }
  if (format != HEAPGAUGE_FORMAT_PROTO && format != HEAPGAUGE_FORMAT_TEXT) {
    return FailWith(HEAPGAUGE_INVALID, "a difference can be had as proto or text");
  }
  const Service* service = LoadService();
  if (service == nullptr) return HEAPGAUGE_UNAVAILABLE;
  return Passed(service, service->diff(before, after, format, data, size));
}

void heapgauge_release_snapshot(heapgauge_snapshot* snapshot) {
  const Service* service = LoadedService();
  if (service != nullptr && snapshot != nullptr) service->release_snapshot(snapshot);
}

int heapgauge_serve(const char* address) {
  if (address == nullptr || *address == '\0') {
    return FailWith(HEAPGAUGE_INVALID, "an address is missing");
  }
  const Service* service = LoadService();
  if (service == nullptr) return HEAPGAUGE_UNAVAILABLE;
  return Passed(service, service->serve(address, heapgauge::agent::TokenFile(),
                                        heapgauge::agent::MayServeInsecurely()));
}

int heapgauge_handle(const heapgauge_request* request, heapgauge_response* response) {
  if (response == nullptr) return FailWith(HEAPGAUGE_INVALID, kNoPlace);
  *response = {};
  if (request == nullptr) return FailWith(HEAPGAUGE_INVALID, "a request is missing");
  const Service* service = LoadService();
  if (service == nullptr) return HEAPGAUGE_UNAVAILABLE;
  return Passed(service, service->handle(request, response));
}

void heapgauge_free_response(heapgauge_response* response) {
  const Service* service = LoadedService();
  if (service != nullptr && response != nullptr) service->free_response(response);
}
