#include "agent/record/control.h"

#include "agent/sys/thread_state.h"
#include "agent/table/gauge_file.h"

namespace {
const heapgauge::wire::Control no_control{};
}  // namespace

uint32_t hg_seen_generation = 0;
const uint32_t* hg_control_word = &no_control.generation;

namespace heapgauge::agent {

void ControlFollower::ForgetThreads() {
  following_.Unlock();
  copy_.Forget();
  resets_seen_ = resets_ = 0;
}

void ControlFollower::StartInChild(const wire::Header& header) {
  hg_seen_generation = 0;
  ReadFrom(header);
}

void ControlFollower::FailInChild() {
  samples_.sampler().SetActive(false);
  hg_seen_generation = *hg_control_word;  // nothing to wake up for
}

void ControlFollower::FollowChange(GaugeFile* file) {
  Sampler& sampler = samples_.sampler();
  if (file == nullptr) {
    // A forked child without a file of its own does as its parent is told.
    if (!session_.has_started() || !session_.is_forked()) return;
    const auto* parents = reinterpret_cast<const wire::Control*>(hg_control_word);
    if (parents->generation == hg_seen_generation) return;
    sampler.SetActive(parents->active != 0);
    session_.Ready();
    return;
  }
  wire::Control& control = file->header()->control;
  const uint32_t generation = Generation(*file);
  if (generation == hg_seen_generation) return;
  if (!following_.Lock()) return;
  const uint64_t interval = control.interval;
  if (interval != sampler.interval()) sampler.SetInterval(interval);
  sampler.SetMaxPerSecond(control.max_samples_per_second);
  sampler.SetActive(control.active != 0);
  if (control.reset_requests != resets_seen_) {
    resets_seen_ = control.reset_requests;
    samples_.Reset(file, session_.Now());
    Put(file->header()->resets, ++resets_);
  }
  samples_.statistics().Want(control.statistics_requests);
  samples_.PublishSampler(file->header());
  hg_seen_generation = generation;
  std::atomic_ref(file->header()->seen_generation).store(generation, std::memory_order_release);
  following_.Unlock();
  copy_.Follow(*file);
}

// Announces a change of the control words and follows it.
void ControlFollower::FollowRequest(wire::Control& control) {
  const uint32_t mine =
      std::atomic_ref(control.generation).fetch_add(1, std::memory_order_acq_rel) + 1;
  // Another thread may be at it, having read the words before ours was written.
  for (int tries = 0; tries < 1000; ++tries) {
    Follow();
    if (static_cast<int32_t>(hg_seen_generation - mine) >= 0) break;
    arch::Pause();
  }
  // The gap may be drawn anew at any block's start: this thread begins at once.
  hg_thread.interval = 0;
  hg_thread.capped = 0;
  hg_thread.countdown = 0;
}

template <typename Word>
bool ControlFollower::Request(Word wire::Control::*word, Word value) {
  if (!session_.Ready()) return false;
  wire::Control& control = session_.file().header()->control;
  Put(control.*word, value);
  FollowRequest(control);
  return true;
}

bool ControlFollower::RequestActive(bool active) {
  return Request(&wire::Control::active, uint32_t{active});
}

bool ControlFollower::RequestInterval(uint64_t bytes) {
  return Request(&wire::Control::interval, bytes);
}

bool ControlFollower::RequestReset() {
  if (!session_.Ready()) return false;
  wire::Control& control = session_.file().header()->control;
  std::atomic_ref(control.reset_requests).fetch_add(1, std::memory_order_relaxed);
  FollowRequest(control);
  return true;
}

}  // namespace heapgauge::agent
