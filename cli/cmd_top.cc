#include <unistd.h>

#include <chrono>
#include <memory>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "cli/report_options.h"
#include "cli/report_source.h"
#include "cli/screen.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/recording/recording.h"
#include "core/report/views/top.h"
#include "core/report/views/watch_view.h"

namespace heapgauge::cli {

// `top --watch`: the table of functions on a screen of its own, refreshed until the user has seen
// enough. Shows what changed since the last refresh and since the watch began.
//
// Runs until a key or a signal ends it; returns the exit code.
int Watch(const ReportOptions& options);

namespace {

using Clock = std::chrono::steady_clock;

class Watcher {
 public:
  Watcher(const ReportOptions& options, Sorted first, std::chrono::milliseconds every)
      : options_(options),
        first_(std::make_shared<Profile>(std::move(first.loaded.profile))),
        every_(every) {
    last_ = now_ = first_;
    view_.sort = first.sort;
    view_.cumulative = options.cumulative;
    view_.granularity = options.granularity;
    view_.names = options.names;
    view_.filter = {options.focus, options.ignore};
  }

  // Fails if a filter of the command line is no regular expression.
  Status Compute() {
    HG_ASSIGN(table_, ComputeWatch(Data(), view_));
    return {};
  }

  int Run(Screen* screen, FrameCache* cache) {
    Clock::time_point next = Clock::now() + every_;
    while (true) {
      const ScreenSize size = screen->size();
      screen->Draw(WatchScreen(Data(), view_, table_, size, utf8_));
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
      const bool due = left.count() <= 0;
      const Screen::Event event = screen->Wait(due ? 0 : static_cast<int>(left.count()));
      if (event.closed) return kDone;
      if (event.key) {
        switch (HandleKey(*event.key, table_.report.rows.size(), WatchPage(size), &view_)) {
          case WatchAction::kQuit:
            return kDone;
          case WatchAction::kSuspend:
            screen->Suspend();
            break;
          case WatchAction::kCompute:
            static_cast<void>(Compute());  // patterns were checked when they were typed
            break;
          case WatchAction::kRefresh:
            next = Clock::now();
            break;
          case WatchAction::kRestart:
            first_ = last_ = now_;
            static_cast<void>(Compute());
            break;
          case WatchAction::kDraw:
          case WatchAction::kNothing:
            break;
        }
      }
      if (Clock::now() < next) continue;
      if (!view_.frozen) Refresh(cache);
      next = Clock::now() + every_;
    }
  }

  void set_utf8(bool utf8) { utf8_ = utf8; }

 private:
  WatchData Data() const {
    WatchData data;
    data.now = now_.get();
    data.last = last_.get();
    data.first = first_.get();
    data.every_ms = static_cast<uint64_t>(every_.count());
    data.trouble = trouble_;
    return data;
  }

  void Refresh(FrameCache* cache) {
    if (IsOver(now_->recording.state)) return;  // the last figures stay, and what they changed by
    auto sorted = LoadSorted(options_, cache);
    if (!sorted) {
      trouble_ = sorted.error().message;
      return;
    }
    trouble_.clear();
    last_ = now_;
    now_ = std::make_shared<Profile>(std::move(sorted->loaded.profile));
    static_cast<void>(Compute());
  }

