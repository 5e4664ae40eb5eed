// The terminal as a screen that is drawn whole, with keys read one by one. What was on the terminal
// comes back when the object goes, also if the program is ended by a signal or crashes.
//
// There is one at a time. Single-threaded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/report/styled_text.h"
#include "core/report/views/watch_view.h"

namespace heapgauge::cli {

// Takes one key off the front of what a terminal sent. Nothing if more bytes must come first, which
// `complete` denies: an Esc that nothing follows is the key of that name.
std::optional<Key> TakeKey(std::string* bytes, bool complete);

class Screen {
 public:
  // REQUIRES: standard input and output are terminals.
  static Result<std::unique_ptr<Screen>> Open(const TextLook& look);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  ScreenSize size() const;
  // Draws all lines in one write.
  void Draw(const std::vector<StyledText>& lines);

  // Waits for a key, a change of size, or the end of `milliseconds`.
  struct Event {
    std::optional<Key> key;
    bool resized = false;
    bool closed = false;  // the terminal is gone, or we were asked to end
  };
  Event Wait(int milliseconds);

  // Gives the terminal back to the shell until the user returns.
  void Suspend();

 private:
  explicit Screen(const TextLook& look) : look_(look) {}
  Status Enter();
  void Leave();

  TextLook look_;
  std::string pending_;  // bytes of keys
};

}  // namespace heapgauge::cli
