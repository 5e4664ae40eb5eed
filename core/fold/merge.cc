#include "core/fold/merge.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "core/fold/merge_entities.h"
#include "core/fold/scale.h"
#include "core/model/label_sets.h"
#include "core/model/profile.h"
#include "core/model/stacks.h"

namespace heapgauge {
namespace {

// Finds rows by stack and labels.
class RowTable {
 public:
  explicit RowTable(const Profile* profile) : profile_(profile), slots_(1024) {}

  // The row like `row` that is in the profile, or kNone: then `id` will be that row.
  RowId FindOrAdd(const Row& row, RowId id) {
    if (2 * (used_ + 1) > slots_.size()) Grow();
    uint32_t& slot = slots_[SlotOf(row)];
    if (slot != 0) return slot - 1;
    slot = id + 1;
    ++used_;
    return kNone;
  }

 private:
  size_t SlotOf(const Row& row) const {
    const size_t mask = slots_.size() - 1;
    uint64_t h = (uint64_t{row.leaf} << 32 | row.labels) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
    size_t at = static_cast<size_t>(h * 0xbf58476d1ce4e5b9 >> 20) & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
      const Row& known = profile_->rows[slots_[at] - 1];
      if (known.leaf == row.leaf && known.labels == row.labels) break;
    }
    return at;
  }

  void Grow() {
    std::vector<uint32_t> old(slots_.size() * 2);
    old.swap(slots_);
    for (const uint32_t slot : old) {
      if (slot != 0) slots_[SlotOf(profile_->rows[slot - 1])] = slot;
    }
  }

  const Profile* profile_;
  std::vector<uint32_t> slots_;  // row + 1, 0 free; a power of two
  size_t used_ = 0;
};

class Merger {
 public:
  // `several`: more than one profile will come.
  explicit Merger(bool several) : several_(several), rows_(&result_) {}

  // All profiles have the same sample types.
  void Add(Profile profile) {
    entities_.Begin(profile);
    const std::vector<uint8_t> visited = Visit(profile);
    const std::vector<LocationId>& now = entities_.locations_of();
    bool same_numbers = true;
    for (LocationId id = 0; id < now.size(); ++id) {
      same_numbers = same_numbers && (now[id] == id || now[id] == kNone);
    }
    for (NodeId node = 0; node < profile.nodes.size() && !same_numbers; ++node) {
      Node& n = profile.nodes[node];
      if (visited[node] != 0) n.location = now[n.location];
    }
    if (is_first_) {
      AddFirst(visited, &profile);
    } else {
      AddFurther(visited, &profile);
    }
    is_first_ = false;
  }

  Profile Take() {
    entities_.MoveTo(&result_);
    return std::move(result_);
  }

 private:
  static bool IsZero(const Profile& p, RowId row) {
    const size_t types = p.sample_types.size();
    const int64_t* values = p.values.data() + row * types;
    if (std::any_of(values, values + types, [](int64_t v) { return v != 0; })) return false;
    for (size_t i = 0; i < types && !p.estimates.empty(); ++i) {
      if (p.estimates[row * types + i].value != 0) return false;
    }
    return true;
  }

  // Numbers the locations as rows meet them, innermost first. Nobody walks over a node twice: what
  // is above it was met with it. Once every location has its number, nodes that no row reaches may
  // stay as well: a large profile has met all its locations long before its last row.
  std::vector<uint8_t> Visit(const Profile& profile) {
    std::vector<uint8_t> visited(profile.nodes.size());  // bits would wait for each other
    std::vector<bool> met(profile.locations.size());     // small, so that it stays in the cache
    visits_ = 0;
    for (RowId row = 0; row < profile.rows.size(); ++row) {
      if (entities_.mapped_all()) {
        visited.assign(visited.size(), 1);
        visits_ = visited.size();
        break;
      }
      PrefetchAhead(profile, row);
      if (IsZero(profile, row)) continue;
      for (NodeId node = profile.rows[row].leaf; node != kNone && visited[node] == 0;
           node = profile.nodes[node].parent) {
        visited[node] = 1;
        ++visits_;
        const LocationId location = profile.nodes[node].location;
        if (met[location]) continue;
        met[location] = true;
        entities_.Map(location);
      }
    }
    return visited;
  }

