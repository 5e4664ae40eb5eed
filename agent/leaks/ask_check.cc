#include "agent/leaks/ask_check.h"

#include <linux/futex.h>
#include <time.h>

#include <atomic>

#include "agent/sys/os.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {
namespace {

constexpr uint64_t kNapNs = 100'000'000;
constexpr uint64_t kPatienceNs = 5'000'000'000;  // without a sign of life
constexpr uint64_t kLongestNs = 600'000'000'000;

constexpr uint64_t kTurnNapNs = 1'000'000;
constexpr int kTurns = 60'000;

std::atomic<uint64_t> asking{0};   // process id of the one that is at it, above its thread id
std::atomic<uint32_t> at_exit{0};  // of the one that wants its last check

// False: nobody will answer.
bool WaitForAnswer(wire::Header* header, uint32_t number) {
  wire::LeakControl& leaks = header->leaks;
  const uint64_t start = os::MonotonicNs();
  uint64_t last_sign_ns = start;
  uint32_t beat = std::atomic_ref(header->trace.beat).load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t answers = std::atomic_ref(leaks.check_answers).load(std::memory_order_acquire);
    if (answers == number) return true;
    if (std::atomic_ref(header->trace_over).load(std::memory_order_relaxed) != 0) return false;
    const timespec nap{0, static_cast<long>(kNapNs)};
    const long result =
        Syscall(SYS_futex, &leaks.check_answers, FUTEX_WAIT, answers, &nap, nullptr, 0);
    if (result == -ENOSYS) return false;
    const uint64_t now = os::MonotonicNs();
    const uint32_t new_beat = std::atomic_ref(header->trace.beat).load(std::memory_order_relaxed);
    // Not to be mistaken: a long nap in which this process was stopped itself.
    if (new_beat != beat || now - last_sign_ns > 2 * kPatienceNs) last_sign_ns = now;
    beat = new_beat;
    if (now - last_sign_ns > kPatienceNs || now - start > kLongestNs) return false;
  }
}

uint64_t Self() { return uint64_t{os::ProcessId()} << 32 | os::ThreadId(); }

CheckAnswer TryAsk(HeaderToAsk* header_to_ask, const CheckQuestion& question,
                   wire::LeakControl* words) {
  wire::Header* const header = header_to_ask();
  if (header == nullptr) return CheckAnswer::kNobody;
  // A forked child finds its parent's number here, and is not held up by it.
  const uint32_t self = os::ProcessId();
  const bool is_last = question.reason == wire::CheckReason::kExit;
  if (is_last) at_exit.store(self);
  if (!is_last && at_exit.load() == self) return CheckAnswer::kBusy;
  uint64_t other = asking.load();
  if (other >> 32 == self || !asking.compare_exchange_strong(other, Self())) {
    return CheckAnswer::kBusy;
  }
  wire::LeakControl& leaks = header->leaks;
  Put(leaks.check_reason, static_cast<uint32_t>(question.reason));
  Put(leaks.check_thread, os::ThreadId());
  Put(leaks.check_since, question.since);
  Put(leaks.check_stack_pointer, uint64_t{question.stack_pointer});
  const uint32_t number = std::atomic_ref(leaks.check_requests).load(std::memory_order_relaxed) + 1;
  Put(leaks.check_number, number);
  std::atomic_ref(leaks.check_requests).store(number, std::memory_order_release);
  const bool answered = WaitForAnswer(header, number);
  *words = leaks;
  asking.store(0);
  if (!answered) return CheckAnswer::kNobody;
  return words->check_error == 0 ? CheckAnswer::kDone : CheckAnswer::kRefused;
}

}  // namespace

CheckAnswer AskForCheck(HeaderToAsk* header, const CheckQuestion& question,
                        wire::LeakControl* words) {
  CheckAnswer answer = CheckAnswer::kBusy;
  if (asking.load() == Self()) return answer;  // a handler within a check must not wait for that
  for (int i = 0; i < kTurns && answer == CheckAnswer::kBusy; ++i) {
    answer = TryAsk(header, question, words);
    if (answer == CheckAnswer::kBusy && !os::Nap(kTurnNapNs)) break;
  }
  return answer;
}

}  // namespace heapgauge::agent
