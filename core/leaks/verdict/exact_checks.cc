#include "core/leaks/verdict/exact_checks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_tables.h"
#include "core/leaks/capture/epoll_pointers.h"
#include "core/leaks/capture/picture.h"
#include "core/leaks/verdict/search_memory.h"
#include "core/os/process.h"
#include "core/trace/file/tables.h"

namespace heapgauge::leaks {
namespace {

using trace::LoadShared;
using trace::MappedGauge;
using trace::StackEntry;
using trace::StackTables;
using trace::TraceFile;
using wire::SegmentKind;

// The records of the gauge file that the stacks of some blocks lead to, numbered anew.
class NeededTables {
 public:
  explicit NeededTables(MappedGauge* gauge) : gauge_(*gauge) { gauge->Refresh(); }

  // The new number of a stack; 0 unknown.
  uint32_t Stack(uint32_t record) {
    if (record == 0) return 0;
    const auto [it, is_new] = stacks_.emplace(record, 0);
    if (!is_new) return it->second;
    wire::StackRecord stack;
    if (!Load(SegmentKind::kStacks, gauge_.header().stack_bytes, record, &stack)) return 0;
    StackEntry entry;
    entry.leaf = Node(stack.node);
    entry.labels = stack.labels;
    entry.flags = stack.flags;
    most_labels_ = std::max<uint32_t>(most_labels_, stack.labels);
    it->second = static_cast<uint32_t>(tables_.stacks.size());
    tables_.stacks.push_back(entry);
    return it->second;
  }

  StackTables Take() {
    const uint32_t modules = LoadShared(gauge_.header().module_count);
    for (uint32_t i = 0; i < modules; ++i) {
      wire::ModuleRecord record;
      if (!Load(SegmentKind::kModules, gauge_.header().module_bytes, i, &record)) break;
      tables_.modules.push_back(ToModule(record, true));
    }
    for (uint32_t i = 0; i <= most_labels_; ++i) {
      wire::LabelRecord record{};
      Load(SegmentKind::kLabels, gauge_.header().label_bytes, i, &record);
      tables_.labels.push_back(record);
    }
    return std::move(tables_);
  }

 private:
  template <typename Record>
  bool Load(SegmentKind kind, uint32_t told_bytes, uint32_t index, Record* out) const {
    if (told_bytes < sizeof(Record) || told_bytes > wire::kSegmentBytes || told_bytes % 8 != 0) {
      return false;
    }
    const uint8_t* const at = gauge_.record(kind, told_bytes, index);
    if (at == nullptr) return false;
    std::memcpy(out, at, sizeof *out);
    return true;
  }

  // Parents come first, and have smaller numbers: so no file leads in circles.
  uint32_t Node(uint32_t record) {
    struct Step {
      uint32_t record;
      wire::NodeRecord node;
    };
    std::vector<Step> way;
    uint32_t parent = 0;
    uint32_t last = UINT32_MAX;
    while (record != 0 && record < last && way.size() < wire::kMaxFrames) {
      if (const auto it = nodes_.find(record); it != nodes_.end()) {
        parent = it->second;
        break;
      }
      Step step{record, {}};
      if (!Load(SegmentKind::kNodes, gauge_.header().node_bytes, record, &step.node)) break;
      if (step.node.pc_module == 0) break;
      way.push_back(step);
      last = record;
      record = step.node.parent;
    }
    while (!way.empty()) {
      wire::NodeRecord node = way.back().node;
      node.parent = parent;
      parent = static_cast<uint32_t>(tables_.nodes.size());
      nodes_.emplace(way.back().record, parent);
      tables_.nodes.push_back(node);
      way.pop_back();
    }
    return parent;
  }