  // The nodes stay as they are if they may: they are most of a large profile.
  void AddFirst(const std::vector<uint8_t>& visited, Profile* profile) {
    result_ = std::move(*profile);
    KeepUnknownFields();
    bool same_nodes = !entities_.collapsed() && visits_ == result_.nodes.size();
    if (same_nodes && (several_ || !result_.distinct_nodes)) {
      stacks_.emplace(&result_);
      same_nodes = stacks_->distinct();
    }
    if (!same_nodes) {
      std::vector<Node> nodes;
      nodes.swap(result_.nodes);
      stacks_.emplace(&result_);
      MapLeaves(visited, nodes, &result_.rows);
    }
    MergeOwnLabels();
    MergeOwnRows();
  }

  // Adds nodes to the result, and tells rows where their leaves are now.
  void MapLeaves(const std::vector<uint8_t>& visited, const std::vector<Node>& nodes,
                 std::vector<Row>* rows) {
    std::vector<NodeId> now(nodes.size(), kNone);
    for (NodeId node = 0; node < nodes.size(); ++node) {
      if (visited[node] == 0) continue;
      const NodeId parent = nodes[node].parent;
      now[node] = stacks_->Child(parent == kNone ? kNone : now[parent], nodes[node].location);
    }
    for (Row& row : *rows) {
      if (row.leaf != kNone) row.leaf = now[row.leaf];  // kNone for rows that are zero
    }
  }

  void MergeOwnLabels() {
    strings_.emplace(&result_);
    sets_.emplace(&result_);
    if (strings_->distinct() && sets_->distinct()) return;
    // The same set is there twice, or the same text.
    Profile clean;
    LabelStrings strings(&clean);
    LabelSets sets(&clean);
    MapLabels(&result_, &clean, &strings, &sets);
    result_.strings = std::move(clean.strings);
    result_.labels = std::move(clean.labels);
    result_.label_sets = std::move(clean.label_sets);
    strings_.emplace(&result_);
    sets_.emplace(&result_);
  }

  // Sets of `from` are looked for in `to` or added to it.
  static void MapLabels(Profile* from, Profile* to, LabelStrings* strings, LabelSets* sets) {
    std::vector<LabelSetId> now(from->label_sets.size(), kNone);
    std::vector<StringId> texts(from->strings.size(), kNone);
    const auto map = [&](StringId* id) {
      if (*id == kNone) return;
      if (texts[*id] == kNone) texts[*id] = strings->Add(from->strings[*id]);
      *id = texts[*id];
    };
    std::vector<Label> labels;
    for (Row& row : from->rows) {
      if (row.labels == kNone) continue;
      LabelSetId& known = now[row.labels];
      if (known == kNone) {
        const LabelSet set = from->label_sets[row.labels];
        labels.assign(from->labels.begin() + set.first,
                      from->labels.begin() + set.first + set.count);
        for (Label& label : labels) {
          map(&label.key);
          map(&label.text);
          map(&label.unit);
        }
        SortLabels(*to, labels);
        known = sets->Add(labels);
      }
      row.labels = known;
    }
  }
  // Rows of the first profile: those that are zero go, those that are alike are added up.
  void MergeOwnRows() {
    Profile& p = result_;
    std::vector<bool> keep(p.rows.size());
    std::vector<RowId> into(p.rows.size(), kNone);
    const std::vector<bool> shared = SharedLeaves(p);
    bool all = true;
    for (RowId row = 0; row < p.rows.size(); ++row) {
      RowId other = kNone;
      const NodeId leaf = p.rows[row].leaf;
      const bool zero = IsZero(p, row);
      if (!zero && (leaf == kNone || shared[leaf])) other = rows_.FindOrAdd(p.rows[row], row);
      keep[row] = !zero && other == kNone;
      all = all && keep[row];
      if (other != kNone) {
        AddRow(p, row, other);
        into[row] = other;
      }
    }
    if (!all) {
      for (SampledBlock& block : p.blocks) {
        if (into[block.row] != kNone) block.row = into[block.row];
      }
      KeepRows(keep, &p);
    }
    if (!several_) return;
    rows_ = RowTable(&result_);
    for (RowId row = 0; row < p.rows.size(); ++row) rows_.FindOrAdd(p.rows[row], row);
  }

