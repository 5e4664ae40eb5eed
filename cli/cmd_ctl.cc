// ctl: ask something of a running program's agent, by its gauge file's control words.

#include <fmt/format.h>

#include <memory>

#include "cli/cli.h"
#include "cli/report_options.h"
#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/gauge/gauge_control.h"
#include "core/gauge/gauge_dump.h"
#include "core/gauge/gauge_facts.h"
#include "core/recording/recording.h"
#include "core/report/recording_text.h"

namespace heapgauge::cli {
namespace {

struct CtlOptions {
  std::string source;
  std::string bytes;
  uint32_t samples = 0;
  std::string output;
};

constexpr int kWaitMs = 1000;

int ShowStatus(const CtlOptions& options) {
  const auto path = LocateFile(options.source);
  if (!path) return FailWith(path.error());
  const auto summary = ReadGaugeSummary(*path);
  if (!summary) return FailWith(summary.error());
  Profile profile;
  profile.recording = summary->recording;
  const RecordingFacts& r = profile.recording;
  std::string text = fmt::format("{}  pid {}  {}\n", r.name(), r.pid, StateText(r));
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("{:<11}{}\n", label, value);
  };
  line("sampling", r.traced   ? "none: every call goes into its trace (run --trace)"
                   : r.active ? "on"
                              : "off");
  std::string interval = FormatBytes(static_cast<double>(r.interval));
  if (r.interval_in_force > r.interval) {
    interval +=
        fmt::format(" ({} in force)", FormatBytes(static_cast<double>(r.interval_in_force)));
  }
  line("interval", interval);
  line("max rate", r.max_samples_per_second == 0
                       ? std::string("no cap")
                       : fmt::format("{} samples/s", r.max_samples_per_second));
  line("live", LiveText(summary->live_bytes, r));
  line("samples",
       fmt::format("{} taken, {} live, {} lost", FormatCount(static_cast<double>(r.samples)),
                   FormatCount(static_cast<double>(r.live_samples)),
                   FormatCount(static_cast<double>(r.lost_samples()))));
  if (r.dump.sequence != 0 && !r.is_dump) {
    line("dumps", fmt::format("{}, the last at {}: {}", r.dump.sequence,
                              FormatDuration(r.dump.time_ns), r.dump.reason));
  }
  if (const std::string dump = DumpText(r); !dump.empty()) line("dump", dump);
  line("allocator", (r.allocator.empty() ? "unknown" : r.allocator) + "  " + r.allocator_path);
  line("file", Printable(*path));
  return PrintOut(text);
}

// Opens the control words of a program that runs, makes the change, and says what became of it.
int ChangeAndTell(const CtlOptions& options, const std::function<Status(GaugeControl*)>& change,
                  const std::string& what) {
  const auto path = LocateFile(options.source);
  if (!path) return FailWith(path.error());
  const auto summary = ReadGaugeSummary(*path);
  if (!summary) return FailWith(summary.error());
  const RecordingFacts& r = summary->recording;
  if (r.state != RecordingState::kLive) {
    return FailWith(
        fmt::format("process {} of '{}' does not run any more ({}); its data can be read, not "
                    "changed",
                    r.pid, *path, StateText(r)));
  }
  if (r.traced) {
    return FailWith(fmt::format(
        "process {} is traced (run --trace): every call is recorded, and there is no sampling to "
        "change",
        r.pid));
  }
  auto control = GaugeControl::Open(*path);
  if (!control) return FailWith(control.error());
  if (const Status status = change(&*control); !status) return FailWith(status.error());
  if (control->WaitUntilSeen(kWaitMs)) return PrintOut(what + "\n");
  const std::string when =
      r.active ? fmt::format("at its next sample, that is within about {} of allocations",
                             FormatBytes(static_cast<double>(r.interval_in_force)))
               : std::string(
                     "at its next allocation that looks at the control words "
                     "(calloc, realloc, or a sample)");
  return PrintOut(
      fmt::format("asked for: {}. The program has not seen it yet; it will {}.\n", what, when));
}

int Dump(const CtlOptions& options) {
  const auto path = LocateFile(options.source);
  if (!path) return FailWith(path.error());
  std::string copy = options.output;
  if (copy.empty()) {
    const auto dumped = DumpGaugeTo(*path, {}, wire::DumpReason::kRequest);
    if (!dumped) return FailWith(dumped.error());
    copy = *dumped;
  } else if (const Status status = DumpGauge(*path, copy); !status) {
    return FailWith(status.error());
  }
  return PrintOut("wrote " + Printable(copy) + "; open it with: heapgauge top " + ShellWord(copy) +
                  "\n");
}

int Peak(const CtlOptions& options) {
  ReportOptions report;
  report.sources = {options.source};
  report.peak = true;
  return Top(report);
}

void DescribeCtl(Command sub, Action* action) {
  auto options = std::make_shared<CtlOptions>();
  sub.Footer(R"(
Examples:
  heapgauge ctl 4242 status
  heapgauge ctl 4242 disable                 and later: enable
  heapgauge ctl 4242 sample 128K             finer, at more cost
  heapgauge ctl 4242 max-rate 1000           at most 1000 samples a second; 0: no cap
  heapgauge ctl 4242 reset                   forget everything up to now
  heapgauge ctl 4242 dump -o before.hg       a copy to keep; without -o it gets a name)");
  sub.Add("SOURCE", &options->source, "PID or gauge file").Required();
  sub.RequireSub();
  const auto add = [&](const char* name, const char* summary, std::function<int()> run) {
    Command verb = sub.Sub(name, summary);
    verb.OnChosen([=] { *action = run; });
    return verb;
  };
  add("status", "what the agent does", [=] { return ShowStatus(*options); });
  add("enable", "switch sampling on", [=] {
    return ChangeAndTell(
        *options, [](GaugeControl* c) { return c->SetActive(true); }, "sampling is on");
  });
  add("disable", "switch sampling off", [=] {
    return ChangeAndTell(
        *options, [](GaugeControl* c) { return c->SetActive(false); }, "sampling is off");
  });
  add("sample", "change the mean distance between samples",
      [=] {
        const auto bytes = SizeOption("sample", options->bytes);
        if (!bytes) return FailWith(bytes.error());
        return ChangeAndTell(
            *options, [&](GaugeControl* c) { return c->SetInterval(*bytes); },
            "1 sample in " + FormatBytes(static_cast<double>(*bytes)));
      })
      .Add("BYTES", &options->bytes, "for example 128K")
      .Required();
  add("max-rate", "change the cap on samples per second",
      [=] {
        return ChangeAndTell(
            *options, [&](GaugeControl* c) { return c->SetMaxSamplesPerSecond(options->samples); },
            options->samples == 0 ? std::string("no cap on samples")
                                  : fmt::format("at most {} samples/s", options->samples));
      })
      .Add("N", &options->samples, "samples per second, 0 for no cap")
      .Required();
  add("reset", "forget all samples up to now", [=] {
    return ChangeAndTell(
        *options, [](GaugeControl* c) { return c->RequestReset(); },
        "reset: figures count from now on");
  });
  add("dump", "copy the gauge file as it is now", [=] { return Dump(*options); })
      .Add("-o,--output", &options->output,
           "the copy; PROGRAM.PID.NUMBER.request.hg in this directory without");
  add("peak", "top of the largest heap so far", [=] { return Peak(*options); });
}

}  // namespace

const CommandEntry kCtlCommand = {"ctl", "look at or change the sampling of a running program",
                                  DescribeCtl};

}  // namespace heapgauge::cli
