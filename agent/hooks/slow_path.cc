// What the stubs do when there is something to do: a sample is due, a block may be a sample, or a
// never-active agent is asked to wake up.
//
// The program gets the block that its own allocator gives it for its own request, sampled or not.
// Nothing is aligned, enlarged or moved: a heap that is cut differently behaves differently, and a
// program can be slower by more for that than for all the rest of the agent. `free` tells samples
// by a filter of addresses. The one exception are small blocks of glibc's, for which stand-ins lie
// ready (hooks/page_blocks.h): as long as all samples pass HG_SAMPLE_MASK, as these do, `free`
// tests the mask alone. The first one that does not pass switches to the filter for good.
//
// The real functions may throw (operator new) or never return: nothing is held across them. errno
// is as the real function left it.
#include "agent/hooks/slow_path.h"

#include <cstring>

#include "agent/hooks/call.h"
#include "agent/hooks/entry_table.h"
#include "agent/hooks/page_blocks.h"
#include "agent/record/recorder.h"
#include "agent/sys/thread_state.h"

namespace heapgauge::agent {
namespace {

// With shorter intervals there are too many samples for the stand-ins to be of use.
constexpr uint64_t kLeastMaskedInterval = 64 * 1024;

bool PassesMask(uintptr_t block) { return (block & HG_SAMPLE_MASK) == 0; }

// ---- stand-ins ----

bool HasStandIns() { return Traits().identity.kind == wire::Allocator::kGlibc; }

// What glibc makes of a small request.
uint64_t GlibcUsable(size_t size) { return size <= 24 ? 24 : ((size + 8 + 15) & ~size_t{15}) - 8; }

// A stand-in for a small block; 0 where there is none.
uintptr_t StandIn(FunctionIndex f, size_t size) {
  if (CurrentMode() != Mode::kCounting || !HasStandIns()) return 0;
  if (size > PageBlocks::kBlockBytes) return 0;
  if (f != kFn_malloc && f != kFn_calloc && f != kFn_realloc) return 0;
  const uintptr_t block = page_blocks.Take();
  if (block != 0 && f == kFn_calloc) {
    memset(reinterpret_cast<void*>(block), 0, GlibcUsable(size));
  }
  return block;
}

// The record may be out of date: a block that was freed past our hooks may be in use again.
bool IsStandIn(uintptr_t block, const wire::LiveRecord& record) {
  return (record.flags & wire::kLiveStandIn) != 0 && PageBlocks::IsOne(block);
}

void FreeStandIn(uintptr_t block) {
  if (!page_blocks.Keep(block)) Real<void(uintptr_t)>(kFn_free)(block);
}

// ---- sampling ----

// Sets the mode that the settings ask for; modes only go up.
void FollowSettings() {
  const Sampler& sampler = samples.sampler();
  if (!sampler.active()) return;
  const Mode wanted = sampler.interval() >= kLeastMaskedInterval ? Mode::kCounting : Mode::kLookup;
  if (CurrentMode() >= wanted) return;
  if (wanted == Mode::kCounting && HasStandIns()) page_blocks.Fill();
  SetMode(wanted);
}

// The interval to weigh this block by if it is to be sampled, else 0.
uint64_t Decide(const Call& call, size_t size) {
  if (!call.due()) return 0;
  uint64_t interval = samples.sampler().Decide(size, call.countdown);
  if (ThreadIsExcluded()) interval = 0;
  if (interval == 0) Poll();  // a sample does so itself
  FollowSettings();
  return IsInsideAllocator(call.caller.pc) ? 0 : interval;
}

void Record(const Call& call, uintptr_t block, size_t size, uint64_t interval, uint32_t flags) {
  const uint64_t usable =
      (flags & wire::kLiveStandIn) != 0 ? GlibcUsable(size) : UsableSize(block, size);
  // Before the program has the block, and with it the chance to free it.
  if (!PassesMask(block) && CurrentMode() == Mode::kCounting) SetMode(Mode::kLookup);
  if (!control.BeginSample()) return;
  samples.RecordAllocation({block, size, usable, interval, KindOf(call), flags}, call.caller);
}

uintptr_t Allocate(const Call& call) {
  if (call.poll()) {
    control.Follow();
    FollowSettings();
    return CallReal(call);
  }
  const size_t size = SizeOf(call);
  const uint64_t interval = Decide(call, size);
  if (interval == 0) return CallReal(call);

  if (const uintptr_t block = StandIn(call.function(), size)) {
    const KeepErrno keep;
    Record(call, block, size, interval, wire::kLiveStandIn);
    return block;
  }
  if (Throws(call.function())) samples.NoteRequest(size);
  const uintptr_t result = CallReal(call);
  const uintptr_t block = BlockOf(call, result);
  const KeepErrno keep;
  if (block == 0) {
    samples.NoteRefused(size);
    return result;
  }
  Record(call, block, size, interval, 0);
  return result;
}

// A plain block in place of a stand-in, which glibc itself would only cut to pieces; 0 as malloc.
uintptr_t ResizeStandIn(uintptr_t old, size_t size) {
  const uintptr_t block = Real<uintptr_t(size_t)>(kFn_malloc)(size);
  if (block == 0) return 0;
  const size_t copied = size < PageBlocks::kBlockBytes ? size : PageBlocks::kBlockBytes;
  memcpy(reinterpret_cast<void*>(block), reinterpret_cast<void*>(old), copied);
  FreeStandIn(old);
  return block;
}

uintptr_t Resize(const Call& call) {
  const FunctionIndex f = call.function();
  const uintptr_t old = call.argument[0];
  if (old == 0 || call.poll()) return Allocate(call);
  const size_t size = SizeOf(call);
  const uint64_t interval = Decide(call, size);
  samples.NoteRequest(size);  // while it is copied both blocks are there
  wire::LiveRecord was;
  // Taken out before the real call: afterwards another thread may be given this address.
  const bool was_sample = samples.TakeOut(old, &was);
  const bool was_stand_in = was_sample && IsStandIn(old, was);
  const uintptr_t result = was_stand_in && size != 0 ? ResizeStandIn(old, size) : CallReal(call);

  const KeepErrno keep;
  const bool in_place = f == kFn_xallocx;  // answers the size it reached
  const bool failed = in_place ? result < size : result == 0 && size != 0;
  if (was_sample) {
    if (failed)
      samples.PutBack(was);
    else
      samples.CountFree(was);
  }
  const uintptr_t block = in_place ? old : result;
  if (interval != 0 && !failed && block != 0) Record(call, block, size, interval, 0);
  if (interval != 0 && failed && !in_place) samples.NoteRefused(size);
  return result;
}

uintptr_t Free(const Call& call) {
  wire::LiveRecord was;
  if (!samples.TakeOut(call.argument[0], &was)) return CallReal(call);
  samples.CountFree(was);
  if (!IsStandIn(call.argument[0], was)) return CallReal(call);
  FreeStandIn(call.argument[0]);
  return 0;
}

uintptr_t Query(const Call& call) {
  wire::LiveRecord record;
  const bool stand_in =
      samples.Look(call.argument[0], &record) && IsStandIn(call.argument[0], record);
  return stand_in ? record.usable : CallReal(call);
}

}  // namespace

void StartCounting() { FollowSettings(); }

}  // namespace heapgauge::agent

HG_HIDDEN uintptr_t hg_slow_path(const heapgauge::agent::Call* call);

uintptr_t hg_slow_path(const heapgauge::agent::Call* call) {
  using namespace heapgauge::agent;
  switch (kShapes[call->function()]) {
    case Shape::FREE1:
      return Free(*call);
    case Shape::QUERY1:
      return Query(*call);
    case Shape::RESIZE2:
    case Shape::RESIZE23:
      return Resize(*call);
    default:
      return Allocate(*call);
  }
}
