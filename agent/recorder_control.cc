// How the recorder is steered: by the control words of the file, whoever writes them.
#include "agent/recorder.h"
#include "agent/sys/os.h"
#include "agent/sys/syscall.h"
#include "agent/table/atomic_file.h"
#include "agent/table/timeline.h"

namespace heapgauge::agent {

void Recorder::FollowControl() {
  GaugeFile* file = OwnFile();
  if (file == nullptr) {
    // A forked child without a file of its own does as its parent is told.
    if (!life_.has_started() || !life_.is_forked()) return;
    const auto* parents = reinterpret_cast<const wire::Control*>(hg_control_word);
    if (parents->generation == hg_seen_generation) return;
    sampler_.SetActive(parents->active != 0);
    Ready();
    return;
  }
  wire::Control& control = file->header()->control;
  const uint32_t generation = std::atomic_ref(control.generation).load(std::memory_order_acquire);
  if (generation == hg_seen_generation) return;
  if (!following_.Lock()) return;
  const uint64_t interval = control.interval;
  if (interval != sampler_.interval()) sampler_.SetInterval(interval);
  sampler_.SetMaxPerSecond(control.max_samples_per_second);
  sampler_.SetActive(control.active != 0);
  if (control.reset_requests != resets_seen_) {
    resets_seen_ = control.reset_requests;
    Reset(Now());
    Put(file->header()->resets, ++resets_);
  }
  statistics_wanted_.store(control.statistics_requests, std::memory_order_relaxed);
  PublishSampler(file->header());
  hg_seen_generation = generation;
  std::atomic_ref(file->header()->seen_generation).store(generation, std::memory_order_release);
  following_.Unlock();
  copy_.Follow(*file);
}

bool Recorder::Available() const { return life_.has_started() && !life_.has_failed(); }

// Announces a change of the control words and follows it.
void Recorder::FollowRequest(wire::Control& control) {
  const uint32_t mine =
      std::atomic_ref(control.generation).fetch_add(1, std::memory_order_acq_rel) + 1;
  // Another thread may be at it, having read the words before ours was written.
  for (int tries = 0; tries < 1000; ++tries) {
    FollowControl();
    if (static_cast<int32_t>(hg_seen_generation - mine) >= 0) break;
    arch::Pause();
  }
  // The gap may be drawn anew at any block's start: this thread begins at once.
  hg_thread.interval = 0;
  hg_thread.capped = 0;
  hg_thread.countdown = 0;
}

template <typename Word>
bool Recorder::Request(Word wire::Control::*word, Word value) {
  if (!Ready()) return false;
  wire::Control& control = file_.header()->control;
  Put(control.*word, value);
  FollowRequest(control);
  return true;
}

bool Recorder::RequestActive(bool active) {
  return Request(&wire::Control::active, uint32_t{active});
}

bool Recorder::RequestInterval(uint64_t bytes) { return Request(&wire::Control::interval, bytes); }

bool Recorder::RequestReset() {
  if (!Ready()) return false;
  wire::Control& control = file_.header()->control;
  std::atomic_ref(control.reset_requests).fetch_add(1, std::memory_order_relaxed);
  FollowRequest(control);
  return true;
}

void Recorder::Reset(uint64_t now_ns) {
  wire::Header& header = *file_.header();
  reset_ns_.store(now_ns);
  Put(header.reset_ns, now_ns);
  stacks_.ClearCounters(&file_);
  live_bytes_.store(0);
  live_objects_.store(0);
  allocated_objects_.store(0);
  freed_objects_.store(0);
  auto* totals = reinterpret_cast<uint64_t*>(&header.totals);
  for (size_t i = 0; i < sizeof header.totals / sizeof *totals; ++i) Put<uint64_t>(totals[i], 0);
  peak_.Clear(&file_);
  ClearTimeline(&file_);
  if (dumper_.armed()) dumper_.ForgetLive();
  watch_.Forget();
}

}  // namespace heapgauge::agent
