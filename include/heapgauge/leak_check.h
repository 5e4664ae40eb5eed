// Leaks of a scope, for tests: C++17, header-only, linked with nothing.
//
//   heapgauge::LeakCheck check;
//   RunTheThing();
//   const heapgauge::LeakCheck::Result leaks = check.Look();
//   if (leaks.lost()) std::cerr << leaks.report;
//
// It works while the program runs under `heapgauge run --leaks`, which knows every block and looks
// through memory for pointers to them. Anywhere else `checked` is false and nothing ever counts as
// lost, so that tests pass without heapgauge too. GoogleTest: gtest_leak_listener.h. See
// docs/leak-tests.md.
//
// A check holds the whole program up for some milliseconds. Blocks of all threads count that were
// allocated between the beginning of the scope and the look and not freed since.
#ifndef HEAPGAUGE_LEAK_CHECK_H_
#define HEAPGAUGE_LEAK_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "heapgauge.h"

namespace heapgauge {

class LeakCheck {
 public:
  struct Result {
    bool checked = false;
    std::string why_not;  // if it is not checked
    // No chain of pointers leads to these from registers, stacks, globals or thread-local storage.
    uint64_t lost_blocks = 0;
    uint64_t lost_bytes = 0;
    // Only a pointer into the middle of some block does.
    uint64_t possible_blocks = 0;
    uint64_t possible_bytes = 0;
    // Somebody still has these: a cache, a global, a local variable.
    uint64_t reachable_blocks = 0;
    uint64_t reachable_bytes = 0;
    // Text with the stacks that allocated what is lost, and then the rest; "" if there is nothing.
    std::string report;

    bool lost() const { return lost_blocks != 0; }
    bool possibly_lost() const { return lost_blocks + possible_blocks != 0; }
    bool still_live() const { return lost_blocks + possible_blocks + reachable_blocks != 0; }
  };

  // The scope begins.
  LeakCheck() { Restart(); }
  LeakCheck(const LeakCheck&) = delete;
  LeakCheck& operator=(const LeakCheck&) = delete;

  // Blocks that are older than this moment do not count from now on.
  void Restart() { code_ = heapgauge_leak_mark(&mark_); }

  // What has become of the blocks of the scope. May be called again. With a frame
  // (__builtin_frame_address(0)), nothing holds a block that this function, those it calls and so
  // many of its callers have on the stack.
  // Inlined, always: what calls the check has no frame of its own, which would lie where the
  // functions of the scope have left their words.
  __attribute__((always_inline)) Result Look(const void* frame = nullptr,
                                             uint32_t callers = 0) const {
    heapgauge_leaks leaks{};
    const int code =
        code_ == HEAPGAUGE_OK ? heapgauge_leak_check(mark_, frame, callers, &leaks) : code_;
    return MakeResult(code, leaks);
  }

 private:
  static Result MakeResult(int code, const heapgauge_leaks& leaks) {
    Result result;
    if (code != HEAPGAUGE_OK) {
      result.why_not =
          code == HEAPGAUGE_ABSENT ? "not run under heapgauge run --leaks" : heapgauge_error();
      return result;
    }
    result.checked = true;
    result.lost_blocks = leaks.lost_blocks;
    result.lost_bytes = leaks.lost_bytes;
    result.possible_blocks = leaks.possible_blocks;
    result.possible_bytes = leaks.possible_bytes;
    result.reachable_blocks = leaks.reachable_blocks;
    result.reachable_bytes = leaks.reachable_bytes;
    if (result.still_live()) result.report = ReadReport(leaks.check);
    return result;
  }
  static std::string ReadReport(uint32_t check) {
    const int64_t length = heapgauge_leak_report(check, nullptr, 0);
    if (length <= 0) return "";
    std::string text(static_cast<size_t>(length) + 1, '\0');
    heapgauge_leak_report(check, &text[0], text.size());
    text.resize(static_cast<size_t>(length));
    return text;
  }

  uint64_t mark_ = 0;
  int code_ = HEAPGAUGE_ABSENT;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_LEAK_CHECK_H_
