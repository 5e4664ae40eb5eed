// Gives each distinct stack a number and keeps its counters, in the gauge file.
//
// A stack is named by the rolling hash that the unwinder keeps (unwind/walker.h): one look-up finds
// a stack that was seen before. Only a new one touches the trie. There, each node is named by the
// hash of the stack from the root up to it, so the deepest known ancestor is found by look-ups from
// the leaf outwards, and the rest is added below it. Both kinds of names live in one index, in
// private memory; the nodes and counters in the file are written, never read back (but for the copy
// a forked child makes).
//
// Two threads that meet the same new stack at once may number it twice; readers add up by
// frames, so nothing is lost. Lock-free, allocation-free. Zeroed memory is an empty table.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/table/bucket_table.h"
#include "agent/table/gauge_file.h"
#include "agent/table/module_table.h"
#include "agent/table/poisson.h"
#include "agent/unwind/walker.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class StackTable {
 public:
  // The number of the stack, adding it if it is new; 0 with the reason in *loss if it cannot be
  // kept. `flags` are wire::kStack*: a stack of blocks and one of mappings are two. So are those of
  // two sets of labels.
  uint32_t Intern(GaugeFile* file, ModuleTable* modules, const char* main_program,
                  const Stack& stack, wire::Loss* loss, uint16_t flags = 0, uint16_t labels = 0);

  // What the stack with this hash is known by, in this layout of modules; never 0.
  static uint64_t NameOf(uint64_t stack_hash, uint64_t layout, uint16_t flags, uint16_t labels) {
    const uint64_t hash = stack_hash ^ (flags | uint64_t{labels} << 16) * 0xE7037ED1A0B428DB;
    return Mix(hash, layout ^ 0xA0761D6478BD642F);
  }

  void CountAllocation(GaugeFile* file, uint32_t stack, uint64_t size, const Weight& weight) const;
  void CountFree(GaugeFile* file, uint32_t stack, const Weight& weight) const;
  void ClearCounters(GaugeFile* file) const;

  // Writes nodes and stacks of `from` into `to`, counters zero, as far as there is room: for a
  // forked child.
  void CopyTo(const GaugeFile& from, GaugeFile* to) const;

  // Before memory cannot be had any more: for some thousand stacks, or for many if so expected.
  void Prepare() { index_.Prepare(); }

  // While every call is traced there are hundreds of thousands of stacks, within seconds.
  // REQUIRES: no other thread uses the table yet.
  void ExpectMany() { index_.ExpectMany(); }

  size_t private_bytes() const { return index_.private_bytes(); }

 private:
  uint32_t InternNode(GaugeFile* file, ModuleTable* modules, const char* main_program,
                      const Stack& stack, wire::Loss* loss);
  static uint64_t Mix(uint64_t hash, uint64_t salt) {
    uint64_t key = (hash ^ salt) * 0x9FB21C651E98DF25;
    key ^= key >> 32;
    return key < 2 ? key + 2 : key;  // 0 and 1 are not keys
  }
  static uint64_t NodeKey(uint64_t hash, uint64_t layout) { return Mix(hash, layout); }

  BucketTable index_;
  std::atomic<uint32_t> nodes_;   // taken so far, without node 0
  std::atomic<uint32_t> stacks_;  // taken so far, without stack 0
};

}  // namespace heapgauge::agent
