#define HEAPGAUGE_LINKED 1
#include "include/heapgauge/heapgauge.h"

#include "agent/record/labels.h"

#include "agent/sys/thread_state.h"
#include "agent/table/history.h"

namespace heapgauge::agent {
namespace {

constexpr uint64_t kSetMask = 0xffff;

// Positive: TLS lies in the lower half of the address space.
int64_t TokenOf(uint16_t set) {
  const auto mark = reinterpret_cast<uintptr_t>(&hg_thread) >> 4;
  return static_cast<int64_t>((mark << 16 | set) & INT64_MAX);
}

}  // namespace

// There is no set for what was asked: is there no file, or no room?
int ProgramLabels::WhyNone() const {
  return session_.Available() ? HEAPGAUGE_FULL : HEAPGAUGE_UNAVAILABLE;
}

// A new set is written into this process's own file, which a forked child may not have yet.
uint32_t ProgramLabels::Intern(uint32_t parent, const LabelText& label, uint16_t flags) {
  if (const uint32_t known = table().Find(parent, label, flags)) return known;
  return session_.Ready() ? table().Add(&session_.file(), parent, label, flags) : 0;
}

int64_t ProgramLabels::Push(const char* key, const char* value) {
  if (key == nullptr || value == nullptr) return HEAPGAUGE_INVALID;
  const LabelText label(key, value);
  if (label.key_bytes == 0) return HEAPGAUGE_INVALID;
  ThreadState& thread = hg_thread;
  const uint16_t before = thread.labels;
  const uint32_t set = Intern(before, label);
  if (set == 0) return WhyNone();
  thread.labels = static_cast<uint16_t>(set);
  return TokenOf(before);
}

void ProgramLabels::Pop(int64_t token) {
  const auto set = static_cast<uint16_t>(token & kSetMask);
  if (token < 0 || token != TokenOf(set)) return;
  ThreadState& thread = hg_thread;
  const wire::LabelRecord* record = table().Get(set);
  const uint16_t name = record == nullptr ? 0 : record->thread_name;
  // The thread may have got another name since.
  thread.labels = name == thread.name ? (record == nullptr ? uint16_t{0} : set)
                                      : static_cast<uint16_t>(OnThreadName(set, thread.name));
}

// The labels of `set`, but for the name of a thread, on top of `name`. Those for which there is no
// room are left out.
uint32_t ProgramLabels::OnThreadName(uint32_t set, uint16_t name) {
  const wire::LabelRecord* chain[wire::kMaxLabelDepth];
  uint32_t count = 0;
  for (const wire::LabelRecord* record = table().Get(set);
       record != nullptr && count < wire::kMaxLabelDepth; record = table().Get(record->parent)) {
    if ((record->flags & wire::kLabelThreadName) == 0) chain[count++] = record;
  }
  uint32_t rebuilt = name;
  while (count > 0) {
    const wire::LabelRecord* record = chain[--count];
    const uint32_t next = Intern(rebuilt, LabelText(record->key, record->value));
    if (next != 0) rebuilt = next;
  }
  return rebuilt;
}

int ProgramLabels::NameThread(const char* name) {
  if (!session_.Available()) return HEAPGAUGE_UNAVAILABLE;
  uint32_t set = 0;
  if (name != nullptr && *name != '\0') {
    set = Intern(0, LabelText("thread", name), wire::kLabelThreadName);
    if (set == 0) return WhyNone();
  }
  ThreadState& thread = hg_thread;
  thread.name = static_cast<uint16_t>(set);
  thread.labels = static_cast<uint16_t>(OnThreadName(thread.labels, thread.name));
  return HEAPGAUGE_OK;
}

int ProgramLabels::FindPool(const char* name) {
  if (name == nullptr || *name == '\0') return HEAPGAUGE_INVALID;
  const uint32_t set = Intern(0, LabelText("pool", name));
  if (set == 0) return WhyNone();
  const uint32_t number = pools().Intern(table(), set);
  return number == 0 ? HEAPGAUGE_FULL : static_cast<int>(number);
}

// The labels of this thread and of the pool; those of the pool alone if there is no room.
uint16_t ProgramLabels::SetInPool(int pool) {
  const uint32_t own = pools().SetOf(pool);
  const wire::LabelRecord* record = table().Get(own);
  if (record == nullptr || hg_thread.labels == 0) return static_cast<uint16_t>(own);
  const uint32_t set = Intern(hg_thread.labels, LabelText(record->key, record->value));
  return static_cast<uint16_t>(set != 0 ? set : own);
}

void ProgramLabels::RecordAllocation(int pool, const SampledRequest& block,
                                     const Registers& caller) {
  const uint64_t now_ns = os::MonotonicNs();
  const uint64_t since_start = now_ns - session_.start_ns();
  const uint32_t thread = session_.CurrentThread();
  const auto number = static_cast<uint32_t>(pool);
  wire::Loss loss = wire::Loss::kNoRoom;
  const uint32_t stack =
      session_.FindSite(caller, now_ns, wire::kStackOfPool, SetInPool(pool), &loss).stack;
  if (stack == 0) return samples_.RecordLoss(loss, block.size, block.interval);
  GaugeFile* const file = &session_.file();
  Tables& tables = session_.tables();
  // A block that went with its arena, without a word, had the same address.
  wire::LiveRecord record;
  if (tables.pool_live.Remove(file, block.address, &record, number)) CountFree(record);
  record = wire::LiveRecord{.state = 0,
                            .address = block.address,
                            .size = block.size,
                            .interval = block.interval,
                            .birth_ns = since_start,
                            .usable = block.size,
                            .stack = stack,
                            .thread = thread,
                            .flags = number << wire::kLivePoolShift,
                            .function = static_cast<uint32_t>(wire::AllocationFunction::kPool)};
  if (!tables.pool_live.Add(file, record, &loss)) {
    return samples_.RecordLoss(loss, block.size, block.interval);
  }
  tables.stacks.CountAllocation(file, stack, block.size, WeightOf(block.size, block.interval));
  samples_.NoteSample(now_ns);
  if (TickIfDue(file, since_start)) session_.OncePerTick();
}

void ProgramLabels::RecordFree(int pool, uintptr_t address) {
  if (!IsPool(pool)) return;
  wire::LiveRecord record;
  if (session_.tables().pool_live.Remove(session_.OwnFile(), address, &record,
                                         static_cast<uint32_t>(pool))) {
    CountFree(record);
  }
}

void ProgramLabels::CountFree(const wire::LiveRecord& record) {
  GaugeFile* file = session_.OwnFile();
  if (file == nullptr || (record.flags & wire::kLiveInherited) != 0) return;
  if (samples_.IsBeforeReset(record)) return;
  session_.tables().stacks.CountFree(file, record.stack, WeightOf(record.size, record.interval));
}

}  // namespace heapgauge::agent
