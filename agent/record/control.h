// How the record is steered: by the control words of the gauge file, whoever writes them.
//
// Any thread, also signal handlers. Nothing blocks, nothing allocates, errno is left alone. Usable
// before any constructor ran; what it refers to must outlive it.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/leaks/own_copy.h"
#include "agent/record/samples.h"
#include "agent/record/session.h"
#include "agent/sys/try_lock.h"
#include "wire/gauge_format.h"

// The generation of control words this process has followed; read by the stubs of a process that
// was never active, beside the shared word that hg_control_word points to.
extern "C" __attribute__((visibility("hidden"))) uint32_t hg_seen_generation;
extern "C" __attribute__((visibility("hidden"))) const uint32_t* hg_control_word;

namespace heapgauge::agent {

class ControlFollower {
 public:
  constexpr ControlFollower(Session& session, Samples& samples)
      : session_(session), samples_(samples) {}

  // From now on the words of this header are followed. REQUIRES: they say what is in force.
  static void ReadFrom(const wire::Header& header) { hg_control_word = &header.control.generation; }
  // In a forked child: of other threads there is nothing left. And: its own file, whose header this
  // is, takes the place of its parent's, or there will be none.
  void ForgetThreads();
  void StartInChild(const wire::Header& header);
  void FailInChild();

  // Follows the control words if they changed.
  void Follow() {
    GaugeFile* const file = session_.OwnFile();
    if (file == nullptr || Generation(*file) != hg_seen_generation) FollowChange(file);
  }
  // The same for a due sample. False if there is nothing to record: profiling is switched off, or
  // this process has no record. In a forked child the record is made if need be.
  bool BeginSample() {
    if (!session_.Ready()) return false;
    Follow();
    return samples_.sampler().active();
  }

  // The program's own requests. They go through the control words like all others, so that the last
  // request wins, and are followed before the call returns (unless this is a signal handler that
  // has interrupted just that: then at the next sample). False if there is no gauge file.
  bool RequestActive(bool active);
  bool RequestInterval(uint64_t bytes);
  bool RequestReset();

 private:
  static uint32_t Generation(const GaugeFile& file) {
    return std::atomic_ref(file.header()->control.generation).load(std::memory_order_acquire);
  }
  void FollowChange(GaugeFile* file);
  template <typename Word>
  bool Request(Word wire::Control::*word, Word value);
  void FollowRequest(wire::Control& control);

  Session& session_;
  Samples& samples_;
  OwnCopy copy_{};
  TryLock following_{};
  uint32_t resets_seen_ = 0;
  uint32_t resets_ = 0;
};

}  // namespace heapgauge::agent
