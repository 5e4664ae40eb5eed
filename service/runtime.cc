#include "service/runtime.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "include/heapgauge/heapgauge.h"

namespace heapgauge::service {
namespace {

const wire::ServiceHost* the_host = nullptr;
thread_local char last_error[512];

std::atomic<pid_t> owner;
std::atomic<uint32_t> calls;  // under way
std::atomic<bool> unusable;
void (*forget_in_child)() = nullptr;

void BecomeChild() {
  // Whoever was in here is not in this process, and left its locks behind.
  if (calls.exchange(0) != 0) unusable.store(true);
  if (forget_in_child != nullptr) forget_in_child();
  owner.store(getpid());
}

// fork() has told us in the child; a child made by a system call has to be noticed.
void NoticeChild() {
  static std::atomic<bool> noticing;
  if (owner.load(std::memory_order_relaxed) == getpid()) return;
  if (!noticing.exchange(true)) {
    BecomeChild();
    noticing.store(false);
  }
}

void Keep(std::string_view why) {
  const size_t size = std::min(why.size(), sizeof last_error - 1);
  std::memcpy(last_error, why.data(), size);
  last_error[size] = '\0';
}

}  // namespace

void SetHost(const wire::ServiceHost* host) {
  the_host = host;
  owner.store(getpid());
  pthread_atfork(nullptr, nullptr, BecomeChild);
}

const wire::ServiceHost& Host() { return *the_host; }

const char* LastError() { return last_error; }

int FailWith(int code, const char* why) {
  Keep(why);
  return code;
}

int FailWith(const Error& error) {
  Keep(error.message);
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return HEAPGAUGE_INVALID;
    case ErrorCode::kIo:
    case ErrorCode::kPermission:
    case ErrorCode::kNotFound:
      return HEAPGAUGE_IO;
    default:
      return HEAPGAUGE_UNAVAILABLE;
  }
}

void OnFork(void (*forget)()) { forget_in_child = forget; }

CallScope::CallScope() {
  Host().exclude_thread(1);
  NoticeChild();
  calls.fetch_add(1);
  ok_ = !unusable.load();
}

CallScope::~CallScope() {
  calls.fetch_sub(1);
  Host().exclude_thread(0);
}

}  // namespace heapgauge::service
