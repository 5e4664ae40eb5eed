#include "core/formats/heap_text/heap_rows.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/formats/text/scan.h"
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

}  // namespace heapgauge
