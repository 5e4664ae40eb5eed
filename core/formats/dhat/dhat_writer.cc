#include "core/formats/dhat/dhat_writer.h"

#include <fmt/format.h>

#include <unordered_map>

#include "core/base/json.h"

namespace heapgauge {
namespace {

class Writer {
 public:
  Writer(const Profile& profile, const DhatFacts& facts, TextSink* out)
      : profile_(profile), facts_(facts), out_(out) {}

  Status Write(const std::vector<DhatStack>& points) {
    WriteFacts();
    text_ += ",\"pps\":\n [";
    const char* separator = "";
    for (const auto& [leaf, point] : points) {
      text_ += separator;
      separator = "\n ,";
      WritePoint(leaf, point);
      if (text_.size() > 1 << 18) HG_TRY(Flush());
    }
    text_ += "\n ]\n,\"ftbl\":\n [\"[root]\"";
    for (const std::string* frame : table_) {
      text_ += "\n ," + Json(*frame).Line();
      if (text_.size() > 1 << 18) HG_TRY(Flush());
    }
    text_ += "\n ]\n}\n";
    return Flush();
  }

 private:
  Status Flush() {
    const Status written = out_->Write(text_);
    text_.clear();
    return written;
  }

  void Member(const char* name, const Json& value) {
    text_ += fmt::format(",\"{}\":{}\n", name, value.Line());
  }

  void WriteFacts() {
    text_ = "{\"dhatFileVersion\":2\n";
    Member("mode", facts_.mode);
    Member("verb", facts_.verb);
    Member("bklt", facts_.has_lifetimes);
    Member("bkacc", facts_.has_accesses);
    if (!facts_.byte_unit.empty()) Member("bu", facts_.byte_unit);
    if (!facts_.bytes_unit.empty()) Member("bsu", facts_.bytes_unit);
    if (!facts_.blocks_unit.empty()) Member("bksu", facts_.blocks_unit);
    Member("tu", facts_.time_unit);
    Member("Mtu", facts_.million_unit);
    if (facts_.has_lifetimes) Member("tuth", facts_.short_lifetime);
    Member("cmd", facts_.command);
    Member("pid", facts_.pid);
    Member("te", facts_.end_time);
    if (facts_.has_lifetimes) Member("tg", facts_.peak_time);
  }

  void WritePoint(NodeId leaf, const DhatPoint& p) {
    text_ += fmt::format("{{\"tb\":{},\"tbk\":{}", p.bytes, p.blocks);
    if (facts_.has_lifetimes) {
      text_ += fmt::format(
          "\n  ,\"tl\":{}\n  ,\"mb\":{},\"mbk\":{}\n  ,\"gb\":{},\"gbk\":{}\n  "
          ",\"eb\":{},\"ebk\":{}",
          p.lifetimes, p.max_bytes, p.max_blocks, p.peak_bytes, p.peak_blocks, p.end_bytes,
          p.end_blocks);
    }
    if (facts_.has_accesses) {
      text_ += fmt::format("\n  ,\"rb\":{},\"wb\":{}", p.read_bytes, p.written_bytes);
    }
    text_ += "\n  ,\"fs\":[";
    const char* separator = "";
    for (NodeId node = leaf; node != kNone; node = profile_.nodes[node].parent) {
      for (const uint32_t frame : FramesOf(profile_.nodes[node].location)) {
        text_ += fmt::format("{}{}", separator, frame);
        separator = ",";
      }
    }
    // The viewer takes a point without any frame for a mistake.
    if (leaf == kNone) text_ += std::to_string(FrameNumber("0x0: ???"));
    text_ += "]\n  }";
  }

  const std::vector<uint32_t>& FramesOf(LocationId id) {
    const auto [it, is_new] = locations_.try_emplace(id);
    if (!is_new) return it->second;
    const Location& location = profile_.locations[id];
    const std::string module =
        location.module == kNone ? "" : profile_.modules[location.module].path;
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const Frame& frame = profile_.frames[location.first_frame + i];
      const Function& function = profile_.functions[frame.function];
      it->second.push_back(
          FrameNumber(Text(location.lookup_address(), function.placeholder ? "" : function.name,
                           function.file, frame.line, frame.column, module)));
    }
    if (location.frame_count == 0) {
      it->second.push_back(FrameNumber(Text(location.lookup_address(), "", "", 0, 0, module)));
    }
    return it->second;
  }

  static std::string Text(uint64_t address, const std::string& function, const std::string& file,
                          uint32_t line, uint32_t column, const std::string& module) {
    std::string text = fmt::format("0x{:X}: {}", address, function.empty() ? "???" : function);
    if (!file.empty()) {
      text += fmt::format(" ({}:{}", file, line);
      if (column != 0) text += fmt::format(":{}", column);
      text += ')';
    } else if (!module.empty()) {
      text += fmt::format(" (in {})", module);
    }
    return text;
  }

  uint32_t FrameNumber(std::string text) {
    const auto [it, is_new] =
        frames_.try_emplace(std::move(text), static_cast<uint32_t>(table_.size() + 1));
    if (is_new) table_.push_back(&it->first);
    return it->second;
  }

  const Profile& profile_;
  const DhatFacts& facts_;
  TextSink* out_;
  std::string text_;
  std::unordered_map<std::string, uint32_t> frames_;
  std::vector<const std::string*> table_;  // in order of their numbers, from 1
  std::unordered_map<LocationId, std::vector<uint32_t>> locations_;
};

}  // namespace

Status WriteDhat(const Profile& profile, const DhatFacts& facts,
                 const std::vector<DhatStack>& points, TextSink* out) {
  return Writer(profile, facts, out).Write(points);
}

}  // namespace heapgauge
