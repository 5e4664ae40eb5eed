// Mappings (mmap and its kin): all of them are kept, none is sampled.
#include "agent/recorder.h"
#include "agent/sample/thread_exclusion.h"
#include "agent/sys/os.h"
#include "agent/table/atomic_file.h"

namespace heapgauge::agent {

void Recorder::RecordMappingLoss() {
  if (GaugeFile* file = OwnFile()) {
    AddTo(file->header()->totals.lost[static_cast<uint32_t>(wire::Loss::kMapping)], 1);
  }
}

void Recorder::CountUnmapped(void* self, const MappingTable::Gone& gone) {
  auto* of = static_cast<Recorder*>(self);
  GaugeFile* file = of->OwnFile();
  if (file == nullptr) return;
  of->stacks_.CountFree(
      file, gone.stack,
      {.objects = gone.whole ? 1.0 : 0.0, .bytes = static_cast<double>(gone.bytes), .variance = 0});
}

void Recorder::RecordMapping(const Mapping& mapping, const Registers& caller) {
  if (mapping.length == 0 || ThreadIsExcluded() || !Ready()) return;
  const uint64_t now_ns = os::MonotonicNs();
  const uint32_t thread = CurrentThread();
  wire::Loss loss;
  const Site site = FindSite(caller, now_ns, wire::kStackOfMappings, hg_thread.labels, &loss);
  const uint32_t number = site.stack;
  tracer_.TraceRange(wire::TraceEventKind::kMap, mapping.address, mapping.length, number);
  if (number == 0) return RecordMappingLoss();
  const wire::MappingRecord record{.state = 0,
                                   .address = mapping.address,
                                   .length = mapping.length,
                                   .birth_ns = now_ns - start_monotonic_ns_,
                                   .stack = number,
                                   .thread = thread,
                                   .protection = mapping.protection,
                                   .map_flags = mapping.map_flags,
                                   .flags = mapping.of_allocator ? wire::kMappingOfAllocator : 0,
                                   .reserved = {}};
  if (!mappings_.Add(&file_, record, &CountUnmapped, this)) return RecordMappingLoss();
  stacks_.CountAllocation(
      &file_, number, mapping.length,
      {.objects = 1, .bytes = static_cast<double>(mapping.length), .variance = 0});
}

void Recorder::RecordUnmap(uint64_t address, uint64_t length, wire::MappingRecord* taken) {
  if (!life_.has_started()) return;
  tracer_.TraceRange(wire::TraceEventKind::kUnmap, address, length, 0);
  if (!mappings_.Remove(OwnFile(), address, length, taken, &CountUnmapped, this)) {
    RecordMappingLoss();
  }
}

void Recorder::PutBackMapping(const wire::MappingRecord& taken) {
  if (taken.stack == 0) return;
  tracer_.TraceRange(wire::TraceEventKind::kMap, taken.address, taken.length, taken.stack);
  GaugeFile* file = OwnFile();
  if (!mappings_.Add(file, taken, nullptr, nullptr)) return RecordMappingLoss();
  if (file == nullptr) return;
  stacks_.CountFree(file, taken.stack,
                    {.objects = -1, .bytes = -static_cast<double>(taken.length), .variance = 0});
}

}  // namespace heapgauge::agent
