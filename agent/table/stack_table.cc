#include "agent/table/stack_table.h"

#include "agent/table/gauge_file.h"

namespace heapgauge::agent {
namespace {

using wire::SegmentKind;

// So many look-ups are under way at once.
constexpr uint32_t kLookAhead = 6;

}  // namespace

uint32_t StackTable::Intern(GaugeFile* file, ModuleTable* modules, const char* main_program,
                            const Stack& stack, wire::Loss* loss, uint16_t flags, uint16_t labels) {
  // If it is new, its nodes are looked up at once after this.
  const uint64_t layout = modules->layout();
  for (uint32_t ahead = 0; ahead < kLookAhead && ahead < stack.count; ++ahead) {
    index_.Prefetch(NodeKey(stack.frames[stack.count - 1 - ahead].hash, layout));
  }
  uint32_t known;
  if (index_.Find(NameOf(stack.hash, modules->layout(), flags, labels), &known)) return known;

  const uint32_t node = InternNode(file, modules, main_program, stack, loss);
  if (node == 0) return 0;
  // Callers have lower numbers than what they call, so this counts them too. Not at each node: a
  // recorder looks at that line all the time.
  RaiseTo(file->header()->node_count, node + 1);
  uint32_t number;
  auto* record = file->TakeNext<wire::StackRecord>(SegmentKind::kStacks, &stacks_, &number, loss);
  if (record == nullptr) return 0;
  record->flags = flags;
  record->labels = labels;
  std::atomic_ref(record->node).store(node, std::memory_order_release);
  RaiseTo(file->header()->stack_count, number + 1);
  // If the index is full the stack is numbered again each time; the profile stays right.
  index_.Insert(NameOf(stack.hash, modules->layout(), flags, labels), number);
  return number;
}

uint32_t StackTable::InternNode(GaugeFile* file, ModuleTable* modules, const char* main_program,
                                const Stack& stack, wire::Loss* loss) {
  uint64_t layout = modules->layout();
  uint32_t parent = 0;
  uint32_t i = stack.count;  // frames that have their node
  while (i > 0 && !index_.Find(NodeKey(stack.frames[i - 1].hash, layout), &parent)) {
    index_.PrefetchPlace(NodeKey(stack.frames[i - 1].hash, layout));
    if (i > kLookAhead) index_.Prefetch(NodeKey(stack.frames[i - 1 - kLookAhead].hash, layout));
    --i;
  }
  if (i == 0) parent = 0;
  while (i < stack.count) {
    const WalkedFrame& frame = stack.frames[i];
    const bool exact_pc = (frame.flags & (kFrameExactPc | kFrameRestorer)) != 0;
    uint32_t module;
    if (!modules->Find(file, exact_pc ? frame.pc : frame.pc - 1, main_program, &module)) {
      *loss = wire::Loss::kBusy;
      return 0;
    }
    if (modules->layout() != layout) {
      // An object was found to be in another's place, so the names above may be the other's.
      layout = modules->layout();
      parent = 0;
      i = 0;
      continue;
    }
    uint32_t number;
    auto* node = file->TakeNext<wire::NodeRecord>(SegmentKind::kNodes, &nodes_, &number, loss);
    if (node == nullptr) return 0;
    node->parent = parent;
    node->flags = (exact_pc ? wire::kNodeExactPc : 0) |
                  (i == 0 && !stack.complete ? wire::kNodeTruncated : 0);
    std::atomic_ref(node->pc_module)
        .store(wire::PackPc(frame.pc, module), std::memory_order_release);
    index_.Insert(NodeKey(frame.hash, layout), number);
    parent = number;
    ++i;
  }
  return parent;
}

void StackTable::CountAllocation(GaugeFile* file, uint32_t stack, uint64_t size,
                                 const Weight& weight) const {
  auto* record = file->Existing<wire::StackRecord>(SegmentKind::kStacks, stack);
  if (record == nullptr) return;
  AddTo(record->samples, 1);
  AddTo(record->sampled_bytes, size);
  AddTo(record->allocated_objects, weight.objects);
  AddTo(record->allocated_bytes, weight.bytes);
  AddTo(record->allocated_variance, weight.variance);
}

void StackTable::CountFree(GaugeFile* file, uint32_t stack, const Weight& weight) const {
  auto* record = file->Existing<wire::StackRecord>(SegmentKind::kStacks, stack);
  if (record == nullptr) return;
  AddTo(record->freed_objects, weight.objects);
  AddTo(record->freed_bytes, weight.bytes);
}

void StackTable::ClearCounters(GaugeFile* file) const {
  const uint32_t count = stacks_.load(std::memory_order_relaxed);
  for (uint32_t i = 1; i <= count; ++i) {
    auto* record = file->Existing<wire::StackRecord>(SegmentKind::kStacks, i);
    if (record == nullptr) continue;
    Put<uint64_t>(record->samples, 0);
    Put<uint64_t>(record->sampled_bytes, 0);
    Put(record->allocated_objects, 0.0);
    Put(record->allocated_bytes, 0.0);
    Put(record->allocated_variance, 0.0);
    Put(record->freed_objects, 0.0);
    Put(record->freed_bytes, 0.0);
  }
}

void StackTable::CopyTo(const GaugeFile& from, GaugeFile* to) const {
  wire::Loss ignored;
  // Upper bounds: what there is no room for stays zero, or is beyond the file.
  Put(to->header()->node_count, nodes_.load(std::memory_order_relaxed) + 1);
  Put(to->header()->stack_count, stacks_.load(std::memory_order_relaxed) + 1);
  const uint32_t nodes = nodes_.load(std::memory_order_relaxed);
  for (uint32_t i = 1; i <= nodes; ++i) {
    const auto* old = from.Existing<wire::NodeRecord>(SegmentKind::kNodes, i);
    auto* fresh = to->At<wire::NodeRecord>(SegmentKind::kNodes, i, &ignored);
    if (fresh == nullptr) return;
    if (old != nullptr) *fresh = *old;
  }
  const uint32_t stacks = stacks_.load(std::memory_order_relaxed);
  for (uint32_t i = 1; i <= stacks; ++i) {
    const auto* old = from.Existing<wire::StackRecord>(SegmentKind::kStacks, i);
    auto* fresh = to->At<wire::StackRecord>(SegmentKind::kStacks, i, &ignored);
    if (fresh == nullptr) return;
    if (old == nullptr) continue;
    fresh->flags = old->flags;
    fresh->labels = old->labels;
    fresh->node = old->node;
  }
}

}  // namespace heapgauge::agent
