#include "core/voices/pprof/nodes.h"
#include "core/base/text.h"
#include "core/source/source_files.h"

#include <fmt/format.h>

#include <unordered_map>

namespace heapgauge::pprof {
namespace {

// Numbers for strings, so that nodes are compared by numbers alone.
class StringIds {
 public:
  uint32_t Of(std::string_view text) {
    return ids_.try_emplace(text, static_cast<uint32_t>(ids_.size())).first->second;
  }

 private:
  std::unordered_map<std::string_view, uint32_t> ids_;
};

struct NodeKey {
  uint32_t name = 0;
  uint32_t file = 0;
  uint32_t object = 0;
  uint64_t address = 0;
  int64_t start_line = 0;
  int64_t line = 0;
  friend bool operator==(const NodeKey&, const NodeKey&) = default;
};

struct NodeKeyHash {
  size_t operator()(const NodeKey& key) const {
    uint64_t hash = key.address;
    const auto mix = [&hash](uint64_t part) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    };
    mix(key.name | uint64_t{key.file} << 32);
    mix(key.object | static_cast<uint64_t>(key.line) << 32);
    mix(static_cast<uint64_t>(key.start_line));
    return hash;
  }
};

}  // namespace

// Finds the node of a frame, or makes it.
class NodeTable::Interner {
 public:
  Interner(const Profile& profile, const NodeOptions& options, NodeTable* table)
      : profile_(profile), options_(options), table_(table) {
    const Shape shape = options.granularity;
    names_ = shape != Shape::kFiles;
    files_ = shape != Shape::kFunctions;
    lines_ = shape == Shape::kLines || shape == Shape::kAddresses;
    addresses_ = shape == Shape::kAddresses;
    function_files_.reserve(profile.functions.size());
    for (const Function& function : profile.functions) {
      function_files_.push_back(files_ ? ShownFile(function.file) : std::string_view());
    }
  }

  EntryId Of(const Location& location, const Frame* frame) {
    NodeInfo info;
    if (addresses_) info.address = location.lookup_address();
    std::string_view object;
    if (location.module != kNone) object = profile_.modules[location.module].path;
    const Function* function = nullptr;
    if (frame != nullptr && frame->function != kNone) {
      function = &profile_.functions[frame->function];
    }
    // A name that only repeats the module is no name here: pprof has its own for that.
    if (function == nullptr || function->placeholder) {
      info.object = object;
      return Find(info);
    }
    if (lines_) info.line = frame->line;
    if (names_) info.name = function->name;
    info.file = function_files_[frame->function];
    if (options_.object_names || info.name.empty()) {
      info.object = object;
      info.start_line = function->start_line;
    }
    return Find(info);
  }

 private:
  std::string_view ShownFile(const std::string& file) {
    std::string_view trimmed = file;
    if (options_.trim_paths) {
      trimmed = TrimSourcePath(file, options_.trim_path, options_.source_path);
    }
    if (trimmed.empty()) return {};
    std::string clean = CleanPath(trimmed);
    if (clean == file) return file;
    return table_->files_.emplace_back(std::move(clean));
  }

  EntryId Find(const NodeInfo& info) {
    NodeKey key;
    key.name = strings_.Of(info.name);
    key.file = strings_.Of(info.file);
    key.object = strings_.Of(info.object);
    key.address = info.address;
    key.start_line = info.start_line;
    key.line = info.line;
    const auto [it, added] = ids_.try_emplace(key, static_cast<EntryId>(table_->infos_.size()));
    if (added) table_->infos_.push_back(info);
    return it->second;
  }

  const Profile& profile_;
  const NodeOptions& options_;
  NodeTable* table_;
  bool names_ = false;
  bool files_ = false;
  bool lines_ = false;
  bool addresses_ = false;
  std::vector<std::string_view> function_files_;
  StringIds strings_;
  std::unordered_map<NodeKey, EntryId, NodeKeyHash> ids_;
};

NodeOptions NodeOptionsOf(const Config& config) {
  NodeOptions options;
  options.granularity = config.granularity;
  options.no_inlines = config.no_inlines;
  options.source_path = config.source_path;
  options.trim_path = config.trim_path;
  return options;
}

NodeTable::NodeTable(const Profile& profile, const NodeOptions& options) {
  Interner interner(profile, options, this);
  first_.reserve(profile.locations.size() + 1);
  for (const Location& location : profile.locations) {
    first_.push_back(static_cast<uint32_t>(ids_.size()));
    const Frame* frames = profile.frames.data() + location.first_frame;
    if (location.frame_count == 0) {
      ids_.push_back(interner.Of(location, nullptr));
    } else if (options.no_inlines) {
      ids_.push_back(interner.Of(location, &frames[location.frame_count - 1]));
    } else {
      for (uint32_t i = 0; i < location.frame_count; ++i) {
        ids_.push_back(interner.Of(location, &frames[i]));
      }
      has_inlines_ |= location.frame_count > 1;
    }
  }
  first_.push_back(static_cast<uint32_t>(ids_.size()));
  if (!has_inlines_) {
    first_ = {};  // one each
    return;
  }
  only_.reserve(profile.locations.size());
  for (LocationId id = 0; id < profile.locations.size(); ++id) {
    only_.push_back(Of(id).size() == 1 ? Of(id)[0] : kNone);
  }
}

std::vector<std::string> NameParts(const NodeInfo& info) {
  std::vector<std::string> parts;
  if (info.address != 0) parts.push_back(fmt::format("{:016x}", info.address));
  if (!info.name.empty()) parts.emplace_back(info.name);
  if (info.line != 0) {
    parts.push_back(fmt::format("{}:{}", info.file, info.line));
  } else if (!info.file.empty()) {
    parts.emplace_back(info.file);
  } else if (info.name.empty()) {
    if (info.object.empty()) {
      parts.emplace_back("<unknown>");
    } else {
      parts.push_back(fmt::format("[{}]", LastPart(info.object)));
    }
  }
  return parts;
}

std::string PrintableName(const NodeInfo& info) { return Join(NameParts(info)); }

std::string DebugText(const NodeInfo& info) {
  return fmt::format("{{{}  {} {} {} {} {}}}", info.name, info.address, info.file, info.start_line,
                     info.line, info.object);
}

}  // namespace heapgauge::pprof
