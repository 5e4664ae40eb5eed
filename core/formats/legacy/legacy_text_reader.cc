#include "core/formats/legacy/legacy_text_reader.h"

#include <fmt/format.h>

#include <limits>

#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/formats/mappings/mappings.h"
#include "core/formats/text/scan.h"
#include "core/formats/text/text_profile.h"

namespace heapgauge {
namespace {

constexpr const char* kTextFormat = "contention or thread profile";

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? -std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::max();
}

class Reader {
 public:
  explicit Reader(LineReader* lines) : lines_(lines) {}

  Result<Profile> Read() {
    do {
      HG_TRY(Advance());
    } while (more_ && IsBlankOrComment(line()));
    if (!more_) return lines_->Fail(ErrorCode::kTruncated, "the profile is empty");
    LegacyKind kind = LegacyKind::kOther;
    const std::string_view header = Trim(line());
    static const Regex counts(R"((\S+) profile: total \d+)", RegexOver::kText);
    static const Regex threads(R"(--- threadz \d+ ---)", RegexOver::kText);
    std::string_view count_name;
    if (header.starts_with("--- contention") || header.starts_with("--- mutex")) {
      kind = LegacyKind::kContention;
      HG_TRY(Contention());
    } else if (counts.MatchesWhole(header, &count_name)) {
      HG_TRY(Counts(Printable(count_name)));
    } else if (threads.MatchesWhole(header)) {
      // What is there before the first thread is for people.
      do {
        HG_TRY(Advance());
      } while (more_ && !line().starts_with("-") && !IsMappingSentinel(line()));
      HG_TRY(Threads());
    } else if (IsThreadStart(header)) {
      HG_TRY(Threads());
    } else {
      return lines_->FailInLine("not the header of a known kind of profile");
    }
    while (more_ && !IsMappingSentinel(line())) HG_TRY(Advance());
    std::vector<Module> modules;
    if (more_) {
      HG_ASSIGN(modules, ReadMappings(lines_));
    }
    Profile profile = out_.Take();
    SetLegacyFrames(kind, &profile);
    AssignModules(std::move(modules), &profile);
    return profile;
  }

 private:
  std::string_view line() const { return lines_->line(); }

  Status Advance() {
    HG_ASSIGN(more_, lines_->Next());
    return {};
  }

  static bool IsThreadStart(std::string_view line) {
    static const Regex start(R"(--- Thread [[:xdigit:]]+ \(name: .*/\d+\) stack: ---)");
    return start.Matches(line);
  }

  // All hexadecimal numbers in the line; the first of a stack may be the instruction itself.
  Status AddAddresses(std::string_view text, bool first_is_exact) {
    for (size_t at = text.find("0x"); at != std::string_view::npos; at = text.find("0x", at)) {
      at += 2;
      uint64_t address = 0;
      const Taken taken = TakeHex(text, &at, &address);
      if (taken == Taken::kTooLarge) {
        return lines_->FailInLine("an address has more than 64 bits");
      }
      if (taken == Taken::kNo) continue;
      auto& stack = out_.stack();
      if (stack.size() == Profile::kMaxDepth) {
        return lines_->FailInLine("the stack has more than 65535 frames");
      }
      stack.push_back(out_.addresses().At(address, first_is_exact && stack.empty()));
    }
    return {};
  }

  // "name = value" lines, then "delay count @ 0x..."
  Status Contention() {
    Profile& profile = out_.profile();
    profile.sample_types = {{"contentions", "count"}, {"delay", "nanoseconds"}};
    profile.period_type = {"contentions", "count"};
    profile.period = 1;
    int64_t cycles_per_second = 0;
    for (;;) {
      HG_TRY(Advance());
      if (!more_) break;
      const std::string_view text = Trim(line());
      if (IsBlankOrComment(text)) continue;
      const size_t equals = text.find('=');
      if (text.starts_with("---") || equals == std::string_view::npos) break;
      const std::string_view key = Trim(text.substr(0, equals));
      const std::string_view value = Trim(text.substr(equals + 1));
      int64_t number = 0;
      size_t at = 0;
      const bool is_number = TakeDecimal(value, &at, &number) == Taken::kYes && at == value.size();
      if (key == "format" || key == "resolution") {
        return lines_->Fail(ErrorCode::kUnsupported, "profiles of Java programs are not read");
      }
      if (key == "discarded samples") continue;
      if (!is_number) return lines_->FailInLine("not a whole number");
      if (key == "cycles/second") {
        cycles_per_second = number;
      } else if (key == "sampling period") {
        profile.period = number;
      } else if (key == "ms since reset") {
        profile.duration_ns = Times(number, 1000000);
      } else {
        return lines_->FailInLine("an attribute that is not known");
      }
    }
    for (; more_ && !Trim(line()).starts_with("---");) {
      if (!IsBlankOrComment(line())) {
        if (IsMappingSentinel(line())) break;
        HG_TRY(ContentionRow(cycles_per_second));
      }
      HG_TRY(Advance());
    }
    return {};
  }

