// The part of ProcessRecorder that talks with a program which wants its leaks checked.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "core/os/process.h"
#include "core/trace/record/process_recorder.h"

namespace heapgauge::trace {
namespace {

template <typename Word>
void StoreShared(Word& word, Word value) {
  std::atomic_ref<Word>(word).store(value, std::memory_order_relaxed);
}

}  // namespace

std::optional<LeakQuestion> ProcessRecorder::question() {
  const wire::LeakControl& leaks = gauge_.header().leaks;
  const uint32_t number = LoadShared(leaks.check_requests);
  if (number == LoadShared(leaks.check_answers)) return std::nullopt;
  LeakQuestion question;
  const uint32_t reason = LoadShared(leaks.check_reason);
  question.reason = reason == static_cast<uint32_t>(wire::CheckReason::kScope)
                        ? wire::CheckReason::kScope
                        : wire::CheckReason::kExit;
  question.number = number;
  FindThreads();
  question.thread = ThreadHere(LoadShared(leaks.check_thread));
  const uint64_t since = LoadShared(leaks.check_since);
  question.since_ns = since == 0 ? 0 : SinceStart(converter_->ToNs(since));
  question.stack_pointer = LoadShared(leaks.check_stack_pointer);
  return question;
}

uint64_t ProcessRecorder::now_ns() const {
  return std::max(last_time_ns_, SinceStart(MonotonicNow()));
}

void ProcessRecorder::Answer(uint32_t number, const LeakAnswer& answer) {
  wire::LeakControl& leaks = gauge_.leaks();
  StoreShared(leaks.check_error, answer.error);
  StoreShared(leaks.lost_blocks, answer.lost_blocks);
  StoreShared(leaks.lost_bytes, answer.lost_bytes);
  StoreShared(leaks.possible_blocks, answer.possible_blocks);
  StoreShared(leaks.possible_bytes, answer.possible_bytes);
  StoreShared(leaks.live_blocks, answer.live_blocks);
  StoreShared(leaks.live_bytes, answer.live_bytes);
  std::atomic_ref<uint32_t>(leaks.check_answers).store(number, std::memory_order_release);
  syscall(SYS_futex, &leaks.check_answers, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace heapgauge::trace
