#include "agent/hooks/service_loader.h"

#include <dlfcn.h>

#include <atomic>

#include "agent/hooks/api.h"
#include "agent/hooks/slow_path.h"
#include "agent/record/recorder.h"
#include "agent/sys/loaded_object.h"
#include "agent/sys/os.h"
#include "agent/sys/text.h"
#include "agent/sys/thread_state.h"

#ifdef HG_LINKED_IN
#pragma weak dlsym
#endif

namespace heapgauge::agent {
namespace {

using PathText = FixedText<1024>;

PathText library;  // path of the service library; empty if it cannot be told
FixedText<256> address;
FixedText<1024> token_file;
FixedText<1024> dump_directory;
bool insecure = false;
bool verbose = false;
bool agent_started = false;

std::atomic<const wire::Service*> service;
// The process in which some thread loads, or did: one does, the others wait for it. A number rather
// than a lock, since a child that is forked meanwhile would wait for ever.
std::atomic<uint32_t> loader;
std::atomic<bool> tried;
FixedText<512> failure;

void Exclude(int on) { ExcludeThread(on != 0); }

void FollowControl() {
  control.Follow();
  StartCounting();
}

const wire::ServiceHost host = {
    .version = wire::kServiceVersion,
    .gauge_path = heapgauge_gauge_path,
    .exclude_thread = Exclude,
    .follow_control = FollowControl,
    .dump_directory = dump_directory.c_str(),
};

// Adds a path, made absolute: the program may change its directory.
template <size_t kBytes>
void AddAbsolute(const char* path, FixedText<kBytes>* text) {
  if (path[0] != '/' && path[0] != '\0') {
    char current[1024];
    if (os::CurrentDirectory(current, sizeof current) <= 0) return;
    text->Add(current).Add('/');
  }
  text->Add(path);
}

void FindLibrary(const char* directory) {
  PathText path;
  if (directory[0] != '\0') {
    AddAbsolute(directory, &path);
    path.Add('/');
  } else {
    LoadedObject self;
    if (!ObjectAt(reinterpret_cast<uintptr_t>(&FindLibrary), &self)) return;
    if (self.main_program) {  // linked in: where the dynamic linker looks
      library.Add(wire::kServiceFileName);
      return;
    }
    AddAbsolute(self.path, &path);
    const size_t end = static_cast<size_t>(BaseName(path.c_str()) - path.c_str());
    PathText whole = path;
    path.Clear();
    for (size_t i = 0; i < end; ++i) path.Add(whole.c_str()[i]);
  }
  path.Add(wire::kServiceFileName);
  if (!path.cut() && path.c_str()[0] == '/') library = path;
}

struct Linker {
  void* (*open)(const char*, int) = nullptr;
  char* (*error)() = nullptr;
};

#ifndef HG_LINKED_IN
Linker FindLinker() { return {dlopen, dlerror}; }
#else
// A static program may have a dlopen inside, but what that loads brings a second C library along.
// And the linker would warn of one that is called by name.
Linker FindLinker() {
  Linker linker;
  LoadedObject self;
  if (&dlsym == nullptr || !ObjectAt(reinterpret_cast<uintptr_t>(&FindLinker), &self))
    return linker;
  const ProgramHeaders headers = HeadersOf(self);
  for (size_t i = 0; i < headers.count; ++i) {
    if (headers.first[i].p_type != PT_INTERP) continue;
    linker.open = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_DEFAULT, "dlopen"));
    linker.error = reinterpret_cast<char* (*)()>(dlsym(RTLD_DEFAULT, "dlerror"));
  }
  return linker;
}
#endif

const wire::Service* Load() {
  const Linker linker = FindLinker();
  if (linker.open == nullptr) {
    failure.Add("a static program cannot load the service library; ask `heapgauge serve`");
    return nullptr;
  }
  if (library.length() == 0) {
    failure.Add("the directory of libheapgauge.so cannot be told; set HEAPGAUGE_LIBDIR");
    return nullptr;
  }
  void* handle = linker.open(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = linker.error();
    failure.Add("cannot load the service library: ").Add(why != nullptr ? why : library.c_str());
    return nullptr;
  }
  auto* entry = reinterpret_cast<wire::ServiceEntry*>(dlsym(handle, wire::kServiceEntryName));
  const wire::Service* found = entry == nullptr ? nullptr : entry(&host);
  if (found == nullptr || found->version != wire::kServiceVersion) {
    failure.Add(library.c_str()).Add(" belongs to another version of libheapgauge.so");
    return nullptr;
  }
  return found;
}

void Tell(const char* what, const char* detail) {
  if (!verbose) return;
  FixedText<1024> line;
  line.Add("heapgauge: ").Add(what).Add(detail).Add('\n');
  const os::SignalsBlocked blocked;
  os::WriteLine(2, line.c_str(), line.length());
}

}  // namespace

void RememberService(const Settings& settings, bool started) {
  agent_started = started;
  address.Add(settings.http);
  AddAbsolute(settings.token_file, &token_file);
  AddAbsolute(settings.dump.directory, &dump_directory);
  insecure = settings.insecure;
  verbose = settings.dump.verbose;
  FindLibrary(settings.library_directory);
}

const wire::Service* LoadedService() { return service.load(std::memory_order_acquire); }

const wire::Service* LoadService() {
  if (const wire::Service* loaded = LoadedService()) return loaded;
  if (!agent_started) {
    hg_last_error = "the agent could not make a gauge file; `heapgauge doctor` tells why";
    return nullptr;
  }
  const uint32_t self = os::ProcessId();
  uint32_t nobody = 0;
  if (loader.compare_exchange_strong(nobody, self)) {
    ExcludeThread(true);
    service.store(Load(), std::memory_order_release);
    ExcludeThread(false);
    tried.store(true, std::memory_order_release);
  }
  while (!tried.load(std::memory_order_acquire)) {
    if (loader.load() != self || !os::Nap(1'000'000)) {
      hg_last_error = "this process was forked while its parent loaded the service library";
      return nullptr;
    }
  }
  const wire::Service* loaded = LoadedService();
  if (loaded == nullptr) hg_last_error = failure.c_str();
  return loaded;
}

void OpenDebugPort() {
  if (address.length() == 0) return;
  if (address.cut() || token_file.cut()) {
    Tell("HEAPGAUGE_HTTP or HEAPGAUGE_TOKEN_FILE is too long", "");
    return;
  }
  const wire::Service* loaded = LoadService();
  if (loaded == nullptr) return Tell("no debug port: ", hg_last_error);
  if (loaded->serve(address.c_str(), token_file.c_str(), insecure) != HEAPGAUGE_OK) {
    return Tell("no debug port: ", loaded->error());
  }
  Tell("profiles of this process at ", loaded->url());
}

const char* TokenFile() { return token_file.c_str(); }
bool MayServeInsecurely() { return insecure; }

}  // namespace heapgauge::agent

// The part of the program's interface that the service library carries out: calls are passed on.
// The other part is in api.cc.

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
