// The part of the program's interface (heapgauge/heapgauge.h) that is about leaks: which blocks
// that were allocated since a moment are lost now. The recorder of `run --leaks` finds out.
#include <initializer_list>

#include "agent/hooks/api.h"
#include "agent/leaks/ask_check.h"
#include "agent/record/recorder.h"
#include "agent/sys/os.h"
#include "agent/sys/thread_state.h"
#include "agent/unwind/plain_walk.h"

namespace {

using namespace heapgauge::agent;

constexpr char kNotWatched[] =
    "leaks are looked for only in programs that run under heapgauge run --leaks";

int NotWatched() { return FailWith(HEAPGAUGE_UNAVAILABLE, kNotWatched); }

// The stack pointer of the function that `callers` functions above the one with this frame is; that
// frame itself if the stack cannot be walked so far.
uintptr_t StackOfCaller(const void* own, uintptr_t frame, uint32_t callers) {
  const auto* const words = static_cast<const uintptr_t*>(own);
  const Registers start{words[1], reinterpret_cast<uintptr_t>(words + 2), words[0]};
  constexpr uint32_t kMost = 32;
  PlainFrame frames[kMost];
  StackMemory memory;
  const PlainWalk walk = WalkPlain(start, RuleSource::kEvaluate, &memory, frames, kMost);
  for (uint32_t i = 0; i < walk.count; ++i) {
    if (frames[i].sp <= frame) continue;
    return frames[i + callers < walk.count ? i + callers : i].sp;
  }
  return frame / sizeof(uintptr_t) * sizeof(uintptr_t);
}

}  // namespace

int heapgauge_leak_mark(uint64_t* mark) {
  *mark = 0;
  if (!CanAskForCheck()) return NotWatched();
  *mark = session.tracer().Now();
  return HEAPGAUGE_OK;
}

HG_HIDDEN int hg_check_scope(uint64_t mark, const void* frame, uint32_t callers,
                             struct heapgauge_leaks* leaks, uintptr_t stack);

// heapgauge_leak_check (preserving_entries_ARCH.S): the program's stack begins at `stack`, with its
// registers.
int hg_check_scope(uint64_t mark, const void* frame, uint32_t callers,
                   struct heapgauge_leaks* leaks, uintptr_t stack) {
  *leaks = {};
  if (!CanAskForCheck()) return NotWatched();
  heapgauge::wire::LeakControl words{};
  uintptr_t sp = stack;
  if (frame != nullptr) {
    const uintptr_t of_frame =
        StackOfCaller(__builtin_frame_address(0), reinterpret_cast<uintptr_t>(frame), callers);
    if (of_frame > sp) sp = of_frame;
  }
  const CheckAnswer answer =
      AskForCheck(&LeakQuestions, {heapgauge::wire::CheckReason::kScope, mark, sp}, &words);
  if (answer == CheckAnswer::kRefused) {
    return FailWith(HEAPGAUGE_IO,
                    "the memory of the program cannot be looked at: ptrace is not allowed here");
  }
  if (answer == CheckAnswer::kBusy) {
    return FailWith(
        HEAPGAUGE_UNAVAILABLE,
        "another check of the program is under way, and takes too long or was interrupted");
  }
  if (answer != CheckAnswer::kDone) {
    return FailWith(HEAPGAUGE_UNAVAILABLE, "the recorder of heapgauge run --leaks is gone");
  }
  leaks->lost_blocks = words.lost_blocks;
  leaks->lost_bytes = words.lost_bytes;
  leaks->possible_blocks = words.possible_blocks;
  leaks->possible_bytes = words.possible_bytes;
  leaks->reachable_blocks = words.live_blocks;
  leaks->reachable_bytes = words.live_bytes;
  leaks->check = words.check_number;
  return HEAPGAUGE_OK;
}

int64_t heapgauge_leak_report(uint32_t check, char* text, size_t size) {
  if (size != 0) *text = '\0';
  if (!CanAskForCheck()) return NotWatched();
  char path[1024];
  char digits[12];
  size_t at = sizeof digits;
  digits[--at] = '\0';
  do {
    digits[--at] = static_cast<char>('0' + check % 10);
    check /= 10;
  } while (check != 0);
  size_t length = 0;
  for (const char* part : {session.OwnPath(), ".leaks", const_cast<const char*>(digits + at)}) {
    while (*part != '\0' && length + 1 < sizeof path) path[length++] = *part++;
  }
  path[length] = '\0';
  const int fd = os::OpenForReading(path);
  if (fd < 0) return FailWith(HEAPGAUGE_IO, "there is no report of this check");
  int64_t total = 0;
  char rest[4096];
  while (true) {
    const bool fits = size != 0 && static_cast<size_t>(total) + 1 < size;
    const long got = fits ? os::Read(fd, text + total, size - 1 - static_cast<size_t>(total))
                          : os::Read(fd, rest, sizeof rest);
    if (got <= 0) break;
    total += got;
  }
  os::Close(fd);
  if (size != 0)
    text[static_cast<size_t>(total) < size ? static_cast<size_t>(total) : size - 1] = 0;
  return total;
}
