#include "core/report/views/leak_words.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/text.h"
#include "core/leaks/verdict/estimate_text.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

std::string Signed(double change) {
  return (change < 0 ? "-" : "+") + WithCommas(std::abs(change));
}

// "1,234 (+34)"
std::string Figure(double value, const double* change) {
  std::string text = WithCommas(value);
  if (change != nullptr && *change != 0) text += " (" + Signed(*change) + ")";
  return text;
}

}  // namespace

std::string WithCommas(double count) {
  std::string digits = fmt::format("{:.0f}", std::isfinite(count) ? std::max(count, 0.0) : 0);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string LeakWords::Bytes(const Estimate& bytes, const double* change) const {
  if (exact || bytes.value == 0) return Figure(bytes.value, change) + " bytes";
  std::string text = about() + leaks::EstimateText(bytes, layout.utf8);
  if (change != nullptr && *change != 0) text += " (" + FormatChange(*change, "bytes") + ")";
  return text;
}

std::string LeakWords::Blocks(const Estimate& blocks, const double* change) const {
  if (exact || blocks.value == 0) return Figure(blocks.value, change) + " blocks";
  std::string text = about() + FormatCount(std::round(blocks.value));
  if (change != nullptr && std::round(*change) != 0) {
    text += fmt::format(" ({}{})", *change < 0 ? "-" : "+", FormatCount(std::abs(*change)));
  }
  return text + " blocks";
}

std::string LeakWords::Both(const leaks::Amount& amount, const leaks::LossChange* change) const {
  return Bytes(amount.bytes, change != nullptr ? &change->bytes : nullptr) + " in " +
         Blocks(amount.blocks, change != nullptr ? &change->blocks : nullptr);
}

std::string LeakWords::Lost(const leaks::LossRecord& record,
                            const leaks::LossChange* change) const {
  if (record.indirect.known == 0) return Both(record.own, change);
  const std::string blocks =
      Blocks(record.own.blocks, change != nullptr ? &change->blocks : nullptr);
  Estimate total = record.own.bytes;
  total.Add(record.indirect.bytes);
  const double sum = change != nullptr ? change->bytes + change->indirect_bytes : 0;
  if (!exact) return Bytes(total, change != nullptr ? &sum : nullptr) + " in " + blocks;
  return fmt::format(
      "{} ({} direct, {} indirect) bytes in {}",
      Figure(total.value, change != nullptr ? &sum : nullptr),
      Figure(record.own.bytes.value, change != nullptr ? &change->bytes : nullptr),
      Figure(record.indirect.bytes.value, change != nullptr ? &change->indirect_bytes : nullptr),
      blocks);
}

std::string LeakWords::Roughly(const Estimate& bytes) const {
  return exact ? FormatBytes(bytes.value) : "about " + leaks::EstimateText(bytes, layout.utf8);
}

}  // namespace heapgauge
