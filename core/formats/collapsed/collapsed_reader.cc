#include "core/formats/collapsed/collapsed_reader.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/base/text.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/scan.h"
#include "core/formats/text/unsample.h"
#include "core/model/stack_builder.h"

namespace heapgauge {
namespace {

constexpr const char* kFormat = "collapsed stacks";
// What the writer says for rows without a stack, and for stacks whose outer frames are missing.
constexpr std::string_view kNoStack = "(unknown stack)";
constexpr std::string_view kTruncated = "(truncated)";

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Locations by name.
class NameTable {
 public:
  explicit NameTable(Profile* profile) : profile_(profile) {}

  LocationId Find(std::string_view name) {
    const auto known = ids_.find(name);
    if (known != ids_.end()) return known->second;
    const auto id = static_cast<LocationId>(profile_->locations.size());
    Function function;
    function.name = Printable(name);
    profile_->functions.push_back(std::move(function));
    Location location;
    location.first_frame = static_cast<uint32_t>(profile_->frames.size());
    location.frame_count = 1;
    profile_->frames.push_back({id, 0, false});
    profile_->locations.push_back(location);
    ids_.emplace(name, id);
    return id;
  }

 private:
  Profile* profile_;
  std::unordered_map<std::string, LocationId, TextHash, std::equal_to<>> ids_;
};

// The last word as a number; what is before it stays in `line`.
bool TakeValue(std::string_view* line, double* value, int64_t* whole) {
  *line = Trimmed(*line);
  const size_t blank = line->find_last_of(" \t");
  if (blank == std::string_view::npos) return false;
  const std::string_view word = line->substr(blank + 1);
  *line = Trimmed(line->substr(0, blank));
  size_t at = 0;
  if (TakeDecimal(word, &at, whole) == Taken::kYes && at == word.size()) {
    *value = static_cast<double>(*whole);
    return true;
  }
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), *value);
  if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) return false;
  if (!std::isfinite(*value)) return false;
  *whole = CutToWhole(std::round(*value));
  return true;
}

// "# type: inuse_space/bytes"
void TakeType(std::string_view comment, SampleType* type) {
  size_t at = 0;
  SkipBlanks(comment, &at);
  if (!TakeChar(comment, &at, '#')) return;
  SkipBlanks(comment, &at);
  if (!TakeText(comment, &at, "type:")) return;
  const std::string_view words = Trimmed(comment.substr(at));
  const size_t slash = words.find('/');
  if (slash == 0 || slash == std::string_view::npos) return;
  type->name = Printable(words.substr(0, slash));
  type->unit = Printable(words.substr(slash + 1));
}

}  // namespace

Result<Profile> ReadCollapsed(ByteStream* stream, const std::string& name, const TextReadOptions&) {
  LineReader lines(stream, kFormat, name);
  Profile profile;
  SampleType type{"samples", "count"};
  NameTable names(&profile);
  StackBuilder stacks(&profile);
  bool fractions = false;
  std::vector<double> exact;
  for (;;) {
    HG_ASSIGN(const bool more, lines.Next());
    if (!more) break;
    std::string_view line = lines.line();
    if (IsBlankOrComment(line)) {
      TakeType(line, &type);
      continue;
    }
    double value = 0;
    int64_t whole = 0;
    if (!TakeValue(&line, &value, &whole)) {
      return lines.FailInLine("no number at the end (outer;inner 123)");
    }
    fractions = fractions || value != static_cast<double>(whole);
    Row row;
    size_t depth = 0;
    if (line == kNoStack) line = {};
    while (!line.empty()) {
      const size_t end = std::min(line.find(';'), line.size());
      const std::string_view frame = Trimmed(line.substr(0, end));
      line.remove_prefix(std::min(end + 1, line.size()));
      if (depth == 0 && row.leaf == kNone && frame == kTruncated) {
        row.truncated = true;
        continue;
      }
      if (frame.empty()) continue;
      if (++depth > Profile::kMaxDepth) {
        return lines.FailInLine("the stack has more than 65535 frames");
      }
      row.leaf = stacks.Child(row.leaf, names.Find(frame));
    }
    profile.rows.push_back(row);
    profile.values.push_back(whole);
    exact.push_back(value);
  }
  if (lines.number() == 0) return lines.Fail(ErrorCode::kTruncated, "the file is empty");
  profile.sample_types = {type};
  profile.period_type = type;
  profile.period = 1;
  if (fractions) {
    for (const double value : exact) {
      Estimate estimate;
      estimate.value = value;
      profile.estimates.push_back(estimate);
    }
  }
  return profile;
}

}  // namespace heapgauge
