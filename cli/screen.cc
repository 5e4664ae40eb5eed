#include "cli/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

// Another page of the terminal, no cursor, no wrapping of long lines; and back.
constexpr char kEnter[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
constexpr char kLeave[] = "\033[?7h\033[?25h\033[0m\033[?1049l";

// For signal handlers, which know no objects.
termios g_before;
volatile sig_atomic_t g_entered = 0;
volatile sig_atomic_t g_ended = 0;
volatile sig_atomic_t g_resized = 0;

void GiveBack() {
  if (g_entered == 0) return;
  g_entered = 0;
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, kLeave, sizeof kLeave - 1);
  tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
}

void OnEnd(int) { g_ended = 1; }
void OnResize(int) { g_resized = 1; }
void OnCrash(int signal_number) {
  const int error = errno;
  GiveBack();
  errno = error;
  // The handler was reset on entry: this ends the program as if we had not been there.
  raise(signal_number);
}

constexpr int kEnds[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

void Handle(int signal_number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, nullptr);
}

Key Plain(Key::Kind kind) { return {kind, ""}; }

// "\033[" parameters letter, or "\033O" letter.
Key Sequence(const std::string& parameters, char letter) {
  switch (letter) {
    case 'A':
      return Plain(Key::kUp);
    case 'B':
      return Plain(Key::kDown);
    case 'C':
      return Plain(Key::kRight);
    case 'D':
      return Plain(Key::kLeft);
    case 'H':
      return Plain(Key::kHome);
    case 'F':
      return Plain(Key::kEnd);
    case '~':
      break;
    default:
      return Plain(Key::kUnknown);
  }
  static constexpr std::pair<const char*, Key::Kind> kNumbered[] = {
      {"1", Key::kHome},     {"3", Key::kDelete}, {"4", Key::kEnd}, {"5", Key::kPageUp},
      {"6", Key::kPageDown}, {"7", Key::kHome},   {"8", Key::kEnd}};
  for (const auto& [number, kind] : kNumbered) {
    if (parameters == number) return Plain(kind);
  }
  return Plain(Key::kUnknown);
}

std::optional<Key> TakeSequence(std::string* bytes, bool complete) {
  const std::string& b = *bytes;
  if (b.size() == 1) {
    if (!complete) return std::nullopt;
    bytes->clear();
    return Plain(Key::kEscape);
  }
  if (b[1] != '[' && b[1] != 'O') {  // Alt and a key: the Esc alone, the key stays
    bytes->erase(0, 1);
    return Plain(Key::kEscape);
  }
  constexpr size_t kLongest = 32;
  size_t end = 2;
  while (end < b.size() && end < kLongest && (b[end] < 0x40 || b[end] > 0x7e)) ++end;
  if (end == b.size() && !complete) return std::nullopt;
  if (end >= b.size() || end == kLongest) {
    bytes->erase(0, end);
    return Plain(Key::kUnknown);
  }
  const Key key = Sequence(b.substr(2, end - 2), b[end]);
  bytes->erase(0, end + 1);
  return key;
}

}  // namespace

std::optional<Key> TakeKey(std::string* bytes, bool complete) {
  if (bytes->empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes->front());
  if (first == 0x1b) return TakeSequence(bytes, complete);
  if (first >= 0x80) {
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
    if (bytes->size() < length && !complete) return std::nullopt;
    const std::string text = bytes->substr(0, GlyphAt(*bytes, 0).bytes);
    bytes->erase(0, text.size());
    if (text.size() == 1) return Plain(Key::kUnknown);
    return Key{Key::kText, text};
  }
  bytes->erase(0, 1);
  switch (first) {
    case '\r':
    case '\n':
      return Plain(Key::kEnter);
    case 0x7f:
    case 0x08:
      return Plain(Key::kBackspace);
    case 0x15:
      return Plain(Key::kKillLine);
    case 0x03:
    case 0x04:
      return Plain(Key::kInterrupt);
    case 0x0c:
      return Plain(Key::kRedraw);
    case 0x1a:
      return Plain(Key::kSuspend);
    default:
      break;
  }
  if (first < 0x20) return Plain(Key::kUnknown);
  return Key{Key::kText, std::string(1, static_cast<char>(first))};
}

Result<std::unique_ptr<Screen>> Screen::Open(const TextLook& look) {
  std::unique_ptr<Screen> screen(new Screen(look));
  HG_TRY(screen->Enter());
  return screen;
}

Status Screen::Enter() {
  if (tcgetattr(STDIN_FILENO, &g_before) != 0) {
    return Fail(ErrorCode::kIo, std::string("standard input: ") + std::strerror(errno));
  }
  termios raw = g_before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON | ISTRIP);
  raw.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  g_entered = 1;
  for (const int s : kEnds) Handle(s, OnEnd, 0);
  for (const int s : kCrashes) Handle(s, OnCrash, static_cast<int>(SA_RESETHAND | SA_NODEFER));
  Handle(SIGWINCH, OnResize, 0);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  return WriteToDescriptor(STDOUT_FILENO, kEnter, "the terminal");
}

void Screen::Leave() {
  GiveBack();
  for (const int s : kEnds) Handle(s, SIG_DFL, 0);
  for (const int s : kCrashes) Handle(s, SIG_DFL, 0);
  Handle(SIGWINCH, SIG_DFL, 0);
}

Screen::~Screen() { Leave(); }

void Screen::Suspend() {
  Leave();
  raise(SIGTSTP);
  static_cast<void>(Enter());
}

ScreenSize Screen::size() const {
  ScreenSize size;
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0) {
    size.columns = std::clamp<size_t>(window.ws_col, 20, 500);
    size.lines = std::clamp<size_t>(window.ws_row, 2, 500);
  }
  return size;
}

void Screen::Draw(const std::vector<StyledText>& lines) {
  std::string frame = "\033[H";
  for (size_t i = 0; i < lines.size(); ++i) {
    frame += Render(lines[i], look_);
    frame += "\033[K";
    if (i + 1 < lines.size()) frame += "\r\n";
  }
  frame += "\033[J";
  if (!WriteToDescriptor(STDOUT_FILENO, frame, "the terminal")) g_ended = 1;
}

Screen::Event Screen::Wait(int milliseconds) {
  Event event;
  // Handlers run only while we wait, so that no signal is missed in between.
  sigset_t blocked;
  sigset_t open;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGWINCH);
  for (const int s : kEnds) sigaddset(&blocked, s);
  sigprocmask(SIG_BLOCK, &blocked, &open);
  const auto finish = [&] {
    sigprocmask(SIG_SETMASK, &open, nullptr);
    event.resized = std::exchange(g_resized, 0) != 0;
    event.closed = event.closed || g_ended != 0;
    return event;
  };
  if (event.key = TakeKey(&pending_, false); event.key) return finish();
  if (g_ended != 0) return finish();
  // What follows an Esc comes at once or not at all.
  const int wait = pending_.empty() ? milliseconds : std::min(milliseconds, 50);
  const timespec timeout{wait / 1000, wait % 1000 * 1'000'000L};
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = ppoll(&input, 1, &timeout, &open);
  if (ready == 0) {
    event.key = TakeKey(&pending_, true);
  } else if (ready > 0) {
    char bytes[256];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count > 0) {
      pending_.append(bytes, static_cast<size_t>(count));
      event.key = TakeKey(&pending_, false);
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      event.closed = true;
    }
  }
  return finish();
}

}  // namespace heapgauge::cli
