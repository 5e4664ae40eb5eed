#include "core/voices/pprof/tag_root.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "core/model/stack_builder.h"
#include "core/voices/pprof/measure.h"

namespace heapgauge::pprof {
namespace {

// The locations that stand for labels, made when they are first needed.
class TagLocations {
 public:
  TagLocations(std::string unit, Profile* profile) : unit_(std::move(unit)), profile_(profile) {}

  // Those of one row, innermost first. Sets `*match` if the row has one of the labels.
  std::vector<LocationId> Of(std::span<const heapgauge::Label> labels,
                             const std::vector<std::string>& keys, bool* match) {
    std::vector<LocationId> result;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      bool any = false;
      std::string name = Values(labels, *key, &any);
      *match |= any;
      result.push_back(Find(std::move(name), *key));
    }
    return result;
  }

 private:
  std::string Values(std::span<const heapgauge::Label> labels, const std::string& key, bool* any) {
    bool units = false;
    for (const heapgauge::Label& label : labels) {
      units |= label.unit != kNone && profile_->strings[label.key] == key;
    }
    std::string result;
    for (const heapgauge::Label& label : labels) {
      if (profile_->strings[label.key] != key) continue;
      if (*any) result += ',';
      *any = true;
      if (!label.is_number()) {
        result += profile_->strings[label.text];
      } else if (units) {
        const bool own = label.unit != kNone;
        result += ScaledLabel(label.number, own ? profile_->strings[label.unit] : "", unit_);
      } else {
        result += ScaledLabel(label.number, "", "");
      }
    }
    return result;
  }

  LocationId Find(std::string name, const std::string& key) {
    const auto [at, added] = known_.try_emplace({std::move(name), key}, kNone);
    if (!added) return at->second;
    Function function;
    function.name = at->first.first;
    function.file = key;
    function.no_system_name = !function.name.empty();  // no linker knows it
    Frame frame;
    frame.function = static_cast<FunctionId>(profile_->functions.size());
    Location location;
    location.exact = true;
    location.first_frame = static_cast<uint32_t>(profile_->frames.size());
    location.frame_count = 1;
    at->second = static_cast<LocationId>(profile_->locations.size());
    profile_->functions.push_back(std::move(function));
    profile_->frames.push_back(frame);
    profile_->locations.push_back(location);
    return at->second;
  }

  std::string unit_;
  Profile* profile_;
  std::map<std::pair<std::string, std::string>, LocationId> known_;
};

struct Ends {
  bool known = false;
  std::vector<LocationId> roots;
  std::vector<LocationId> leaves;
};

}  // namespace

std::vector<std::string> SplitKeys(const std::string& list) {
  std::vector<std::string> keys;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) keys.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return keys;
}

Result<TagFrameMatches> AddTagFrames(const TagFrames& frames, Profile* profile) {
  TagFrameMatches matches;
  if (frames.root_keys.empty() && frames.leaf_keys.empty()) return matches;
  TagLocations locations(frames.unit, profile);
  // By set of labels; the last one stands for no labels.
  std::vector<Ends> ends(profile->label_sets.size() + 1);
  const std::vector<Node> nodes = std::exchange(profile->nodes, {});
  StackBuilder builder(profile);
  std::vector<LocationId> stack;
  for (RowId id = 0; id < profile->rows.size(); ++id) {
    Row& row = profile->rows[id];
    Ends& end = ends[std::min<size_t>(row.labels, ends.size() - 1)];
    if (!end.known) {
      end.known = true;
      end.roots = locations.Of(profile->LabelsOf(id), frames.root_keys, &matches.root);
      end.leaves = locations.Of(profile->LabelsOf(id), frames.leaf_keys, &matches.leaf);
    }
    stack = end.leaves;
    for (NodeId node = row.leaf; node != kNone; node = nodes[node].parent) {
      stack.push_back(nodes[node].location);
    }
    stack.insert(stack.end(), end.roots.begin(), end.roots.end());
    if (stack.size() > Profile::kMaxDepth) {
      return Fail(ErrorCode::kUnsupported, "tagroot, tagleaf: a stack would become deeper than " +
                                               std::to_string(Profile::kMaxDepth) +
                                               " frames; name fewer labels");
    }
    row.leaf = builder.Leaf(stack);
  }
  return matches;
}

}  // namespace heapgauge::pprof