  // Leaves of more than one row. Most rows have one for themselves, and need no look at others.
  static std::vector<bool> SharedLeaves(const Profile& p) {
    std::vector<bool> seen(p.nodes.size());
    std::vector<bool> shared(p.nodes.size());
    for (const Row& row : p.rows) {
      if (row.leaf == kNone) continue;
      if (seen[row.leaf]) shared[row.leaf] = true;
      seen[row.leaf] = true;
    }
    return shared;
  }

  // Adds figures of a row of `from` to one of the result.
  void AddRow(const Profile& from, RowId row, RowId to) {
    const size_t types = result_.sample_types.size();
    Row& target = result_.rows[to];
    const Row source = from.rows[row];
    target.samples += source.samples;
    target.live_samples += source.live_samples;
    target.truncated = target.truncated || source.truncated;
    for (size_t type = 0; type < types; ++type) {
      // Wraps round as pprof's sums do.
      int64_t& value = result_.value(to, type);
      value = static_cast<int64_t>(static_cast<uint64_t>(value) +
                                   static_cast<uint64_t>(from.value(row, type)));
      if (!result_.estimates.empty()) {
        result_.estimates[to * types + type].Add(from.estimate(row, type));
      }
    }
  }

  void AddFurther(const std::vector<uint8_t>& visited, Profile* profile) {
    const size_t types = result_.sample_types.size();
    MapLeaves(visited, profile->nodes, &profile->rows);
    std::vector<Node>().swap(profile->nodes);
    MapLabels(profile, &result_, &*strings_, &*sets_);
    if (!profile->estimates.empty() && result_.estimates.empty()) {
      for (RowId row = 0; row < result_.rows.size(); ++row) {
        for (size_t type = 0; type < types; ++type) certain_.push_back(result_.estimate(row, type));
      }
      result_.estimates.swap(certain_);
      certain_.clear();
    }
    std::vector<RowId> now(profile->rows.size(), kNone);
    for (RowId row = 0; row < profile->rows.size(); ++row) {
      if (IsZero(*profile, row)) continue;
      const auto next = static_cast<RowId>(result_.rows.size());
      const RowId other = rows_.FindOrAdd(profile->rows[row], next);
      now[row] = other != kNone ? other : next;
      if (other != kNone) {
        AddRow(*profile, row, other);
        continue;
      }
      result_.rows.push_back(profile->rows[row]);
      for (size_t type = 0; type < types; ++type) {
        result_.values.push_back(profile->value(row, type));
        if (!result_.estimates.empty()) {
          result_.estimates.push_back(profile->estimate(row, type));
        }
      }
    }
    for (SampledBlock block : profile->blocks) {
      block.row = now[block.row];
      if (block.row != kNone) result_.blocks.push_back(block);
    }
    for (std::string& note : profile->notes) result_.notes.push_back(std::move(note));
  }

  // Of the first profile only: what the fields of several would mean together nobody knows.
  void KeepUnknownFields() {
    using Owner = UnknownFields::Owner;
    for (UnknownFields& u : result_.unknown_fields) {
      if (u.owner == Owner::kModule) u.id = entities_.modules_of()[u.id];
      if (u.owner == Owner::kLocation) u.id = entities_.locations_of()[u.id];
      if (u.owner == Owner::kFunction) u.id = entities_.functions_of()[u.id];
    }
    std::erase_if(result_.unknown_fields, [](const UnknownFields& u) { return u.id == kNone; });
    std::stable_sort(result_.unknown_fields.begin(), result_.unknown_fields.end(),
                     [](const UnknownFields& a, const UnknownFields& b) {
                       return a.owner != b.owner ? a.owner < b.owner : a.id < b.id;
                     });
  }

