#include "core/model/profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/large_memory.h"
#include "core/base/text.h"

namespace heapgauge {

const char* StateName(RecordingState state) {
  switch (state) {
    case RecordingState::kUnknown:
      break;
    case RecordingState::kLive:
      return "live";
    case RecordingState::kEnded:
      return "ended";
    case RecordingState::kKilled:
      return "killed";
    case RecordingState::kReplaced:
      return "exec";
    case RecordingState::kSnapshot:
      return "copy";
    case RecordingState::kGone:
      return "gone";
  }
  return "unknown";
}

bool IsOver(RecordingState state) {
  return state == RecordingState::kEnded || state == RecordingState::kKilled ||
         state == RecordingState::kReplaced || state == RecordingState::kGone;
}

std::string RecordingFacts::name() const {
  std::string_view shown = command_line.empty() ? std::string_view() : command_line[0];
  // A process that says there what it does: "nginx: master process nginx -c /etc/nginx.conf".
  shown = BaseName(shown.substr(0, shown.find(": ")));
  if (!shown.empty() && shown.front() == '-') shown.remove_prefix(1);  // a login shell
  return std::string(shown.empty() ? BaseName(program) : shown);
}

std::string RecordingFacts::command() const {
  std::string line = Join(command_line);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::vector<SampleType> HeapSampleTypes() {
  return {{"alloc_objects", "count"},
          {"alloc_space", "bytes"},
          {"inuse_objects", "count"},
          {"inuse_space", "bytes"}};
}

std::vector<SampleType> MmapSampleTypes() {
  return {{"mmap_alloc_objects", "count"},
          {"mmap_alloc_space", "bytes"},
          {"mmap_objects", "count"},
          {"mmap_space", "bytes"}};
}

Estimate Profile::Total(size_t type) const {
  Estimate total;
  for (RowId row = 0; row < rows.size(); ++row) total.Add(estimate(row, type));
  return total;
}

Estimate Profile::estimate(RowId row, size_t type) const {
  const size_t at = row * sample_types.size() + type;
  if (!estimates.empty()) return estimates[at];
  Estimate certain;
  certain.value = certain.floor = static_cast<double>(values[at]);
  return certain;
}

std::span<const Label> Profile::LabelsOf(RowId row) const {
  const LabelSetId id = rows[row].labels;
  if (id == kNone) return {};
  return {labels.data() + label_sets[id].first, label_sets[id].count};
}

void Profile::RoundEstimates() {
  constexpr double kMost = 9e18;
  values.resize(estimates.size());
  for (size_t i = 0; i < estimates.size(); ++i) {
    values[i] = std::llround(std::clamp(estimates[i].value, -kMost, kMost));
  }
}

void Profile::StackOf(RowId row, std::vector<LocationId>* out) const {
  out->clear();
  for (NodeId node = rows[row].leaf; node != kNone; node = nodes[node].parent) {
    out->push_back(nodes[node].location);
  }
}

size_t Profile::FindType(std::string_view name) const {
  for (size_t i = 0; i < sample_types.size(); ++i) {
    if (sample_types[i].name == name) return i;
  }
  return sample_types.size();
}

Status Profile::Check() const {
  const auto broken = [](const char* what) {
    return Fail(ErrorCode::kCorrupt, std::string("profile: ") + what);
  };
  std::vector<uint16_t> depth(nodes.size());
  for (NodeId i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (node.location >= locations.size()) return broken("a node names no location");
    if (node.parent == kNone) {
      depth[i] = 1;
    } else if (node.parent >= i) {
      return broken("a node comes before its parent");
    } else if (depth[node.parent] >= kMaxDepth) {
      return broken("a stack is too deep");
    } else {
      depth[i] = static_cast<uint16_t>(depth[node.parent] + 1);
    }
  }
  for (const Location& location : locations) {
    if (location.module != kNone && location.module >= modules.size()) {
      return broken("a location names no module");
    }
    if (location.first_frame > frames.size() ||
        location.frame_count > frames.size() - location.first_frame) {
      return broken("a location names no frame");
    }
  }
  for (const Frame& frame : frames) {
    if (frame.function >= functions.size()) return broken("a frame names no function");
  }
  for (const Row& row : rows) {
    if (row.leaf != kNone && row.leaf >= nodes.size()) return broken("a row names no node");
    if (row.labels != kNone && row.labels >= label_sets.size()) {
      return broken("a row names no labels");
    }
  }
  for (const LabelSet& set : label_sets) {
    if (set.first > labels.size() || set.count > labels.size() - set.first) {
      return broken("a set of labels is out of range");
    }
  }
  for (const Label& label : labels) {
    if (label.key >= strings.size() || (label.text != kNone && label.text >= strings.size()) ||
        (label.unit != kNone && label.unit >= strings.size())) {
      return broken("a label names no text");
    }
  }
  for (const SampledBlock& block : blocks) {
    if (block.row >= rows.size()) return broken("a block names no row");
  }
  if (values.size() != rows.size() * sample_types.size()) return broken("values do not match rows");
  if (!estimates.empty() && estimates.size() != values.size()) {
    return broken("estimates do not match values");
  }
  for (const Estimate& e : estimates) {
    if (!std::isfinite(e.value) || !std::isfinite(e.floor)) return broken("a value is no number");
    for (const double number : {e.variance, e.step}) {
      if (!std::isfinite(number) || number < 0) return broken("an estimate is no number");
    }
  }
  return {};
}

void KeepRows(const std::vector<bool>& keep, Profile* profile) {
  const size_t types = profile->sample_types.size();
  std::vector<RowId> now(profile->rows.size(), kNone);
  RowId next = 0;
  for (RowId row = 0; row < profile->rows.size(); ++row) {
    if (!keep[row]) continue;
    now[row] = next;
    if (next != row) {
      profile->rows[next] = profile->rows[row];
      std::copy_n(profile->values.begin() + static_cast<ptrdiff_t>(row * types), types,
                  profile->values.begin() + static_cast<ptrdiff_t>(next * types));
      if (!profile->estimates.empty()) {
        std::copy_n(profile->estimates.begin() + static_cast<ptrdiff_t>(row * types), types,
                    profile->estimates.begin() + static_cast<ptrdiff_t>(next * types));
      }
    }
    ++next;
  }
  if (next == profile->rows.size()) return;
  profile->rows.resize(next);
  profile->values.resize(next * types);
  if (!profile->estimates.empty()) profile->estimates.resize(next * types);
  std::erase_if(profile->blocks,
                [&](const SampledBlock& block) { return now[block.row] == kNone; });
  for (SampledBlock& block : profile->blocks) block.row = now[block.row];
  const auto of_row = [](const UnknownFields& u) {
    return u.owner == UnknownFields::Owner::kSample;
  };
  std::erase_if(profile->unknown_fields,
                [&](const UnknownFields& u) { return of_row(u) && now[u.id] == kNone; });
  for (UnknownFields& u : profile->unknown_fields) {
    if (of_row(u)) u.id = now[u.id];
  }
}

Profile CopyOfValues(const Profile& profile) {
  Profile copy;
  copy.recording = profile.recording;
  copy.sample_types = profile.sample_types;
  copy.default_type = profile.default_type;
  copy.period_type = profile.period_type;
  copy.period = profile.period;
  copy.time_ns = profile.time_ns;
  copy.duration_ns = profile.duration_ns;
  copy.modules = profile.modules;
  copy.locations = profile.locations;
  copy.functions = profile.functions;
  copy.frames = profile.frames;
  ReserveHuge(profile.nodes.size(), &copy.nodes);
  copy.nodes = profile.nodes;
  copy.distinct_nodes = profile.distinct_nodes;
  ReserveHuge(profile.rows.size(), &copy.rows);
  copy.rows = profile.rows;
  ReserveHuge(profile.values.size(), &copy.values);
  copy.values = profile.values;
  copy.strings = profile.strings;
  copy.label_sets = profile.label_sets;
  copy.labels = profile.labels;
  copy.comments = profile.comments;
  copy.drop_frames = profile.drop_frames;
  copy.keep_frames = profile.keep_frames;
  copy.doc_url = profile.doc_url;
  copy.unknown_fields = profile.unknown_fields;
  return copy;
}

void PutProgramFirst(Profile* profile) {
  std::vector<Module>& modules = profile->modules;
  const auto program = std::find_if(modules.begin(), modules.end(), [&](const Module& module) {
    return module.path == profile->recording.program;
  });
  if (program == modules.end() || program == modules.begin()) return;
  const auto id = static_cast<ModuleId>(program - modules.begin());
  std::swap(modules.front(), *program);
  for (Location& location : profile->locations) {
    if (location.module == id) {
      location.module = 0;
    } else if (location.module == 0) {
      location.module = id;
    }
  }
}

}  // namespace heapgauge
