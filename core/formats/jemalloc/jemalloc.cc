#include "core/formats/jemalloc/jemalloc.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/formats/mappings/mappings.h"
#include "core/formats/text/scan.h"
#include "core/formats/text/text_profile.h"

namespace heapgauge {
namespace {

constexpr const char* kFormat = "jemalloc heap profile";
constexpr int64_t kAllThreads = -1;

// "t*: 1: 2 [3: 4]" or "t7: 1: 2 [3: 4] name"
struct ThreadLine {
  int64_t thread = kAllThreads;
  HeapRowFigures figures;
  std::string_view name;
};

bool ParseThreadLine(std::string_view line, ThreadLine* out, std::string_view* problem) {
  *problem = "not a line of a thread (t7: n: s [n: s])";
  size_t at = 0;
  SkipBlanks(line, &at);
  if (!TakeChar(line, &at, 't')) return false;
  if (TakeChar(line, &at, '*')) {
    out->thread = kAllThreads;
  } else if (TakeDecimal(line, &at, &out->thread) != Taken::kYes || out->thread < 0) {
    return false;
  }
  if (!TakeChar(line, &at, ':') || !ParseHeapFigures(line, &at, &out->figures, problem)) {
    return false;
  }
  out->name = Trim(line.substr(at));
  return true;
}

class Reader {
 public:
  Reader(LineReader* lines, const TextReadOptions& options) : lines_(lines), options_(options) {}

  Result<Profile> Read() {
    HG_TRY(ReadHeader());
    HeapRows rows(header_, &out_);
    HG_TRY(ReadStacks(&rows));
    Profile profile = out_.Take();
    if (one_thread_ != kAllThreads && !seen_) {
      return Fail(ErrorCode::kNotFound, fmt::format("{}: {}: there is no thread {} in it", kFormat,
                                                    lines_->name(), one_thread_));
    }
    profile.recording.allocator = "jemalloc";
    SetLegacyFrames(LegacyKind::kJemalloc, &profile);
    AssignModules(std::move(modules_), &profile);
    return profile;
  }

 private:
  // The rate, the totals, the totals of each thread.
  Status ReadHeader() {
    if (options_.thread != "" && options_.thread != "*") {
      size_t at = 0;
      if (TakeDecimal(options_.thread, &at, &one_thread_) != Taken::kYes ||
          at != options_.thread.size() || one_thread_ < 0) {
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("no thread \"{}\": give its number in the profile, or *",
                                Printable(options_.thread)));
      }
    }
    HG_ASSIGN(bool more, lines_->Next());
    while (more && IsBlankOrComment(lines_->line())) {
      HG_ASSIGN(more, lines_->Next());
    }
    if (!more) return lines_->Fail(ErrorCode::kTruncated, "the profile is empty");
    size_t at = 0;
    int64_t rate = 0;
    if (!TakeText(lines_->line(), &at, "heap_v2/") ||
        TakeDecimal(lines_->line(), &at, &rate) != Taken::kYes || rate < 0) {
      return lines_->FailInLine("not the header of jemalloc's format (heap_v2/RATE)");
    }
    header_.kind = "heap_v2";
    header_.period = rate;
    header_.values = {Sampling::Method::kPoisson, static_cast<double>(rate)};
    header_.estimates = header_.values;
    for (;;) {
      HG_ASSIGN(more, lines_->Next());
      if (!more) break;
      if (IsBlankOrComment(lines_->line())) continue;
      ThreadLine thread;
      std::string_view problem;
      if (!ParseThreadLine(lines_->line(), &thread, &problem)) {
        lines_->PutBack();
        break;
      }
      if (thread.thread == kAllThreads) {
        header_.in_use = thread.figures.in_use;
        header_.allocated = thread.figures.allocated;
      }
      if (!thread.name.empty()) names_[thread.thread] = Printable(thread.name);
      if (thread.thread == one_thread_) seen_ = true;
    }
    header_.has_allocated = TellsAllocated(header_.in_use, header_.allocated);
    return {};
  }

  Status ReadStacks(HeapRows* rows) {
    bool in_stack = false;
    NodeId leaf = kNone;
    for (;;) {
      HG_ASSIGN(const bool more, lines_->Next());
      if (!more) break;
      const std::string_view line = lines_->line();
      if (IsBlankOrComment(line)) continue;
      size_t at = 0;
      SkipBlanks(line, &at);
      if (TakeChar(line, &at, '@')) {
        switch (out_.ParseStack(line.substr(at))) {
          case StackError::kFine:
            break;
          case StackError::kTooDeep:
            return lines_->FailInLine("the stack has more than 65535 frames");
          case StackError::kTooLarge:
            return lines_->FailInLine("an address has more than 64 bits");
        }
        leaf = out_.Leaf();
        in_stack = true;
        continue;
      }
      ThreadLine thread;
      std::string_view problem;
      if (!ParseThreadLine(line, &thread, &problem)) {
        if (!IsMappingSentinel(line)) return lines_->FailInLine(problem);
        HG_ASSIGN(modules_, ReadMappings(lines_));
        break;
      }
      if (!in_stack) return lines_->FailInLine("figures before the first stack (@ 0x...)");
      if (!rows->MakesSense(thread.figures)) return lines_->FailInLine("bytes without a block");
      AddRow(leaf, thread, rows);
    }
    return {};
  }

