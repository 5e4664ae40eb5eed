#include "core/query/allocation_columns.h"

#include <iterator>

namespace heapgauge::query::allocation {
namespace {

// In alphabetical order, so that rows in order of their places are in order of the names.
constexpr const char* kCalls[] = {"aligned", "calloc", "malloc", "mallocx", "mmap",
                                  "new",     "new[]",  "other",  "pool",    "realloc"};
enum CallPlace {
  kAligned,
  kCalloc,
  kMalloc,
  kMallocx,
  kMmap,
  kNew,
  kNewArray,
  kOther,
  kPool,
  kRealloc
};

int64_t CallOf(const trace::Block& block) {
  // By wire::AllocationFunction.
  constexpr CallPlace kPlaces[] = {kMalloc, kCalloc,   kRealloc, kAligned,
                                   kNew,    kNewArray, kMallocx, kPool};
  if (block.is_mapping) return kMmap;
  return block.function < std::size(kPlaces) ? kPlaces[block.function] : kOther;
}

int64_t Whole(uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
}

// What an import of another tool's recording does not know of any block.
bool NeedsMoreThanBlocks(int column) {
  return column == kSlack || column == kAlignment || column == kCall || column == kThread ||
         column == kFreedBy || column == kPrevious || column == kResized;
}

}  // namespace

std::vector<Column> Columns() {
  return {
      {"number", "INTEGER", "allocations are numbered from 0 in order of time"},
      {"born_ns", "INTEGER", "when it was allocated, since the recording began"},
      {"freed_ns", "INTEGER", "when it was freed; NULL if it never was"},
      {"lifetime_ns", "INTEGER", "from then to then, or to the end of the recording"},
      {"address", "INTEGER",
       "of the block; printf('%x', address) is hexadecimal; NULL if not known"},
      {"size", "INTEGER", "bytes that were asked for"},
      {"slack", "INTEGER", "bytes that the allocator gave beyond; 65535: or more"},
      {"alignment", "INTEGER", "that was asked for; NULL if none was"},
      {"call", "TEXT", "malloc, calloc, realloc, aligned, new, new[], mallocx, pool, mmap"},
      {"stack", "INTEGER", "who allocated it: key of stacks, frames, snapshots, labels"},
      {"thread", "INTEGER", "that allocated it: key of threads"},
      {"freed_by", "INTEGER", "the thread that freed it; NULL if it never was"},
      {"distance", "INTEGER",
       "allocations that its thread made before it freed it; NULL if another thread did, or none"},
      {"temporary", "INTEGER", "1 if distance is 0: freed before the next allocation"},
      {"previous", "INTEGER",
       "number of the block that realloc, or a cut of a mapping, made it of; NULL if none"},
      {"is_mapping", "INTEGER", "1 if mmap made it, which only run --trace --mmap records"},
      {"resized", "INTEGER", "1 if it ended as the previous of another block"},
      {"lifespan", "BLOB", "born_ns and freed_ns for live_at(lifespan, t)", true},
  };
}

int64_t NumberIn(const trace::Block& b, int column, const Recorded& recorded) {
  if (recorded.only_blocks && NeedsMoreThanBlocks(column)) return kNullColumn;
  switch (column) {
    case kNumber:
      return Whole(b.number);
    case kBorn:
      return Whole(b.birth_ns);
    case kFreed:
      return b.is_live() ? kNullColumn : Whole(b.death_ns);
    case kLifetime:
      return Whole(b.lifetime_ns(recorded.end_ns));
    case kAddress:
      return b.address == 0 ? kNullColumn : Whole(b.address);
    case kSize:
      return Whole(b.size);
    case kSlack:
      return b.slack;
    case kAlignment:
      return b.alignment_log2 == 0 || b.alignment_log2 > 62 ? kNullColumn
                                                            : int64_t{1} << b.alignment_log2;
    case kCall:
      return CallOf(b);
    case kStack:
      return b.stack;
    case kThread:
      return b.thread == trace::kNoIndex ? kNullColumn : int64_t{b.thread};
    case kFreedBy:
      return b.is_live() || b.death_thread == trace::kNoIndex ? kNullColumn
                                                              : int64_t{b.death_thread};
    case kDistance:
      return b.distance == trace::kForeign ? kNullColumn : int64_t{b.distance};
    case kTemporary:
      return b.distance == 0 ? 1 : 0;
    case kPrevious:
      return b.previous == trace::kNoBlock ? kNullColumn : Whole(b.previous);
    case kIsMapping:
      return b.is_mapping ? 1 : 0;
    case kResized:
      return b.resized_away ? 1 : 0;
    default:
      return kNullColumn;
  }
}

void PutNumber(int column, int64_t value, sqlite3_context* out) {
  if (value == kNullColumn) return;
  if (column == kCall) return PutLasting(out, kCalls[value]);
  sqlite3_result_int64(out, value);
}

bool NeedsEnd(int column) {
  return column == kFreed || column == kLifetime || column == kFreedBy || column == kDistance ||
         column == kTemporary || column == kResized || column == kLifespan;
}

}  // namespace heapgauge::query::allocation