  Status ContentionRow(int64_t cycles_per_second) {
    const std::string_view text = Trim(line());
    size_t at = 0;
    int64_t delay = 0;
    int64_t count = 0;
    const Taken first = TakeDecimal(text, &at, &delay);
    SkipBlanks(text, &at);
    const Taken second = TakeDecimal(text, &at, &count);
    SkipBlanks(text, &at);
    if (first == Taken::kTooLarge || second == Taken::kTooLarge) {
      return lines_->FailInLine("a number is too large");
    }
    if (first != Taken::kYes || second != Taken::kYes || !TakeChar(text, &at, '@')) {
      return lines_->FailInLine("not a row of a contention profile (delay count @ 0x...)");
    }
    const int64_t period = out_.profile().period;
    if (period > 0) {
      if (cycles_per_second > 0) {
        const double cycles_per_ns = static_cast<double>(cycles_per_second) / 1e9;
        delay =
            CutToWhole(static_cast<double>(delay) * static_cast<double>(period) / cycles_per_ns);
      }
      count = Times(count, period);
    }
    out_.stack().clear();
    HG_TRY(AddAddresses(text.substr(at), false));
    out_.AddRow(out_.Leaf());
    out_.profile().values.insert(out_.profile().values.end(), {count, delay});
    return {};
  }

  // "12 @ 0x1 0x2"
  Status Counts(const std::string& name) {
    Profile& profile = out_.profile();
    profile.sample_types = {{name, "count"}};
    profile.period_type = {name, "count"};
    profile.period = 1;
    for (;;) {
      HG_TRY(Advance());
      if (!more_ || line().starts_with("---")) break;
      if (IsBlankOrComment(line())) continue;
      if (IsMappingSentinel(line())) break;
      size_t at = 0;
      int64_t count = 0;
      const Taken taken = TakeDecimal(line(), &at, &count);
      if (taken == Taken::kTooLarge) return lines_->FailInLine("a number is too large");
      SkipBlanks(line(), &at);
      if (taken != Taken::kYes || !TakeChar(line(), &at, '@')) {
        return lines_->FailInLine("not a row of counts (n @ 0x...)");
      }
      out_.stack().clear();
      HG_TRY(AddAddresses(line().substr(at), false));
      out_.AddRow(out_.Leaf());
      profile.values.push_back(count);
    }
    return {};
  }

  // The current line is that of the first thread.
  Status Threads() {
    Profile& profile = out_.profile();
    profile.sample_types = {{"thread", "count"}};
    profile.period_type = {"thread", "count"};
    profile.period = 1;
    while (more_ && !IsMappingSentinel(line())) {
      if (line().starts_with("---- no stack trace for")) break;
      if (!IsThreadStart(line())) return lines_->FailInLine("not the beginning of a thread");
      HG_TRY(Thread());
    }
    return {};
  }

  Status Thread() {
    out_.stack().clear();
    bool same = false;
    for (;;) {
      HG_TRY(Advance());
      if (!more_ || Trim(line()).starts_with("---")) break;
      if (line().find("same as previous thread") != std::string_view::npos) {
        same = true;
        continue;
      }
      HG_TRY(AddAddresses(line(), true));
    }
    Profile& profile = out_.profile();
    auto& stack = out_.stack();
    if (same || stack.empty()) {
      if (!profile.values.empty()) ++profile.values.back();
      return {};
    }
    // The innermost address comes from the registers and, behind it, often once more from the walk.
    if (stack.size() > 1 && profile.locations[stack[0]].lookup_address() ==
                                profile.locations[stack[1]].lookup_address() + 1) {
      stack.erase(stack.begin() + 1);
    }
    out_.AddRow(out_.Leaf());
    profile.values.push_back(1);
    return {};
  }

  LineReader* lines_;
  bool more_ = false;
  TextProfile out_;
};

}  // namespace

Result<Profile> ReadLegacyText(ByteStream* stream, const std::string& name,
                               const TextReadOptions& options) {
  LineReader lines(stream, kTextFormat, name);
  return ReadLegacyText(&lines, options);
}

Result<Profile> ReadLegacyText(LineReader* lines, const TextReadOptions&) {
  lines->set_format(kTextFormat);
  return Reader(lines).Read();
}

}  // namespace heapgauge
