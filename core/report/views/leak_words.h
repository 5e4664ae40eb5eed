// Amounts of leaked memory in words: exact ones to the byte, as memcheck prints them, sampled ones
// with how sure they are. For the reports on leaks. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "core/leaks/verdict/earlier_check.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/report/styled_text.h"

namespace heapgauge {

// "1,234,567"
std::string WithCommas(double count);

// How amounts are told in one report.
struct LeakWords {
  bool exact = true;
  Layout layout;

  // "1,234 bytes", "≈ 310 MB ± 40"; a change of an exact one as in "1,234 (+34) bytes".
  std::string Bytes(const Estimate& bytes, const double* change = nullptr) const;
  // "12 blocks", "≈ 79,000 blocks"
  std::string Blocks(const Estimate& blocks, const double* change = nullptr) const;
  // "1,234 bytes in 12 blocks"
  std::string Both(const leaks::Amount& amount, const leaks::LossChange* change = nullptr) const;
  // What is lost by a record: "1,234 (1,000 direct, 234 indirect) bytes in 12 blocks".
  std::string Lost(const leaks::LossRecord& record, const leaks::LossChange* change) const;
  // For sentences: "1.2 kB", "about 310 MB ± 40".
  std::string Roughly(const Estimate& bytes) const;

 private:
  const char* about() const { return layout.utf8 ? "\u2248 " : "~ "; }
};

}  // namespace heapgauge
