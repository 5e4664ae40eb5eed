// Labels of threads, and the pools that carry one.
//
// A token is the set that was in force before a push, with a mark of the thread. Pop goes back to
// that set whatever happened in between, so that a pop that is missing (an exception, a longjmp) is
// made up for by the next one outside. The mark keeps a token from working in another thread.
#define HEAPGAUGE_LINKED 1
#include "include/heapgauge/heapgauge.h"

#include "agent/recorder.h"
#include "agent/sys/os.h"
#include "agent/table/atomic_file.h"
#include "agent/table/sample_filter.h"
#include "agent/table/timeline.h"

namespace heapgauge::agent {
namespace {

constexpr uint64_t kSetMask = 0xffff;

// Positive: TLS lies in the lower half of the address space.
int64_t TokenOf(uint16_t set) {
  const auto mark = reinterpret_cast<uintptr_t>(&hg_thread) >> 4;
  return static_cast<int64_t>((mark << 16 | set) & INT64_MAX);
}

}  // namespace

// A new set is written into this process's own file, which a forked child may not have yet.
uint32_t Recorder::InternLabel(uint32_t parent, const LabelText& label, uint16_t flags) {
  if (const uint32_t known = labels_.Find(parent, label, flags)) return known;
  return Ready() ? labels_.Add(&file_, parent, label, flags) : 0;
}

int64_t Recorder::PushLabel(const char* key, const char* value) {
  if (key == nullptr || value == nullptr) return HEAPGAUGE_INVALID;
  const LabelText label(key, value);
  if (label.key_bytes == 0) return HEAPGAUGE_INVALID;
  ThreadState& thread = hg_thread;
  const uint16_t before = thread.labels;
  const uint32_t set = InternLabel(before, label);
  if (set == 0) return Available() ? HEAPGAUGE_FULL : HEAPGAUGE_UNAVAILABLE;
  thread.labels = static_cast<uint16_t>(set);
  return TokenOf(before);
}

void Recorder::PopLabel(int64_t token) {
  const auto set = static_cast<uint16_t>(token & kSetMask);
  if (token < 0 || token != TokenOf(set)) return;
  ThreadState& thread = hg_thread;
  const wire::LabelRecord* record = labels_.Get(set);
  const uint16_t name = record == nullptr ? 0 : record->thread_name;
  // The thread may have got another name since.
  thread.labels = name == thread.name ? (record == nullptr ? uint16_t{0} : set)
                                      : static_cast<uint16_t>(OnThreadName(set, thread.name));
}

// The labels of `set`, but for the name of a thread, on top of `name`. Those for which there is no
// room are left out.
uint32_t Recorder::OnThreadName(uint32_t set, uint16_t name) {
  const wire::LabelRecord* chain[wire::kMaxLabelDepth];
  uint32_t count = 0;
  for (const wire::LabelRecord* record = labels_.Get(set);
       record != nullptr && count < wire::kMaxLabelDepth; record = labels_.Get(record->parent)) {
    if ((record->flags & wire::kLabelThreadName) == 0) chain[count++] = record;
  }
  uint32_t rebuilt = name;
  while (count > 0) {
    const wire::LabelRecord* record = chain[--count];
    const uint32_t next = InternLabel(rebuilt, LabelText(record->key, record->value));
    if (next != 0) rebuilt = next;
  }
  return rebuilt;
}

int Recorder::NameThread(const char* name) {
  if (!Available()) return HEAPGAUGE_UNAVAILABLE;
  uint32_t set = 0;
  if (name != nullptr && *name != '\0') {
    set = InternLabel(0, LabelText("thread", name), wire::kLabelThreadName);
    if (set == 0) return Available() ? HEAPGAUGE_FULL : HEAPGAUGE_UNAVAILABLE;
  }
  ThreadState& thread = hg_thread;
  thread.name = static_cast<uint16_t>(set);
  thread.labels = static_cast<uint16_t>(OnThreadName(thread.labels, thread.name));
  return HEAPGAUGE_OK;
}

int Recorder::FindPool(const char* name) {
  if (name == nullptr || *name == '\0') return HEAPGAUGE_INVALID;
  const uint32_t set = InternLabel(0, LabelText("pool", name));
  if (set == 0) return Available() ? HEAPGAUGE_FULL : HEAPGAUGE_UNAVAILABLE;
  const uint32_t number = pools_.Intern(labels_, set);
  return number == 0 ? HEAPGAUGE_FULL : static_cast<int>(number);
}

// The labels of this thread and of the pool; those of the pool alone if there is no room.
uint16_t Recorder::LabelsInPool(int pool) {
  const uint32_t own = pools_.SetOf(pool);
  const wire::LabelRecord* record = labels_.Get(own);
  if (record == nullptr || hg_thread.labels == 0) return static_cast<uint16_t>(own);
  const uint32_t set = InternLabel(hg_thread.labels, LabelText(record->key, record->value));
  return static_cast<uint16_t>(set != 0 ? set : own);
}

void Recorder::RecordPoolAllocation(int pool, const Block& block, const Registers& caller) {
  if (pools_.SetOf(pool) == 0 || !Ready()) return;
  FollowControl();
  if (!sampler_.active()) return;
  const uint64_t now_ns = os::MonotonicNs();
  const uint64_t since_start = now_ns - start_monotonic_ns_;
  const uint32_t thread = CurrentThread();
  const auto number = static_cast<uint32_t>(pool);
  wire::Loss loss = wire::Loss::kNoRoom;
  const Site site = FindSite(caller, now_ns, wire::kStackOfPool, LabelsInPool(pool), &loss);
  if (site.stack == 0) return RecordLoss(loss, block.size, block.interval);
  // A block that went with its arena, without a word, had the same address.
  wire::LiveRecord record;
  if (pool_live_.Remove(&file_, block.address, &record, number)) CountPoolFree(record);
  record = wire::LiveRecord{.state = 0,
                            .address = block.address,
                            .size = block.size,
                            .interval = block.interval,
                            .birth_ns = since_start,
                            .usable = block.size,
                            .stack = site.stack,
                            .thread = thread,
                            .flags = number << wire::kLivePoolShift,
                            .function = static_cast<uint32_t>(wire::AllocationFunction::kPool)};
  if (!pool_live_.Add(&file_, record, &loss)) return RecordLoss(loss, block.size, block.interval);
  stacks_.CountAllocation(&file_, site.stack, block.size, WeightOf(block.size, block.interval));
  sampler_.NoteSample(now_ns);
  PublishSampler(file_.header());
  if (TickIfDue(&file_, since_start)) OncePerTick();
}

void Recorder::RecordPoolFree(int pool, uintptr_t address) {
  if (pools_.SetOf(pool) == 0) return;
  wire::LiveRecord record;
  if (pool_live_.Remove(OwnFile(), address, &record, static_cast<uint32_t>(pool))) {
    CountPoolFree(record);
  }
}

void Recorder::CountPoolFree(const wire::LiveRecord& record) {
  GaugeFile* file = OwnFile();
  if (file == nullptr || (record.flags & wire::kLiveInherited) != 0) return;
  if (record.birth_ns < reset_ns_.load(std::memory_order_relaxed)) return;
  stacks_.CountFree(file, record.stack, WeightOf(record.size, record.interval));
}

}  // namespace heapgauge::agent
