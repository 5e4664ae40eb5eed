#include "core/formats/collapsed/collapsed.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/lookup_tables.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/sampling.h"
#include "core/formats/text/scan.h"
#include "core/model/stacks.h"

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
  *line = Trim(*line);
  const size_t blank = line->find_last_of(" \t");
  if (blank == std::string_view::npos) return false;
  const std::string_view word = line->substr(blank + 1);
  *line = Trim(line->substr(0, blank));
  size_t at = 0;
  if (TakeDecimal(word, &at, whole) == Taken::kYes && at == word.size()) {
    *value = static_cast<double>(*whole);
    return true;
  }
  const auto number = NumberIn<double>(word);
  if (!number || !std::isfinite(*number)) return false;
  *value = *number;
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
  const std::string_view words = Trim(comment.substr(at));
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
      const std::string_view frame = Trim(TakeUntil(&line, ';'));
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

namespace {

// Stacks of names, from the outermost inwards. Names are numbered in their order.
class NameTrie {
 public:
  NameTrie(const Profile& profile, const std::vector<std::string>& frame_names, bool join)
      : profile_(profile), join_(join), index_(profile.nodes.size()) {
    names_.reserve(frame_names.size() + 2);
    for (std::string name : frame_names) {
      std::replace(name.begin(), name.end(), ';', ':');  // the separator
      std::replace(name.begin(), name.end(), '\n', ' ');
      names_.push_back(std::move(name));
    }
    names_.emplace_back("(truncated)");
    names_.emplace_back("(unknown stack)");
    Rank();
    nodes_.push_back({kNone, kNone});
    values_.push_back(0);
  }

  void Add(RowId row, double value) {
    const Row& r = profile_.rows[row];
    uint32_t at = 0;
    if (r.leaf != kNone) {
      at = r.truncated ? Below(r.leaf, Child(0, truncated()), &below_truncated_)
                       : Below(r.leaf, 0, &below_);
    }
    if (at == 0) at = Child(0, unknown());
    values_[at] += value;
  }

  Status Write(TextSink* out) const {
    // Children side by side, each list in the order of names.
    std::vector<uint32_t> order(nodes_.size() - 1);
    std::iota(order.begin(), order.end(), 1u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(nodes_[a].parent, nodes_[a].name) <
             std::pair(nodes_[b].parent, nodes_[b].name);
    });
    std::vector<uint32_t> first(nodes_.size() + 1);
    for (size_t i = 1; i < nodes_.size(); ++i) ++first[nodes_[i].parent + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());

    struct Open {
      uint32_t node;
      uint32_t next;  // child, in `order`
      size_t length;  // of the line up to here
    };
    std::vector<Open> path{{0, first[0], 0}};
    std::string line;
    while (!path.empty()) {
      Open& open = path.back();
      line.resize(open.length);
      if (open.next == first[open.node + 1]) {
        path.pop_back();
        continue;
      }
      const uint32_t node = order[open.next++];
      if (!line.empty()) line += ';';
      line += *sorted_[nodes_[node].name];
      const size_t length = line.size();
      if (const long long value = std::llround(values_[node]); value != 0) {
        line += ' ';
        line += std::to_string(value);
        line += '\n';
        HG_TRY(out->Write(line));
      }
      path.push_back({node, first[node], length});
    }
    return {};
  }

 private:
  struct TrieNode {
    uint32_t parent;
    uint32_t name;  // in sorted_
  };

  uint32_t truncated() const { return rank_[names_.size() - 2]; }
  uint32_t unknown() const { return rank_[names_.size() - 1]; }

  void Rank() {
    std::vector<uint32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return names_[a] < names_[b]; });
    rank_.resize(names_.size());
    for (const uint32_t id : order) {
      if (sorted_.empty() || *sorted_.back() != names_[id]) sorted_.push_back(&names_[id]);
      rank_[id] = static_cast<uint32_t>(sorted_.size() - 1);
    }
  }

  uint32_t Child(uint32_t parent, uint32_t name) {
    const auto next = static_cast<uint32_t>(nodes_.size());
    const uint32_t at = index_.Find(parent, name, next);
    if (at == next) {
      nodes_.push_back({parent, name});
      values_.push_back(0);
    }
    return at;
  }

  // The place of a stack below `root`; what was found is kept in `known`, by node of the profile.
  uint32_t Below(NodeId node, uint32_t root, std::vector<uint32_t>* known) {
    known->resize(profile_.nodes.size(), kNone);
    path_.clear();
    while (node != kNone && (*known)[node] == kNone) {
      path_.push_back(node);
      node = profile_.nodes[node].parent;
    }
    uint32_t at = node == kNone ? root : (*known)[node];
    for (size_t i = path_.size(); i-- > 0;) {
      const Location& location = profile_.locations[profile_.nodes[path_[i]].location];
      for (uint32_t k = location.frame_count; k-- > 0;) {
        const uint32_t name = rank_[location.first_frame + k];
        if (join_ && at != root && nodes_[at].name == name) continue;
        at = Child(at, name);
      }
      (*known)[path_[i]] = at;
    }
    return at;
  }

  const Profile& profile_;
  const bool join_;
  std::vector<std::string> names_;          // by frame, then two of our own
  std::vector<uint32_t> rank_;              // the same, in sorted_
  std::vector<const std::string*> sorted_;  // each name once
  PairIndex index_;                         // by parent and name
  std::vector<TrieNode> nodes_;             // the root is the first
  std::vector<double> values_;
  std::vector<uint32_t> below_;
  std::vector<uint32_t> below_truncated_;
  std::vector<NodeId> path_;
};

}  // namespace

Status WriteCollapsed(const Profile& profile, size_t type, const std::vector<bool>& selected,
                      const std::vector<std::string>& frame_names, bool join, TextSink* out) {
  NameTrie trie(profile, frame_names, join);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!selected.empty() && !selected[row]) continue;
    const double value = profile.estimate(row, type).value;
    if (value > 0) trie.Add(row, value);
  }
  return trie.Write(out);
}

}  // namespace heapgauge
