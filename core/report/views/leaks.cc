#include "core/report/views/leaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/base/text.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/report/views/leak_parts.h"

namespace heapgauge {
namespace {

using leaks::Amount;
using leaks::Check;
using leaks::Heuristic;
using leaks::LossRecord;
using leaks::LossRecords;

// In memcheck's order.
constexpr leaks::Kind kOrder[] = {leaks::Kind::kDefinite, leaks::Kind::kIndirect,
                                  leaks::Kind::kPossible, leaks::Kind::kReachable};

const leaks::LossChange* ChangeOf(const LeaksSubject& subject, size_t record) {
  return subject.changes != nullptr ? &subject.changes->records[record] : nullptr;
}

std::string Milliseconds(uint64_t ns) {
  const double ms = static_cast<double>(ns) / 1e6;
  if (ms >= 10'000) return FormatDuration(ns);
  return fmt::format("{:.{}f} ms", ms, ms < 9.95 ? 1 : 0);
}

bool IsShown(const LossRecord& record, const LeaksOptions& options) {
  return !record.suppressed() && leaks::Has(options.show_kinds, record.kind);
}

// "" if none is asked for, or the stack has nothing to go by.
std::string SuppressionOf(const Check& check, const LossRecord& record,
                          GeneratedSuppressions generate) {
  const Profile& profile = check.known.profile;
  const NodeId leaf = check.known.stacks[record.stack].leaf;
  if (check.look == leaks::Look::kNone) return "";  // it has no kind
  switch (generate) {
    case GeneratedSuppressions::kNo:
      break;
    case GeneratedSuppressions::kValgrind:
      return leaks::GenerateSuppression(profile, leaf, record.kind);
    case GeneratedSuppressions::kLsan:
      return leaks::GenerateLsanSuppression(profile, leaf);
  }
  return "";
}

// Makes the lines of one report.
class Writer {
 public:
  Writer(const LeaksSubject& subject, const LeaksOptions& options)
      : subject_(subject),
        check_(*subject.check),
        losses_(*subject.losses),
        options_(options),
        words_{!check_.known.sampled(), options.layout},
        allocation_(check_.known.profile) {}

  StyledText Text() {
    if (!options_.valgrind_style) {
      Verdict();
      Facts();
      text_.Add(LeakSuspectsText(subject_, options_));
    }
    HeapSummary();
    Records();
    LeakSummary();
    UsedSuppressions();
    if (options_.valgrind_style) {
      ErrorSummary();
      return Prefixed();
    }
    Notes();
    return std::move(text_);
  }

 private:
  void Verdict() {
    const bool lost = losses_.of(leaks::Kind::kDefinite).known != 0;
    text_.Add(LeakVerdict(subject_, options_.filter), lost ? Style::kWarning : Style::kTitle)
        .Add("\n\n");
  }

  void Fact(const char* label, const std::string& fact) {
    text_.AddRight(label, 11, Style::kLabel).Add(fact).Add("\n");
  }

  const char* WhyNotLooked() const {
    switch (check_.known.profile.recording.state) {
      case RecordingState::kEnded:
        return "the program has ended";
      case RecordingState::kKilled:
        return "the program was killed";
      case RecordingState::kGone:
        return "the program ended without telling";
      case RecordingState::kReplaced:
        return "the process executed another program";
      case RecordingState::kSnapshot:
        return "this is a copy, made while the program ran";
      case RecordingState::kLive:
      case RecordingState::kUnknown:
        break;
    }
    return "who points to a block is not known";
  }

  void Facts() {
    Fact("process", fmt::format("{}{}", check_.pid != 0 ? fmt::format("pid {}  ", check_.pid) : "",
                                CutTo(Printable(check_.command_line.empty() ? check_.executable
                                                                            : check_.command_line),
                                      std::max<size_t>(options_.layout.width, 40) - 25)));
    if (!NothingIsKnown()) Fact("blocks", BlocksText());
    if (check_.look == leaks::Look::kNone) {
      Fact("memory", fmt::format("not looked at: {}", WhyNotLooked()));
    } else {
      Fact("memory", fmt::format("{}; {} searched in {} of CPU time", PauseText(),
                                 FormatBytes(static_cast<double>(check_.scanned_bytes)),
                                 Milliseconds(check_.scan_ns)));
    }
    if (subject_.changes != nullptr) Fact("since", SinceText(*subject_.changes));
    text_ += "\n";
  }

  std::string BlocksText() const {
    if (check_.known.exact) {
      if (losses_.in_use.known == 1) return "the one live block is known";
      return fmt::format("all {} live blocks are known", WithCommas(losses_.in_use.blocks.value));
    }
    const bool one = losses_.in_use.known == 1;
    const std::string count = WithCommas(static_cast<double>(losses_.in_use.known));
    switch (check_.known.gap) {
      case leaks::Gap::kEvents:
        return count + (one ? " block counts" : " blocks count") +
               " as live; some may be freed, others be missing";
      case leaks::Gap::kYoung:
        return count + (one ? " live block is" : " live blocks are") + " known; young ones are not";
      case leaks::Gap::kEnd:
        return count + (one ? " block was" : " blocks were") + " live where the trace breaks off";
      case leaks::Gap::kNone:
        break;
    }
    return fmt::format("{} sampled {} for {}", count, one ? "block stands" : "blocks stand",
                       words_.Bytes(losses_.in_use.bytes));
  }

  static std::string SinceText(const leaks::Changes& changes) {
    std::string text = "a check";
    if (changes.since_ns != 0) text += " " + FormatDuration(changes.since_ns) + " ago";
    if (changes.other_process) text += " of another process";
    if (changes.other_build) text += ", of another build: stacks are compared by names";
    return text;
  }

  std::string PauseText() const {
    switch (check_.look) {
      case leaks::Look::kInPlace:
        if (check_.at_exit) return "looked at when the program ended";
        [[fallthrough]];
      case leaks::Look::kSaved:
      case leaks::Look::kOwnCopy:
      case leaks::Look::kCopy:
        return fmt::format("program paused for {}", Milliseconds(check_.pause_ns));
      case leaks::Look::kNone:
        break;
    }
    return "";
  }

  // Of a program that has ended: not even what it never freed.
  bool NothingIsKnown() const {
    return check_.look == leaks::Look::kNone && check_.at_exit && losses_.in_use.known == 0 &&
           check_.allocations == 0;
  }

  void HeapSummary() {
    if (NothingIsKnown()) return;
    text_.Add("HEAP SUMMARY:\n", Style::kHeading);
    const char* label = check_.at_exit ? "    in use at exit: " : "        in use now: ";
    text_ += label + InUse() + "\n";
    if (check_.allocations != 0) {
      const char* about = check_.known.gap == leaks::Gap::kEvents ? "at least "
                          : !check_.known.sampled()               ? ""
                          : options_.layout.utf8                  ? "\u2248 "
                                                                  : "~ ";
      text_ += fmt::format("  total heap usage: {}{} allocs, {} frees, {} bytes allocated\n", about,
                           WithCommas(static_cast<double>(check_.allocations)),
                           WithCommas(static_cast<double>(check_.frees)),
                           WithCommas(static_cast<double>(check_.allocated_bytes)));
    }
    text_ += "\n";
  }

  std::string InUse() const {
    const double unseen = losses_.in_use.known == 0 ? UnseenLeakBytes(check_) : 0;
    if (!(unseen > 0)) return words_.Both(losses_.in_use);
    return FormatByteRange(0, unseen) + " in blocks of which none was sampled";
  }

  bool looked() const { return check_.look != leaks::Look::kNone; }

  void Records() {
    std::vector<size_t> shown;  // the largest first
    size_t filtered = 0;
    for (size_t i = losses_.records.size(); i-- > 0;) {
      if (!IsShown(losses_.records[i], options_)) continue;
      if (PassesFilter(subject_, options_.filter, i)) {
        shown.push_back(i);
      } else {
        ++filtered;
      }
    }
    const size_t limit = options_.limit == 0 ? shown.size() : options_.limit;
    Amount rest;
    const size_t more = shown.size() > limit ? shown.size() - limit : 0;
    for (size_t i = limit; i < shown.size(); ++i) rest.Add(losses_.records[shown[i]].own);
    shown.resize(std::min(limit, shown.size()));
    if (options_.valgrind_style) std::reverse(shown.begin(), shown.end());
    for (const size_t i : shown) Record(i);
    if (more != 0 && !options_.valgrind_style) {
      text_.Add(
          fmt::format("{} more {}, {} (-n 0 shows all)\n\n", WithCommas(static_cast<double>(more)),
                      more == 1 ? "record" : "records", words_.Both(rest)),
          Style::kDim);
    }
    if (filtered != 0 && !options_.valgrind_style) {
      text_.Add(fmt::format("{} {} as before\n\n", WithCommas(static_cast<double>(filtered)),
                            filtered == 1 ? "record is" : "records are"),
                Style::kDim);
    }
  }

  void Record(size_t index) {
    const LossRecord& record = losses_.records[index];
    const leaks::LossChange* change = ChangeOf(subject_, index);
    text_.Add(words_.Lost(record, change), Style::kNumber);
    const std::string are =
        looked() ? std::string("are ") + leaks::KindPhrase(record.kind) : "were never freed";
    text_.Add(fmt::format(" {} in loss record {} of {}", are, WithCommas(record.number),
                          WithCommas(static_cast<double>(losses_.records.size()))));
    if (change != nullptr && change->is_new && !options_.valgrind_style) {
      text_.Add(" new", Style::kGrowth);
    }
    text_ += "\n";
    if (!options_.valgrind_style) About(record);
    AddLeakStack(check_.known.profile, check_.known.stacks[record.stack].leaf, "   ", options_,
                 &allocation_, &text_);
    text_ += SuppressionOf(check_, record, options_.generate) + "\n";
  }

  // How sure it is, how old it is, why it counts as reachable.
  void About(const LossRecord& record) {
    std::string about;
    if (check_.known.sampled()) {
      about = fmt::format("{} of {} sampled blocks of this stack",
                          WithCommas(static_cast<double>(record.own.known)),
                          WithCommas(static_cast<double>(record.stack_total.known)));
    }
    if (check_.known.sampled() && record.indirect.known != 0) {
      about += fmt::format("; {} of it by blocks that are lost with them",
                           FormatBytes(record.indirect.bytes.value));
    }
    const uint64_t oldest = leaks::OldestAge(check_, record);
    if (oldest >= 1'000'000'000) {
      const uint64_t newest = leaks::NewestAge(check_, record);
      if (!about.empty()) about += "; ";
      about += "oldest " + FormatDuration(oldest);
      if (record.own.known > 1) about += ", newest " + FormatDuration(newest);
    }
    if (record.heuristic != Heuristic::kNone) {
      if (!about.empty()) about += "; ";
      about += std::string("by ") + leaks::HeuristicName(record.heuristic);
    }
    if (!about.empty()) text_.Add("   " + about + "\n", Style::kDim);
  }

  void LeakSummary() {
    if (!looked()) return NeverFreed();
    if (losses_.in_use.known == 0) {
      // Where blocks are not known it only means that none of these is.
      text_ += !check_.known.exact ? "No live block is known\n"
               : check_.at_exit    ? "All heap blocks were freed -- no leaks are possible\n"
                                   : "There are no live blocks -- no leaks are possible\n";
      return;
    }
    text_.Add("LEAK SUMMARY:\n", Style::kHeading);
    for (const leaks::Kind kind : kOrder) {
      const auto* change = subject_.changes != nullptr
                               ? &subject_.changes->kinds[static_cast<size_t>(kind)]
                               : nullptr;
      const bool bad = kind == leaks::Kind::kDefinite && losses_.of(kind).known != 0;
      text_.Add(fmt::format("{:>18}: ", leaks::KindPhrase(kind)));
      text_.Add(words_.Both(losses_.of(kind), change), bad ? Style::kWarning : Style::kPlain);
      text_ += "\n";
    }
    bool first = true;
    for (uint32_t h = leaks::kHeuristics; h-- > 1;) {
      const Amount& amount = losses_.heuristics[h];
      if (amount.known == 0) continue;
      if (first) text_ += "                      of which reachable via heuristic:\n";
      first = false;
      text_ += fmt::format("                        {:<19}: {}\n",
                           leaks::HeuristicName(static_cast<Heuristic>(h)), words_.Both(amount));
    }
    text_ += fmt::format(
        "{:>18}: {}\n", "suppressed",
        words_.Both(losses_.suppressed,
                    subject_.changes != nullptr ? &subject_.changes->suppressed : nullptr));
    if (subject_.changes != nullptr && subject_.changes->gone != 0) {
      text_ += fmt::format("{:>18}: {} {} of before, {}\n", "gone",
                           WithCommas(static_cast<double>(subject_.changes->gone)),
                           subject_.changes->gone == 1 ? "record" : "records",
                           FormatBytes(subject_.changes->gone_bytes));
    }
    NotShown();
  }

  // What there is to sum up without a look at memory. It must not read as a clean bill.
  void NeverFreed() {
    const Amount& amount = losses_.of(leaks::Kind::kReachable);
    if (losses_.in_use.known != 0) {
      text_.Add("LEAK SUMMARY:\n", Style::kHeading);
      const leaks::Changes* const changes = subject_.changes;
      text_ += fmt::format(
          "{:>18}: {}\n{:>18}: {}\n", "never freed",
          words_.Both(amount, changes != nullptr ? &changes->unknown : nullptr), "suppressed",
          words_.Both(losses_.suppressed, changes != nullptr ? &changes->suppressed : nullptr));
    }
    if (options_.valgrind_style) {
      text_ += "Memory was not looked at: whether a block is lost is not known\n";
      for (const std::string& note : check_.notes) text_ += "note: " + Printable(note) + "\n";
    } else if (amount.known != 0 && !leaks::Has(options_.show_kinds, leaks::Kind::kReachable)) {
      text_.Add("Not shown: never freed (--show-leak-kinds all)\n", Style::kDim);
    }
  }

  void NotShown() {
    if (!check_.known.exact && losses_.of(leaks::Kind::kPossible).known != 0 &&
        !options_.valgrind_style) {
      text_.Add(fmt::format("Possibly lost: pointed to only by memory {}, or only in its middle; "
                            "mostly it is in use.\n",
                            check_.known.sampled() ? "that was not sampled"
                                                   : "of blocks that are not known"),
                Style::kDim);
    }
    std::string kinds;
    for (const leaks::Kind kind : kOrder) {
      if (leaks::Has(options_.show_kinds, kind) || losses_.of(kind).known == 0) continue;
      if (!kinds.empty()) kinds += ", ";
      kinds += leaks::KindPhrase(kind);
    }
    if (kinds.empty() || options_.valgrind_style) return;
    text_.Add("Not shown: " + kinds + " (--show-leak-kinds all)\n", Style::kDim);
  }

  void UsedSuppressions() {
    if (subject_.suppressions == nullptr) return;
    const auto& rules = subject_.suppressions->rules();
    std::vector<Amount> used(rules.size());
    std::vector<size_t> records(rules.size());
    for (const LossRecord& record : losses_.records) {
      if (!record.suppressed()) continue;
      used[record.suppression].Add(record.own);
      ++records[record.suppression];
    }
    bool first = true;
    for (size_t i = 0; i < rules.size(); ++i) {
      if (used[i].known == 0) continue;
      if (first) text_ += "\n";
      first = false;
      text_ += fmt::format("used_suppression: {:>6} {} {}:{} suppressed: {}\n", records[i],
                           Printable(rules[i].name), Printable(rules[i].file), rules[i].line,
                           words_.Both(used[i]));
    }
  }

  void ErrorSummary() {
    const LeakErrors errors = CountLeakErrors(subject_, options_);
    size_t suppressed = 0;
    for (const LossRecord& record : losses_.records) {
      suppressed += record.suppressed() && leaks::Has(options_.error_kinds, record.kind) ? 1 : 0;
    }
    text_ += fmt::format("\nERROR SUMMARY: {} errors from {} contexts (suppressed: {} from {})\n",
                         errors.records, errors.records, suppressed, suppressed);
  }

  void Notes() {
    bool first = true;
    for (const std::string& note : check_.notes) {
      if (first) text_ += "\n";
      first = false;
      text_.Add("note: " + Printable(note) + "\n", Style::kDim);
    }
  }

  // As memcheck's output has it. Suppressions are meant to be copied and have no prefix.
  StyledText Prefixed() const {
    const std::string prefix = fmt::format("=={}== ", check_.pid);
    StyledText result;
    bool plain = false;
    for (const StyledText& line : text_.Lines()) {
      if (line.text() == "{") plain = true;
      if (!plain) result += prefix;
      if (line.text() == "}") plain = false;
      result.Add(line).Add("\n");
    }
    return result;
  }

  const LeaksSubject& subject_;
  const Check& check_;
  const LossRecords& losses_;
  const LeaksOptions& options_;
  LeakWords words_;
  leaks::AllocationFrames allocation_;
  StyledText text_;
};

}  // namespace

StyledText LeaksText(const LeaksSubject& subject, const LeaksOptions& options) {
  return Writer(subject, options).Text();
}

std::string LeakSuppressionsText(const LeaksSubject& subject, const LeaksOptions& options) {
  std::string text;
  std::unordered_set<std::string> seen;
  const std::vector<LossRecord>& records = subject.losses->records;
  for (size_t i = records.size(); i-- > 0;) {
    if (!IsShown(records[i], options) || !PassesFilter(subject, options.filter, i)) continue;
    const std::string entry = SuppressionOf(*subject.check, records[i], options.generate);
    if (seen.insert(entry).second) text += entry;
  }
  return text;
}

}  // namespace heapgauge
