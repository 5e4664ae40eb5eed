#include "core/formats/heap_text/heap_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "core/base/batch_queue.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/formats/mappings/mappings.h"
#include "core/formats/text/scan.h"
#include "core/formats/text/text_profile.h"
#include "core/model/profile.h"

namespace heapgauge {
namespace {

// Of samplers that do not tell: what tcmalloc had when it did not.
constexpr double kOldRate = 128 * 1024;

using Method = Sampling::Method;

bool Number(std::string_view text, int64_t* value) {
  size_t at = 0;
  return TakeDecimal(text, &at, value) == Taken::kYes && at == text.size();
}

}  // namespace

bool TellsAllocated(CountAndSize in_use, CountAndSize allocated) {
  return (allocated.count != in_use.count && allocated.count != 0) ||
         (allocated.size != in_use.size && allocated.size != 0);
}

std::vector<SampleType> LegacyHeapTypes(bool has_allocated) {
  if (has_allocated) return HeapSampleTypes();
  return {{"objects", "count"}, {"space", "bytes"}};
}

Result<HeapTextHeader> ParseHeapTextHeader(std::string_view line, TextDialect dialect) {
  static const Regex form(R"(heap profile:\s*(\d+):\s*(\d+)\s*\[\s*(\d+):\s*(\d+)\s*\])"
                          R"((?:\s*@\s*([a-zA-Z_0-9]*)/?(\d*))?)");
  std::string_view n1, s1, n2, s2, kind, rate_text;
  if (!form.Matches(line, &n1, &s1, &n2, &s2, &kind, &rate_text)) {
    return Fail(ErrorCode::kNotRecognized,
                "not the header of a heap profile (heap profile: n: s [n: s] @ kind)");
  }
  HeapTextHeader header;
  int64_t rate = 0;
  if (!Number(n1, &header.in_use.count) || !Number(s1, &header.in_use.size) ||
      !Number(n2, &header.allocated.count) || !Number(s2, &header.allocated.size) ||
      (!rate_text.empty() && !Number(rate_text, &rate))) {
    return Fail(ErrorCode::kCorrupt, "a number is too large");
  }
  header.kind = kind;
  header.has_allocated = TellsAllocated(header.in_use, header.allocated);
  const bool perl = dialect != TextDialect::kPprof;
  if (kind == "heap_v2" || kind == "heapz_v2") {
    header.period = rate;
    header.values = {Method::kPoisson, static_cast<double>(rate)};
    header.estimates = header.values;
    if (perl && rate == 0) header.estimates = {Method::kPoisson, kOldRate};
  } else if (kind == "heap" || kind == "heapz") {
    // Twice the mean distance, from a time when the distance was evenly distributed.
    header.period = rate / 2;
    header.values = {Method::kPoisson, static_cast<double>(rate / 2)};
    header.estimates = header.values;
    if (perl) {
      header.estimates = {Method::kLinear, rate == 0 ? kOldRate : static_cast<double>(rate) / 2};
    }
  } else if (kind == "heapprofile" || kind == "growth" || kind == "growthz" ||
             kind == "fragmentation" || kind == "fragmentationz") {
    header.period = 1;
  } else if (kind.empty()) {
    // Older than all kinds: sampled, unless its figures show that it counts frees.
    if (header.in_use.count == header.allocated.count &&
        header.in_use.size == header.allocated.size) {
      header.period = static_cast<int64_t>(kOldRate);
      header.values = header.estimates = {Method::kLinear, kOldRate};
    } else {
      header.period = 1;
    }
  } else {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("unknown kind of heap profile \"{}\" (known are heapprofile, heap_v2, "
                            "heapz_v2, heap, growth and fragmentation)",
                            Printable(kind)));
  }
  return header;
}

namespace {

constexpr std::string_view kTooLarge = "a number is too large";

bool ParsePair(std::string_view line, size_t* at, CountAndSize* pair, std::string_view* problem) {
  const Taken count = TakeDecimal(line, at, &pair->count);
  if (count == Taken::kTooLarge) *problem = kTooLarge;
  if (count != Taken::kYes || !TakeChar(line, at, ':')) return false;
  SkipBlanks(line, at);
  const Taken size = TakeDecimal(line, at, &pair->size);
  if (size == Taken::kTooLarge) *problem = kTooLarge;
  if (size != Taken::kYes) return false;
  SkipBlanks(line, at);
  return true;
}

uint64_t Magnitude(int64_t n) {
  return n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
}

}  // namespace

bool ParseHeapFigures(std::string_view line, size_t* at, HeapRowFigures* figures,
                      std::string_view* problem) {
  *problem = "not a row of a heap profile (n: s [n: s])";
  SkipBlanks(line, at);
  if (!ParsePair(line, at, &figures->in_use, problem) || !TakeChar(line, at, '[')) return false;
  SkipBlanks(line, at);
  if (!ParsePair(line, at, &figures->allocated, problem) || !TakeChar(line, at, ']')) return false;
  return true;
}