  const MappedGauge& gauge_;
  StackTables tables_;
  std::unordered_map<uint32_t, uint32_t> stacks_;
  std::unordered_map<uint32_t, uint32_t> nodes_;
  uint32_t most_labels_ = 0;
};

// By address; of two that overlap the younger one is there.
void Order(std::vector<KnownBlock>* blocks) {
  std::sort(blocks->begin(), blocks->end(), [](const KnownBlock& a, const KnownBlock& b) {
    return a.address != b.address ? a.address < b.address : a.birth_ns < b.birth_ns;
  });
  size_t kept = 0;
  for (size_t i = 0; i < blocks->size(); ++i) {
    const KnownBlock block = (*blocks)[i];
    bool overlaps = false;
    while (kept != 0) {
      const KnownBlock& before = (*blocks)[kept - 1];
      if (before.address + std::max<uint64_t>(before.size, 1) <= block.address) break;
      if (before.birth_ns > block.birth_ns) {
        overlaps = true;
        break;
      }
      --kept;
    }
    if (!overlaps) (*blocks)[kept++] = block;
  }
  blocks->resize(kept);
}

}  // namespace

KnownBlocks ExactBlocks(trace::ProcessRecorder* recorder) {
  KnownBlocks known;
  NeededTables tables(&recorder->gauge());
  recorder->matcher().ForEachSurvivor([&](const trace::Block& block) {
    if (block.is_mapping) return;
    KnownBlock out;
    out.address = block.address;
    out.size = std::min(block.size, UINT64_MAX - block.address);
    out.birth_ns = block.birth_ns;
    out.stack = tables.Stack(block.stack);
    out.thread = recorder->thread_id(block.thread) & 0xffffff;
    out.function = block.function;
    known.blocks.push_back(out);
  });
  Order(&known.blocks);
  const StackTables needed = tables.Take();
  TraceFile::Stacks stacks =
      MakeStacks(needed, static_cast<uint32_t>(needed.stacks.size()), "", recorder->gauge().path());
  known.profile = std::move(stacks.profile);
  known.profile.recording = recorder->facts().recording;
  known.stacks.reserve(stacks.stacks.size());
  for (const TraceFile::Stacks::Stack& stack : stacks.stacks) {
    known.stacks.push_back({stack.leaf, stack.labels});
  }
  const wire::Header& header = recorder->gauge().header();
  known.exact = LoadShared(header.trace.lost) == 0;
  if (!known.exact) known.gap = Gap::kEvents;
  known.now_ns = recorder->now_ns();
  return known;
}

namespace {

constexpr uint64_t kMostOfStack = uint64_t{64} << 20;
constexpr uint64_t kLeastForCopy = uint64_t{32} << 20;

// All that can be told without a look at its memory.
Check Begin(trace::ProcessRecorder* recorder, const trace::HeapUsage& usage) {
  Check check;
  check.known = ExactBlocks(recorder);
  const RecordingFacts& recording = check.known.profile.recording;
  check.pid = recorder->pid();
  check.executable = recording.program;
  check.command_line = recording.command();
  check.unix_ns = RealtimeNow();
  check.allocations = usage.allocations;
  check.frees = usage.frees;
  check.allocated_bytes = usage.allocated_bytes;
  const wire::Header& header = recorder->gauge().header();
  if (const uint64_t lost = trace::LoadShared(header.trace.lost); lost != 0) {
    check.notes.push_back(std::to_string(lost) + " calls could not be recorded" +
                          (recording.lacked_descriptors
                               ? ", because the program had no file descriptor left (ulimit -n)"
                               : ", for want of room (--drop, --trace-buffer)"));
  }
  if (const uint64_t missed = recorder->matcher().counts().missed_frees; missed != 0) {
    check.notes.push_back(
        std::to_string(missed) + (missed == 1 ? " address" : " addresses") +
        " came back from the allocator with no free seen: a library that was loaded with "
        "RTLD_DEEPBIND, or has a way of its own, frees past the agent. What it freed and was not "
        "given out again counts as lost or reachable here");
  }
  return check;
}

// The thread that asks is in code of the agent's and of libc's, which the program's blocks are not
// held by. What its stack begins with, there, are the registers that the program may hold some in.
std::vector<CapturedThread> AsTheProgramSeesIt(std::vector<CapturedThread> threads,
                                               const trace::LeakQuestion& question) {
  for (CapturedThread& thread : threads) {
    if (thread.id != question.thread) continue;
    const uint64_t sp = question.stack_pointer;
    if (sp < thread.stack_pointer || sp - thread.stack_pointer > kMostOfStack || sp % 8 != 0) break;
    thread.stack_pointer = sp;
    thread.registers.clear();
  }
  return threads;
}

// Without the words below its stack pointer, which belong to a running function elsewhere.
void CutStack(const trace::LeakQuestion& question, Roots* roots) {
  const uint64_t sp = question.stack_pointer;
  for (RootRange& range : roots->ranges) {
    if (range.kind != RootKind::kStack || range.thread != question.thread) continue;
    if (sp > range.range.start && sp < range.range.end) range.range.start = sp;
  }
}

Status Search(trace::ProcessRecorder* recorder, const trace::LeakQuestion& question,
              uint32_t heuristics, Picture* picture, UncopiedMemory* uncopied,
              const EpollPointers& epoll, Check* check) {
  const std::vector<CapturedThread> threads = AsTheProgramSeesIt(picture->threads(), question);
  HG_ASSIGN(const GaugeMemory gauge, ReadGaugeMemory(recorder->gauge().path()));
  CopyImage image(picture);
  RootsInput roots;
  roots.process = picture->memory_process();
  roots.program = recorder->process();
  roots.threads = &threads;
  roots.gauge = &gauge;
  ScanOptions scan;
  scan.heuristics = heuristics;
  HG_TRY(SearchMemory(
      {image, *uncopied, epoll, roots, scan,
       [&](std::vector<AddressRange> readable) { image.SetReadable(std::move(readable)); },
       [&](Roots* found) { CutStack(question, found); }, nullptr},
      check));
  if (!picture->intact()) {
    return Fail(ErrorCode::kUnavailable, "the copy of the program ended before all was read");
  }
  check->threads = static_cast<uint32_t>(threads.size());
  check->look = picture->look();
  return {};
}

// Only blocks of the scope, with what is known of them.
Check OfScope(const Check& whole, uint64_t since_ns) {
  Check check = whole;
  check.known.blocks.clear();
  check.verdicts.clear();
  std::vector<uint32_t> numbers(whole.known.blocks.size(), kNoBlock);
  for (uint32_t i = 0; i < numbers.size(); ++i) {
    if (whole.known.blocks[i].birth_ns < since_ns) continue;
    numbers[i] = static_cast<uint32_t>(check.known.blocks.size());
    check.known.blocks.push_back(whole.known.blocks[i]);
    if (i < whole.verdicts.size()) check.verdicts.push_back(whole.verdicts[i]);
  }
  for (Verdict& verdict : check.verdicts) {
    for (uint32_t* block : {&verdict.leader, &verdict.from}) {
      if (*block != kNoBlock) *block = numbers[*block];
    }
    // Lost along with an older block: that one is not of the scope.
    if (verdict.kind == Kind::kIndirect && verdict.leader == kNoBlock) {
      verdict.kind = Kind::kDefinite;
    }
  }
  return check;
}

trace::LeakAnswer AnswerOf(const Check& check) {
  trace::LeakAnswer answer;
  for (size_t i = 0; i < check.verdicts.size(); ++i) {
    const Kind kind = check.verdicts[i].kind;
    uint64_t* const blocks = kind == Kind::kReachable  ? &answer.live_blocks
                             : kind == Kind::kPossible ? &answer.possible_blocks
                                                       : &answer.lost_blocks;
    uint64_t* const bytes = kind == Kind::kReachable  ? &answer.live_bytes
                            : kind == Kind::kPossible ? &answer.possible_bytes
                                                      : &answer.lost_bytes;
    ++*blocks;
    *bytes += check.known.blocks[i].size;
  }
  return answer;
}

// Why there is no check at the end of a program.
std::string WhyUnchecked(trace::ProcessRecorder* recorder, RecordingState state) {
  const std::string rest = ": what it never freed is known, and not what was lost";
  if (state == RecordingState::kKilled || state == RecordingState::kGone) {
    return "it was ended by a signal or by a system call of its own, or executed a program that "
           "the agent is not in" +
           rest;
  }
  if (state == RecordingState::kEnded && !recorder->has_ended()) {
    return "it ended by a system call of its own, or executed a program that the agent is not in" +
           rest;
  }
  if (state != RecordingState::kEnded) {
    return "it still runs: what it has not freed is known, and not what is lost";
  }
  if (recorder->was_given_up()) {
    return "it found nobody who recorded it any more, and ended without a check" + rest;
  }
  if (trace::LoadShared(recorder->gauge().header().leaks.wants_exit_check) == 0) {
    return "it had installed a filter of system calls (seccomp), under which the agent makes none "
           "and cannot ask for a check" +
           rest;
  }
  return "it ended before it could be checked" + rest;
}

// For the owner alone, as the gauge file is.
void WriteReport(const std::string& path, const std::string& text) {
  unlink(path.c_str());
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  close(fd);
}

}  // namespace

trace::LeakAnswer ExactChecks::Look(trace::ProcessRecorder* recorder,
                                    const trace::LeakQuestion& question,
                                    const trace::HeapUsage& usage) {
  PictureOptions options;
  // A copy is searched more quickly than a program that is only stopped; making it takes a moment.
  options.in_place = ResidentBytes(recorder->process()).value_or(0) < kLeastForCopy;
  options.may_wait = true;
  bool caught_up = false;
  options.while_stopped = [&] {
    recorder->CatchUp();
    caught_up = true;
  };
  UncopiedMemory uncopied(recorder->process());
  EpollPointers epoll(recorder->process());
  auto picture = Picture::Take(recorder->process(), options);
  epoll.ReadAgain();
  if (picture && (*picture)->look() == Look::kCopy) {
    uncopied.ReadMissing((*picture)->memory_process());
  }
  if (!caught_up) recorder->CatchUp();
  Check check = Begin(recorder, usage);
  check.at_exit = question.reason == wire::CheckReason::kExit;
  Status status = picture ? Search(recorder, question, options_.heuristics, picture->get(),
                                   &uncopied, epoll, &check)
                          : Status(tl::unexpected<Error>(picture.error()));
  if (picture) {
    (*picture)->Release();
    check.pause_ns = (*picture)->pause_ns();
    const auto& notes = (*picture)->notes();
    check.notes.insert(check.notes.end(), notes.begin(), notes.end());
  }
  trace::LeakAnswer answer;
  if (!status) {
    check.notes.push_back("its memory could not be searched: " + status.error().message);
    answer.error = EPERM;
  } else if (check.at_exit) {
    answer = AnswerOf(check);
  } else {
    const Check scope = OfScope(check, question.since_ns);
    answer = AnswerOf(scope);
    const std::string path = ScopeReportPath(recorder->gauge().path(), question.number);
    if (options_.scope_report) {
      WriteReport(path, options_.scope_report(scope));
      reports_[recorder].push_back(path);
    }
  }
  if (check.at_exit) at_exit_[recorder] = std::move(check);
  return answer;
}

void ExactChecks::Ended(trace::ProcessRecorder* recorder, RecordingState state,
                        const trace::HeapUsage& usage) {
  for (const std::string& path : reports_[recorder]) unlink(path.c_str());
  reports_.erase(recorder);
  const auto found = at_exit_.find(recorder);
  if (found != at_exit_.end()) {
    checks_.push_back(std::move(found->second));
    checks_.back().known.profile.recording.state = state;
    at_exit_.erase(found);
    return;
  }
  if (state == RecordingState::kReplaced) return;  // all it had went with its memory
  Check check = Begin(recorder, usage);
  check.known.profile.recording.state = state;
  check.at_exit = true;
  check.notes.push_back(WhyUnchecked(recorder, state));
  checks_.push_back(std::move(check));
}

std::string ScopeReportPath(const std::string& gauge_path, uint32_t number) {
  return gauge_path + ".leaks" + std::to_string(number);
}

}  // namespace heapgauge::leaks
