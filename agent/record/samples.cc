#include "agent/record/samples.h"

#include "agent/sys/thread_state.h"
#include "agent/table/gauge_file.h"
#include "agent/table/history.h"

namespace heapgauge::agent {

void Watch::Set(wire::WatchCallback* callback, const wire::Marks& marks) {
  armed_.store(false, std::memory_order_seq_cst);
  callback_.store(callback, std::memory_order_relaxed);
  allocated_mark_.store(marks.allocated, std::memory_order_relaxed);
  freed_mark_.store(marks.freed, std::memory_order_relaxed);
  live_mark_.store(marks.live, std::memory_order_relaxed);
  armed_.store(callback != nullptr, std::memory_order_release);
}

wire::Marks Watch::Totals() const {
  const uint64_t allocated = allocated_.load(std::memory_order_relaxed);
  const uint64_t freed = freed_.load(std::memory_order_relaxed);
  // What a forked child frees of its parent's was not allocated here.
  return {allocated, freed, allocated > freed ? allocated - freed : 0};
}

void Watch::Forget() {
  allocated_.store(0, std::memory_order_relaxed);
  freed_.store(0, std::memory_order_relaxed);
}

void Watch::Check() {
  const wire::Marks now = Totals();
  if (now.allocated < allocated_mark_.load(std::memory_order_relaxed) &&
      now.freed < freed_mark_.load(std::memory_order_relaxed) &&
      now.live < live_mark_.load(std::memory_order_relaxed)) {
    return;
  }
  wire::WatchCallback* const callback = callback_.load(std::memory_order_relaxed);
  if (armed_.exchange(false, std::memory_order_acq_rel) && callback != nullptr) callback();
}

namespace {

uint64_t Whole(double value) { return value > 0 ? static_cast<uint64_t>(value + 0.5) : 0; }

// Adds to a private sum and shows the new value, rounded, in the file.
void AddAndShow(std::atomic<double>* sum, double amount, uint64_t& shown) {
  Put(shown, Whole(sum->fetch_add(amount, std::memory_order_relaxed) + amount));
}

}  // namespace

void Samples::Start(const Settings& settings) {
  sampler_.Start(settings.seed);
  sampler_.SetInterval(settings.interval);
  sampler_.SetMaxPerSecond(settings.max_samples_per_second);
  sampler_.SetActive(settings.active && !settings.trace.on);
}

void Samples::StartDumps(const Settings& settings) {
  dumper_.Start(settings.dump, session_.exe(), session_.file().path(), session_.start_ns());
}

void Samples::ForgetThreads() {
  statistics_.Forget();
  peak_.Forget();
  sampler_.Reseed();
}

void Samples::ShowInherited(wire::Header* header) {
  PublishSampler(header);
  header->control.interval = sampler_.interval();
  header->reset_ns = reset_ns_.load();
  allocated_objects_.store(0);
  freed_objects_.store(0);
  uint64_t samples = 0;
  session_.tables().live.ForEach([&](const wire::LiveRecord&) { ++samples; });
  header->totals.live_samples = samples;
  header->totals.live_bytes = live_bytes_.load();
  header->totals.live_objects = Whole(live_objects_.load());
}

void Samples::StartDumpsInChild() {
  if (dumper_.armed()) dumper_.StartInChild(live_bytes_.load(), os::MonotonicNs());
}

void Samples::RecordLoss(wire::Loss why, uint64_t size, uint64_t interval) {
  GaugeFile* file = session_.OwnFile();
  if (file == nullptr) return;
  wire::Totals& totals = file->header()->totals;
  AddTo(totals.lost[static_cast<uint32_t>(why)], 1);
  AddTo(totals.lost_bytes, Whole(WeightOf(size, interval).bytes));
}

void Samples::RecordAllocation(const SampledRequest& block, const Registers& caller) {
  const uint64_t now_ns = os::MonotonicNs();
  const uint32_t thread = session_.CurrentThread();
  wire::Loss loss = wire::Loss::kNoRoom;
  const Session::Site site =
      session_.FindSite(caller, now_ns, 0, hg_thread.labels, &loss, &statistics_);
  if (site.stack == 0) return RecordLoss(loss, block.size, block.interval);

  // A block that was freed without our knowledge had the same address.
  wire::LiveRecord record;
  if (TakeOut(block.address, &record)) CountFree(record);

  const uint64_t since_start = now_ns - session_.start_ns();
  record = wire::LiveRecord{.state = 0,
                            .address = block.address,
                            .size = block.size,
                            .interval = block.interval,
                            .birth_ns = since_start,
                            .usable = block.usable,
                            .stack = site.stack,
                            .thread = thread,
                            .flags = block.flags,
                            .function = static_cast<uint32_t>(block.function)};
  const Weight weight = WeightOf(block.size, block.interval);
  const uint64_t bytes = Whole(weight.bytes);
  GaugeFile* const file = &session_.file();
  Tables& tables = session_.tables();
  if (!tables.live.Add(file, record, &loss)) return RecordLoss(loss, block.size, block.interval);

  tables.stacks.CountAllocation(file, site.stack, block.size, weight);
  wire::Totals& totals = file->header()->totals;
  AddTo(totals.samples, 1);
  AddTo(totals.live_samples, 1);
  AddTo(totals.live_bytes, bytes);
  AddTo(totals.allocated_bytes, bytes);
  AddAndShow(&live_objects_, weight.objects, totals.live_objects);
  AddAndShow(&allocated_objects_, weight.objects, totals.allocated_objects);
  if (!site.complete) AddTo(totals.truncated_walks, 1);
  const uint64_t live_bytes = live_bytes_.fetch_add(bytes) + bytes;

  NoteSample(now_ns);
  peak_.TakeIfHigher(file, tables.live, live_bytes, Whole(live_objects_.load()), since_start,
                     reset_ns_.load());
  if (TickIfDue(file, since_start)) session_.OncePerTick();
  if (dumper_.armed()) {
    dumper_.CountAllocation(block.size, bytes);
    dumper_.Consider(file, live_bytes, now_ns);
  }
  session_.PublishMemory();
  if (site.may_ask) statistics_.Take(file->header(), since_start);
  watch_.CountAllocation(bytes);
}

bool Samples::TakeOut(uintptr_t address, wire::LiveRecord* record) {
  return session_.tables().live.Remove(session_.OwnFile(), address, record);
}

void Samples::CountFree(const wire::LiveRecord& record) {
  if (IsBeforeReset(record)) return;
  const Weight weight = WeightOf(record.size, record.interval);
  const uint64_t bytes = Whole(weight.bytes);
  live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (dumper_.armed()) dumper_.CountFree(record.size, bytes);
  uint64_t not_shown;
  GaugeFile* file = session_.OwnFile();
  AddAndShow(&live_objects_, -weight.objects,
             file == nullptr ? not_shown : file->header()->totals.live_objects);
  if (file == nullptr) return watch_.CountFree(bytes);
  wire::Totals& totals = file->header()->totals;
  SubtractFrom(totals.live_samples, 1);
  SubtractFrom(totals.live_bytes, bytes);
  if ((record.flags & wire::kLiveInherited) == 0) {  // else it was not allocated here
    session_.tables().stacks.CountFree(file, record.stack, weight);
    AddTo(totals.samples_freed, 1);
    AddTo(totals.freed_bytes, bytes);
    AddAndShow(&freed_objects_, weight.objects, totals.freed_objects);
  }
  watch_.CountFree(bytes);
}

void Samples::PutBack(const wire::LiveRecord& record) {
  GaugeFile* file = session_.OwnFile();
  wire::Loss loss;
  if (file == nullptr || !session_.tables().live.Add(file, record, &loss)) CountFree(record);
}

void Samples::NoteRefused(uint64_t size) {
  GaugeFile* file = session_.OwnFile();
  if (file == nullptr || !dumper_.armed()) return;
  dumper_.Request(file, live_bytes_.load(), os::MonotonicNs(), size);
}

void Samples::ConsiderDumpNow() {
  GaugeFile* file = session_.OwnFile();
  if (file != nullptr) dumper_.Consider(file, live_bytes_.load(), os::MonotonicNs());
}

void Samples::DumpAtExit() {
  GaugeFile* file = session_.OwnFile();
  if (file == nullptr || !dumper_.armed()) return;
  dumper_.AtExit(file, live_bytes_.load(), os::MonotonicNs());
}

void Samples::PublishSampler(wire::Header* header) const {
  Put(header->active, uint32_t{sampler_.active()});
  Put(header->interval, sampler_.interval());
  Put(header->interval_in_force, sampler_.interval_in_force());
}

void Samples::Reset(GaugeFile* file, uint64_t now_ns) {
  wire::Header& header = *file->header();
  reset_ns_.store(now_ns);
  Put(header.reset_ns, now_ns);
  session_.tables().stacks.ClearCounters(file);
  live_bytes_.store(0);
  live_objects_.store(0);
  allocated_objects_.store(0);
  freed_objects_.store(0);
  auto* totals = reinterpret_cast<uint64_t*>(&header.totals);
  for (size_t i = 0; i < sizeof header.totals / sizeof *totals; ++i) Put<uint64_t>(totals[i], 0);
  peak_.Clear(file);
  ClearTimeline(file);
  if (dumper_.armed()) dumper_.ForgetLive();
  watch_.Forget();
}

}  // namespace heapgauge::agent