  Profile result_;
  bool several_;
  bool is_first_ = true;
  size_t visits_ = 0;  // nodes that the rows of the profile at hand reach
  EntityMerger entities_;
  RowTable rows_;
  std::optional<StackBuilder> stacks_;
  std::optional<LabelStrings> strings_;
  std::optional<LabelSets> sets_;
  std::vector<Estimate> certain_;
};

void AddRecording(const RecordingFacts& more, RecordingFacts* sum) {
  sum->others += 1 + more.others;
  sum->has_gaps |= more.has_gaps;
  sum->samples += more.samples;
  sum->live_samples += more.live_samples;
  sum->inherited_samples += more.inherited_samples;
  for (const auto& lost : more.lost) {
    const auto known = std::find_if(sum->lost.begin(), sum->lost.end(),
                                    [&](const auto& entry) { return entry.first == lost.first; });
    if (known == sum->lost.end()) {
      sum->lost.push_back(lost);
    } else {
      known->second += lost.second;
    }
  }
  sum->lost_bytes += more.lost_bytes;
  sum->lost_mappings += more.lost_mappings;
  sum->truncated_walks += more.truncated_walks;
  sum->unreadable_records += more.unreadable_records;
  sum->file_bytes += more.file_bytes;
  sum->private_bytes += more.private_bytes;
  sum->interval_in_force = std::max(sum->interval_in_force, more.interval_in_force);
  // Peaks of several programs are at several times, and so is what they had in memory.
  sum->is_peak = sum->is_peak && more.is_peak;
  sum->has_peak = false;
  sum->memory.clear();
  sum->is_dump = false;
  sum->dump = {};
  sum->exact = sum->exact && more.exact;
  if (sum->moment.find(more.moment) == std::string::npos) {
    sum->moment += (sum->moment.empty() ? "" : ", ") + more.moment;
  }
}

RecordingFacts AddUpRecordings(const std::vector<Profile>& profiles) {
  RecordingFacts sum = profiles.front().recording;
  for (size_t i = 1; i < profiles.size(); ++i) AddRecording(profiles[i].recording, &sum);
  return sum;
}

// What is said about the whole, as pprof combines it.
struct Header {
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  int64_t period = 0;
  std::vector<std::string> comments;
  size_t default_type = kNone;
  std::string doc_url;
};

Header CombineHeaders(const std::vector<Profile>& profiles) {
  Header h;
  std::unordered_set<std::string> seen;
  for (const Profile& p : profiles) {
    if (h.time_ns == 0 || p.time_ns < h.time_ns) h.time_ns = p.time_ns;
    h.duration_ns = static_cast<int64_t>(static_cast<uint64_t>(h.duration_ns) +
                                         static_cast<uint64_t>(p.duration_ns));
    if (h.period == 0 || h.period < p.period) h.period = p.period;
    for (const std::string& comment : p.comments) {
      if (seen.insert(comment).second) h.comments.push_back(comment);
    }
    if (h.default_type == kNone) h.default_type = p.default_type;
    if (h.doc_url.empty()) h.doc_url = p.doc_url;
  }
  return h;
}

}  // namespace

Result<Profile> MergeProfiles(std::vector<Profile> profiles) {
  if (profiles.empty()) return Fail(ErrorCode::kInvalidArgument, "there are no profiles to merge");
  HG_TRY(AlignSampleTypes(&profiles));
  size_t nodes = 0;
  size_t rows = 0;
  for (const Profile& p : profiles) {
    nodes += p.nodes.size();
    rows += p.rows.size();
  }
  if (nodes >= kNone || rows >= kNone) {
    return Fail(ErrorCode::kUnsupported, "the profiles are too large to be merged");
  }
  Header header = CombineHeaders(profiles);
  RecordingFacts recording = AddUpRecordings(profiles);
  const bool several = profiles.size() > 1;
  Merger merger(several);
  for (Profile& p : profiles) merger.Add(std::exchange(p, Profile()));
  Profile result = merger.Take();
  result.recording = std::move(recording);
  result.time_ns = header.time_ns;
  result.duration_ns = header.duration_ns;
  result.period = header.period;
  result.comments = std::move(header.comments);
  result.default_type = header.default_type;
  result.doc_url = std::move(header.doc_url);
  if (!several) return result;
  result.timeline.clear();
  // Where figures cancel each other out, what only they needed goes too.
  const size_t types = result.sample_types.size();
  for (RowId row = 0; row < result.rows.size(); ++row) {
    const int64_t* values = result.values.data() + row * types;
    if (std::any_of(values, values + types, [](int64_t v) { return v != 0; })) continue;
    std::vector<Profile> once_more;
    once_more.push_back(std::move(result));
    return MergeProfiles(std::move(once_more));
  }
  return result;
}

}  // namespace heapgauge