HeapRows::HeapRows(const HeapTextHeader& header, TextProfile* out)
    : header_(header), out_(out), estimates_(header.values.scales() || header.estimates.scales()) {
  Profile& profile = out->profile();
  profile.sample_types = LegacyHeapTypes(header.has_allocated);
  profile.period_type = {"space", "bytes"};
  profile.period = header.period;
  if (header.values.scales()) profile.recording.interval = static_cast<uint64_t>(header.period);
}

bool HeapRows::MakesSense(const HeapRowFigures& figures) const {
  const auto sensible = [](CountAndSize pair) { return pair.count != 0 || pair.size == 0; };
  return sensible(figures.in_use) && (!header_.has_allocated || sensible(figures.allocated));
}

int64_t HeapRows::BlockSize(const HeapRowFigures& figures) const {
  if (figures.in_use.count != 0 || !header_.has_allocated) return MeanSize(figures.in_use);
  return MeanSize(figures.allocated);
}

void HeapRows::Add(NodeId leaf, LabelSetId labels, const HeapRowFigures& figures) {
  const RowId id = out_->AddRow(leaf, labels);
  if (header_.has_allocated) AddPair(figures.allocated);
  AddPair(figures.in_use);
  if (!estimates_) return;
  Profile& profile = out_->profile();
  Row& row = profile.rows[id];
  row.live_samples = Magnitude(figures.in_use.count);
  row.samples = header_.has_allocated ? Magnitude(figures.allocated.count) : row.live_samples;
  profile.recording.live_samples += row.live_samples;
  profile.recording.samples += row.samples;
}

void HeapRows::AddPair(CountAndSize pair) {
  Profile& profile = out_->profile();
  CountAndSize value = pair;
  if (header_.values.method == Sampling::Method::kPoisson && pair.count != 0) {
    value = PprofUnsample(pair, header_.period);
  } else if (header_.values.scales()) {
    const EstimatedPair scaled = Unsample(pair, header_.values);
    value = {CutToWhole(scaled.count.value), CutToWhole(scaled.size.value)};
  }
  profile.values.push_back(value.count);
  profile.values.push_back(value.size);
  if (!estimates_) return;
  const EstimatedPair estimate = Unsample(pair, header_.estimates);
  profile.estimates.push_back(estimate.count);
  profile.estimates.push_back(estimate.size);
}

// Rows of a text heap profile on their way from the parser into the profile.
//
// Finding the leaf of a stack waits for memory at each frame, so many stacks are looked up side by
// side; and in a large profile this takes as long as parsing does, so another thread does it.
//
// Add(), Finish() and destruction belong to one thread. That thread may parse further stacks
// meanwhile (see TextProfile), and must touch rows, labels and nodes only after Finish().
class HeapRowQueue {
 public:
  // Both must outlive the queue.
  HeapRowQueue(HeapRows* rows, TextProfile* out) : rows_(rows), out_(out), queue_(Putter{this}) {}
  HeapRowQueue(const HeapRowQueue&) = delete;
  HeapRowQueue& operator=(const HeapRowQueue&) = delete;

  // A row with the label `bytes`. REQUIRES: its figures make sense.
  void Add(const std::vector<LocationId>& stack, const HeapRowFigures& figures) {
    Batch& batch = queue_.at_hand();
    batch.locations.insert(batch.locations.end(), stack.begin(), stack.end());
    batch.ends.push_back(batch.locations.size());
    batch.figures.push_back(figures);
    if (batch.figures.size() == kBatch) queue_.HandOver();
  }

  // After this all rows are in the profile, in the order they came in. Rows that nobody waited for
  // may be missing.
  void Finish() { queue_.Finish(); }

 private:
  static constexpr size_t kBatch = 256;  // rows

  struct Batch {
    std::vector<LocationId> locations;  // of all stacks, end to end
    std::vector<size_t> ends;
    std::vector<HeapRowFigures> figures;
    void Clear() {
      locations.clear();
      ends.clear();
      figures.clear();
    }
  };
  struct Putter {
    HeapRowQueue* queue;
    void operator()(Batch* batch) const { queue->Put(*batch); }
  };

  void Put(const Batch& batch);

  HeapRows* rows_;
  TextProfile* out_;
  std::vector<NodeId> leaves_;  // of the batch that is being put
  BatchQueue<Batch, Putter> queue_;
};

namespace {

constexpr const char* kFormat = "gperftools heap profile";

// Where the row begins in a line that something, such as a logger, put a prefix to; npos if
// nowhere.
size_t FindRow(std::string_view line) {
  static const Regex row(R"((-?\d+: *-?\d+ *\[ *-?\d+: *-?\d+ *\] *@))");
  std::string_view found;
  if (!row.Matches(line, &found)) return std::string_view::npos;
  return static_cast<size_t>(found.data() - line.data());
}

}  // namespace

