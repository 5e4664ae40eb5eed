#include "agent/record/mappings.h"

#include "agent/sys/thread_state.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {
namespace {

Weight Whole(uint64_t bytes) {
  return {.objects = 1, .bytes = static_cast<double>(bytes), .variance = 0};
}

}  // namespace

void Mappings::CountLoss() {
  if (GaugeFile* file = session_.OwnFile()) {
    AddTo(file->header()->totals.lost[static_cast<uint32_t>(wire::Loss::kMapping)], 1);
  }
}

void Mappings::CountUnmapped(void* self, const MappingTable::Gone& gone) {
  Session& session = static_cast<Mappings*>(self)->session_;
  GaugeFile* file = session.OwnFile();
  if (file == nullptr) return;
  Weight weight = Whole(gone.bytes);
  if (!gone.whole) weight.objects = 0;
  session.tables().stacks.CountFree(file, gone.stack, weight);
}

void Mappings::Record(const Mapping& mapping, const Registers& caller) {
  if (mapping.length == 0 || ThreadIsExcluded() || !session_.Ready()) return;
  const uint64_t now_ns = os::MonotonicNs();
  const uint32_t thread = session_.CurrentThread();
  wire::Loss loss;
  const uint32_t stack =
      session_.FindSite(caller, now_ns, wire::kStackOfMappings, hg_thread.labels, &loss).stack;
  session_.tracer().TraceRange(wire::TraceEventKind::kMap, mapping.address, mapping.length, stack);
  if (stack == 0) return CountLoss();
  const wire::MappingRecord record{.state = 0,
                                   .address = mapping.address,
                                   .length = mapping.length,
                                   .birth_ns = now_ns - session_.start_ns(),
                                   .stack = stack,
                                   .thread = thread,
                                   .protection = mapping.protection,
                                   .map_flags = mapping.map_flags,
                                   .flags = mapping.of_allocator ? wire::kMappingOfAllocator : 0,
                                   .reserved = {}};
  Tables& tables = session_.tables();
  GaugeFile* const file = &session_.file();
  if (!tables.mappings.Add(file, record, &CountUnmapped, this)) return CountLoss();
  tables.stacks.CountAllocation(file, stack, mapping.length, Whole(mapping.length));
}

void Mappings::RecordUnmap(uint64_t address, uint64_t length, wire::MappingRecord* taken) {
  if (!session_.has_started()) return;
  session_.tracer().TraceRange(wire::TraceEventKind::kUnmap, address, length, 0);
  if (!session_.tables().mappings.Remove(session_.OwnFile(), address, length, taken, &CountUnmapped,
                                         this)) {
    CountLoss();
  }
}

void Mappings::PutBack(const wire::MappingRecord& taken) {
  if (taken.stack == 0) return;
  session_.tracer().TraceRange(wire::TraceEventKind::kMap, taken.address, taken.length,
                               taken.stack);
  GaugeFile* file = session_.OwnFile();
  Tables& tables = session_.tables();
  if (!tables.mappings.Add(file, taken, nullptr, nullptr)) return CountLoss();
  if (file == nullptr) return;
  tables.stacks.CountFree(
      file, taken.stack,
      {.objects = -1, .bytes = -static_cast<double>(taken.length), .variance = 0});
}

}  // namespace heapgauge::agent
