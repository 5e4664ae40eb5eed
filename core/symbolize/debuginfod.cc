#include "core/symbolize/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/os/process.h"

namespace heapgauge {
namespace {

// The client library's interface, as its manual page debuginfod_find_debuginfo(3) has it.
using Progress = int (*)(void* client, long done, long total);
using BeginFunction = void* (*)();
using EndFunction = void (*)(void* client);
using FindFunction = int (*)(void* client, const unsigned char* id, int id_length, char** path);
using FindSourceFunction = int (*)(void* client, const unsigned char* id, int id_length,
                                   const char* source, char** path);
using SetProgressFunction = void (*)(void* client, Progress progress);

// The library's callback has no argument of its own for us; one object is asked at a time.
thread_local uint64_t t_deadline_ns = 0;

int StopAtDeadline(void*, long, long) { return MonotonicNow() > t_deadline_ns ? 1 : 0; }

}  // namespace

std::unique_ptr<Debuginfod> Debuginfod::FromEnvironment(uint64_t limit_seconds) {
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || *urls == 0) return nullptr;
  return std::unique_ptr<Debuginfod>(new Debuginfod(limit_seconds));
}

bool Debuginfod::Start() {
  started_ = true;
  library_ = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    trouble_ = "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 is not installed (libdebuginfod1)";
    return false;
  }
  const auto begin = reinterpret_cast<BeginFunction>(dlsym(library_, "debuginfod_begin"));
  const auto set_progress =
      reinterpret_cast<SetProgressFunction>(dlsym(library_, "debuginfod_set_progressfn"));
  if (begin != nullptr) client_ = begin();
  if (client_ == nullptr) {
    trouble_ = "libdebuginfod could not be started";
    return false;
  }
  if (set_progress != nullptr) set_progress(client_, StopAtDeadline);
  deadline_ns_ = MonotonicNow() + limit_seconds_ * 1'000'000'000;
  return true;
}

Debuginfod::~Debuginfod() {
  if (client_ != nullptr) {
    const auto end = reinterpret_cast<EndFunction>(dlsym(library_, "debuginfod_end"));
    if (end != nullptr) end(client_);
  }
  // The library stays loaded: curl below it does not like to be unloaded.
}

bool Debuginfod::Ready() {
  if (!started_) Start();
  t_deadline_ns = deadline_ns_;
  return client_ != nullptr && trouble_.empty();
}

std::string Debuginfod::FindDebugInfo(const std::string& build_id) {
  if (!Ready()) return "";
  const auto find = reinterpret_cast<FindFunction>(dlsym(library_, "debuginfod_find_debuginfo"));
  if (find == nullptr) return "";
  char* path = nullptr;
  // An id length of 0 means that the id is text.
  const int fd = find(client_, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path);
  return Answer(fd, path);
}

std::string Debuginfod::FindSource(const std::string& build_id, const std::string& source) {
  if (!Ready()) return "";
  const auto find = reinterpret_cast<FindSourceFunction>(dlsym(library_, "debuginfod_find_source"));
  if (find == nullptr) return "";
  char* path = nullptr;
  const int fd = find(client_, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0,
                      source.c_str(), &path);
  return Answer(fd, path);
}

std::string Debuginfod::Answer(int fd, char* path) {
  if (fd < 0) {
    // ENOENT: the servers do not have it. ENOSYS: no servers. All else is trouble with them.
    // The library says ENOENT also when it was stopped.
    if (MonotonicNow() > deadline_ns_) {
      trouble_ = "debuginfod: no answer within " + std::to_string(limit_seconds_) +
                 " seconds; --no-debuginfod does not ask";
    } else if (fd != -ENOENT) {
      trouble_ = std::string("debuginfod: ") + std::strerror(-fd);
    }
    return "";
  }
  close(fd);
  std::string result = path == nullptr ? "" : path;
  std::free(path);
  return result;
}

}  // namespace heapgauge