  ReportOptions options_;
  std::shared_ptr<const Profile> first_;
  std::shared_ptr<const Profile> last_;
  std::shared_ptr<const Profile> now_;
  std::chrono::milliseconds every_;
  std::string trouble_;
  WatchView view_;
  WatchTable table_;
  bool utf8_ = true;
};

// "2", "0.5"; between a tenth of a second and a day.
Result<std::chrono::milliseconds> ParseSeconds(const std::string& text) {
  const auto seconds = NumberIn<double>(text);
  if (!seconds || !(*seconds >= 0.1 && *seconds <= 86400)) {
    return Fail(ErrorCode::kInvalidArgument,
                "--watch=" + text + ": write seconds between 0.1 and 86400, as in --watch=5");
  }
  return std::chrono::milliseconds(static_cast<int64_t>(*seconds * 1000));
}

}  // namespace

int Watch(const ReportOptions& asked) {
  const auto every = ParseSeconds(asked.watch);
  if (!every) return FailWith(every.error());
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) {
    return FailWith(
        "--watch needs a terminal for keys and screen; without one, repeat heapgauge top");
  }
  if (asked.json || !asked.output.empty()) {
    return FailWith("--watch goes with neither --json nor -o");
  }
  ReportOptions options = asked;
  // A process that ends must not turn into another one of the same number.
  if (asked.sources.size() != 1) return FailWith("--watch shows one SOURCE at a time");
  const auto meant = MeantTrace(asked.sources.front(), asked.pick);
  if (!meant) return FailWith(meant.error());
  auto path = LocateFile(*meant, asked.pick);
  if (!path) return FailWith(path.error());
  options.sources = {*path};
  FrameCache cache;
  auto sorted = LoadSorted(options, &cache);
  if (!sorted) return FailWith(sorted.error());
  options.quiet = true;
  Watcher watcher(options, *std::move(sorted), *every);
  if (const Status status = watcher.Compute(); !status) return FailWith(status.error());
  const Terminal terminal = DescribeTerminal(STDOUT_FILENO, options.colour);
  watcher.set_utf8(terminal.look.utf8);
  EndProgress();
  auto screen = Screen::Open(terminal.look);
  if (!screen) return FailWith(screen.error());
  return watcher.Run(screen->get(), &cache);
}

// top: who holds the memory.

int Top(const ReportOptions& options) {
  if (!options.watch.empty()) return Watch(options);
  auto sorted = LoadSorted(options);
  if (!sorted) return FailWith(sorted.error());
  Loaded* loaded = &sorted->loaded;
  if (loaded->profile.recording.state == RecordingState::kLive && !options.json && !options.csv &&
      options.sources.size() == 1) {
    if (const auto path = LocateFile(loaded->sources.front(), options.pick)) {
      loaded->profile.recording.memory = MemoryLineOf(*path);
    }
  }
  FunctionOptions functions;
  functions.filter = {options.focus, options.ignore};
  functions.sort = sorted->sort;
  functions.cumulative = options.cumulative;
  functions.granularity = options.granularity;
  functions.flat_only = !options.cumulative && !options.json && !options.csv;
  const auto report = AggregateFunctions(loaded->profile, functions);
  if (!report) return FailWith(report.error());
  TopOptions top;
  top.rows = options.RowsOr(top.rows);
  top.layout = Target(options).layout();
  top.cumulative = options.cumulative;
  top.sort = functions.sort;
  top.names = options.names;
  if (options.csv) TellNotes(loaded->profile.notes);
  if (options.csv) return Deliver(options, TopCsv(loaded->profile, *report, top));
  return options.json ? Deliver(options, TopJson(loaded->profile, *report, loaded->notes, top))
                      : Deliver(options, TopText(loaded->profile, *report, loaded->notes, top));
}

namespace {

void DescribeTop(Command top, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(top, action, Top, R"(
Each row is a function that allocates, with what is live of it, the range that holds the true value
with 95 % probability, objects, everything it ever allocated, the mean age of its live bytes, and
the line that holds most.

Examples:
  heapgauge top 4242
  heapgauge top --watch 4242                        a live view with what grows
  heapgauge top --sort age -n 40 server.4242.hg     what has been there for longest
  heapgauge top --cum --focus 'Cache::' 4242        by caller, only stacks through Cache
  heapgauge top --lines --focus 'Cache::' 4242      which lines of it
  heapgauge top --peak 4242                         what it was when it was largest
  heapgauge top server.hgt@12.3s                    of a trace: what was live at that moment
  heapgauge top --from 5s --to 6s --value left server.hgt   what that second left behind)",
                 options);
  const Option json = AddTable(top, options.get());
  AddGranularity(top, options.get());
  AddCsv(top, json, options.get());
  top.Flag("--cum", &options->cumulative, "figures of a function include what it calls");
  top.Flag("--watch{2}", &options->watch,
           "a live view, refreshed every 2 or --watch=SECONDS; ? lists its keys");
}

}  // namespace

const CommandEntry kTopCommand = {"top", "functions that hold the most memory", DescribeTop};

}  // namespace heapgauge::cli
