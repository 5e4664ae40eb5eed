#include "core/voices/pprof/go_time.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

namespace heapgauge::pprof {
namespace {

// "." and `digits` digits of `fraction` without zeros at the end; "" if nothing is left.
std::string Fraction(uint64_t fraction, int digits) {
  std::string text = fmt::format(".{:0{}}", fraction, digits);
  while (text.ends_with('0')) text.pop_back();
  return text == "." ? "" : text;
}

}  // namespace

std::string GoTimeText(int64_t time_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t seconds = time_ns / kSecond;
  int64_t rest = time_ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const std::time_t when = seconds;
  std::tm local{};
  if (localtime_r(&when, &local) == nullptr) return "";
  const long zone = local.tm_gmtoff / 60;
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}{} {}{:02}{:02} {}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     Fraction(static_cast<uint64_t>(rest), 9), zone < 0 ? '-' : '+',
                     std::abs(zone) / 60, std::abs(zone) % 60, local.tm_zone);
}

std::string GoDurationText(int64_t duration_ns) {
  if (duration_ns == 0) return "0s";
  const bool negative = duration_ns < 0;
  const uint64_t ns =
      negative ? -static_cast<uint64_t>(duration_ns) : static_cast<uint64_t>(duration_ns);
  std::string text = negative ? "-" : "";
  constexpr uint64_t kSecond = 1'000'000'000;
  if (ns < kSecond) {
    if (ns < 1000) return text + fmt::format("{}ns", ns);
    if (ns < 1'000'000) return text + fmt::format("{}{}µs", ns / 1000, Fraction(ns % 1000, 3));
    return text + fmt::format("{}{}ms", ns / 1'000'000, Fraction(ns % 1'000'000, 6));
  }
  const uint64_t seconds = ns / kSecond;
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds >= 60) text += fmt::format("{}m", seconds / 60 % 60);
  return text + fmt::format("{}{}s", seconds % 60, Fraction(ns % kSecond, 9));
}

}  // namespace heapgauge::pprof
