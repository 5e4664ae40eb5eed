#include "core/formats/heap_text/heap_rows.h"

#include <cstdlib>

#include "core/formats/text/scan.h"

namespace heapgauge {
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