Result<Profile> ReadHeapText(ByteStream* stream, const std::string& name,
                             const TextReadOptions& options) {
  LineReader lines(stream, kFormat, name);
  return ReadHeapText(&lines, options);
}

Result<Profile> ReadHeapText(LineReader* lines, const TextReadOptions& options) {
  lines->set_format(kFormat);
  bool more = false;
  do {
    HG_ASSIGN(more, lines->Next());
    // Commands for the perl tools ("%warn ...") may stand before the header.
  } while (more && (IsBlankOrComment(lines->line()) || lines->line()[0] == '%'));
  if (!more) return lines->Fail(ErrorCode::kTruncated, "the profile is empty");
  const auto header = ParseHeapTextHeader(lines->line(), options.dialect);
  if (!header) return lines->Fail(header.error().code, header.error().message);
  TextProfile out;
  HeapRows rows(*header, &out);
  HeapRowQueue queue(&rows, &out);
  std::vector<Module> modules;
  for (;;) {
    HG_ASSIGN(more, lines->Next());
    if (!more) break;
    std::string_view line = lines->line();
    if (IsBlankOrComment(line)) continue;
    size_t at = 0;
    HeapRowFigures figures;
    std::string_view problem;
    bool good = ParseHeapFigures(line, &at, &figures, &problem);
    if (!good) {
      if (IsMappingSentinel(line)) {
        HG_ASSIGN(modules, ReadMappings(lines));
        break;
      }
      at = FindRow(line);
      good = at != std::string_view::npos && at != 0 &&
             ParseHeapFigures(line, &at, &figures, &problem);
    }
    if (!good) return lines->FailInLine(problem);
    if (!rows.MakesSense(figures)) return lines->FailInLine("bytes without a block");
    SkipBlanks(line, &at);
    if (!TakeChar(line, &at, '@')) return lines->FailInLine("a row without a stack (@ 0x...)");
    switch (out.ParseStack(line.substr(at))) {
      case StackError::kFine:
        break;
      case StackError::kTooDeep:
        return lines->FailInLine("the stack has more than 65535 frames");
      case StackError::kTooLarge:
        return lines->FailInLine("an address has more than 64 bits");
    }
    queue.Add(out.stack(), figures);
  }
  queue.Finish();
  Profile profile = out.Take();
  SetLegacyFrames(LegacyKind::kHeap, &profile);
  AssignModules(std::move(modules), &profile);
  return profile;
}

void HeapRowQueue::Put(const Batch& batch) {
  out_->Leaves(batch.locations, batch.ends, &leaves_);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const HeapRowFigures& figures = batch.figures[i];
    rows_->Add(leaves_[i], out_->BytesLabel(rows_->BlockSize(figures)), figures);
  }
}

namespace {

constexpr size_t kPiece = 64 << 10;

void AppendFigures(CountAndSize in_use, CountAndSize allocated, std::string* text) {
  fmt::format_to(std::back_inserter(*text), "{:6}: {:8} [{:6}: {:8}] @", in_use.count, in_use.size,
                 allocated.count, allocated.size);
}

// Rows of a difference may be negative, but readers know no header that is.
CountAndSize NotNegative(CountAndSize figures) {
  return {std::max<int64_t>(figures.count, 0), std::max<int64_t>(figures.size, 0)};
}

}  // namespace

Status WriteHeapText(const Profile& profile, const TextWriteOptions& options, TextSink* sink) {
  HG_ASSIGN(ProfileText source, ProfileText::Make(profile, options));
  // google-pprof takes no marker before the header.
  HG_TRY(source.WriteSymbols("", sink));
  const TextRow totals = source.Totals();
  std::string text = "heap profile: ";
  AppendFigures(NotNegative(totals.in_use.lines[0]), NotNegative(totals.allocated.lines[0]), &text);
  text += source.rate() > 1 ? fmt::format(" heap_v2/{}\n", source.rate()) : " heapprofile\n";
  std::string stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!source.selected(row)) continue;
    const TextRow figures = source.Row(row);
    stack.clear();
    for (size_t i = 0; i < figures.in_use.lines.size(); ++i) {
      const CountAndSize in_use = figures.in_use.lines[i];
      const CountAndSize allocated = figures.allocated.lines[i];
      if (in_use.count == 0 && allocated.count == 0) continue;
      if (stack.empty()) source.AppendStack(row, &stack);
      AppendFigures(in_use, allocated, &text);
      text += stack;
      text += '\n';
    }
    if (text.size() < kPiece) continue;
    HG_TRY(sink->Write(text));
    text.clear();
  }
  text += source.Mappings();
  return sink->Write(text);
}

}  // namespace heapgauge