  void AddRow(NodeId leaf, const ThreadLine& line, HeapRows* rows) {
    const int64_t size = rows->BlockSize(line.figures);
    if (options_.thread == "*") {
      if (line.thread != kAllThreads)
        rows->Add(leaf, ThreadLabels(line.thread, size), line.figures);
    } else if (line.thread == one_thread_) {
      seen_ = true;
      rows->Add(leaf, out_.BytesLabel(size), line.figures);
    }
  }

  LabelSetId ThreadLabels(int64_t thread, int64_t size) {
    const auto [it, is_new] = thread_labels_.try_emplace({thread, size}, kNone);
    if (!is_new) return it->second;
    std::vector<Label> labels;
    const auto name = names_.find(thread);
    if (name != names_.end()) {
      Label label;
      label.key = out_.String("thread_name");
      label.text = out_.String(name->second);
      labels.push_back(label);
    }
    Label label;
    label.key = out_.String("bytes");
    label.number = size;
    labels.push_back(label);
    label.key = out_.String("thread");
    label.number = thread;
    labels.push_back(label);
    it->second = out_.AddLabels(labels);
    return it->second;
  }

  LineReader* lines_;
  const TextReadOptions& options_;
  int64_t one_thread_ = kAllThreads;
  bool seen_ = false;  // the one thread
  HeapTextHeader header_;
  std::unordered_map<int64_t, std::string> names_;
  TextProfile out_;
  std::map<std::pair<int64_t, int64_t>, LabelSetId> thread_labels_;
  std::vector<Module> modules_;
};

}  // namespace

Result<Profile> ReadJemalloc(ByteStream* stream, const std::string& name,
                             const TextReadOptions& options) {
  LineReader lines(stream, kFormat, name);
  return ReadJemalloc(&lines, options);
}

Result<Profile> ReadJemalloc(LineReader* lines, const TextReadOptions& options) {
  lines->set_format(kFormat);
  return Reader(lines, options).Read();
}

namespace {

constexpr size_t kPiece = 64 << 10;
constexpr int64_t kNoThread = -1;

struct Sums {
  CountAndSize in_use;
  CountAndSize allocated;
  std::string name;

  void Add(CountAndSize more_in_use, CountAndSize more_allocated) {
    in_use.Add(more_in_use);
    allocated.Add(more_allocated);
  }
};

void AppendLine(const std::string& thread, CountAndSize in_use, CountAndSize allocated,
                const std::string& name, std::string* text) {
  fmt::format_to(std::back_inserter(*text), "  t{}: {}: {} [{}: {}]{}{}\n", thread, in_use.count,
                 in_use.size, allocated.count, allocated.size, name.empty() ? "" : " ", name);
}

int64_t ThreadOf(const Profile& profile, RowId row, std::string* name) {
  int64_t thread = kNoThread;
  for (const Label& label : profile.LabelsOf(row)) {
    const std::string& key = profile.strings[label.key];
    if (key == "thread" && label.is_number() && label.number >= 0) thread = label.number;
    if (key == "thread_name" && !label.is_number()) *name = Printable(profile.strings[label.text]);
  }
  return thread;
}

}  // namespace

Status WriteJemalloc(const Profile& profile, const TextWriteOptions& options, TextSink* sink) {
  HG_ASSIGN(ProfileText source, ProfileText::Make(profile, options));
  HG_TRY(source.WriteSymbols("heap", sink));
  std::vector<RowId> order(profile.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](RowId a, RowId b) { return profile.rows[a].leaf < profile.rows[b].leaf; });
  Sums all;
  std::map<int64_t, Sums> threads;
  for (const RowId row : order) {
    if (!source.selected(row)) continue;
    const TextRow figures = source.Row(row);
    std::string name;
    const int64_t thread = ThreadOf(profile, row, &name);
    for (size_t i = 0; i < figures.in_use.lines.size(); ++i) {
      all.Add(figures.in_use.lines[i], figures.allocated.lines[i]);
      if (thread == kNoThread) continue;
      threads[thread].Add(figures.in_use.lines[i], figures.allocated.lines[i]);
      threads[thread].name = name;
    }
  }
  std::string text = fmt::format("heap_v2/{}\n", source.rate());
  AppendLine("*", all.in_use, all.allocated, "", &text);
  for (const auto& [thread, sums] : threads) {
    AppendLine(std::to_string(thread), sums.in_use, sums.allocated, sums.name, &text);
  }
  bool first = true;
  NodeId last = kNone;
  for (const RowId row : order) {
    if (!source.selected(row)) continue;
    const TextRow figures = source.Row(row);
    std::string name;
    const int64_t thread = ThreadOf(profile, row, &name);
    for (size_t i = 0; i < figures.in_use.lines.size(); ++i) {
      const CountAndSize in_use = figures.in_use.lines[i];
      const CountAndSize allocated = figures.allocated.lines[i];
      if (in_use.count == 0 && allocated.count == 0) continue;
      if (first || last != profile.rows[row].leaf) {
        text += '@';
        source.AppendStack(row, &text);
        text += '\n';
        last = profile.rows[row].leaf;
        first = false;
      }
      // Readers scale line by line, so lines of one stack are not added up here.
      AppendLine("*", in_use, allocated, "", &text);
      if (thread != kNoThread) {
        AppendLine(std::to_string(thread), in_use, allocated, "", &text);
      }
    }
    if (text.size() < kPiece) continue;
    HG_TRY(sink->Write(text));
    text.clear();
  }
  text += source.Mappings();
  return sink->Write(text);
}

}  // namespace heapgauge
