#include "core/formats/heaptrack/heaptrack_writer.h"

#include <unistd.h>

#include <charconv>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr size_t kBuffer = 256 << 10;

std::string CommandOf(const RecordingFacts& recording) {
  std::string text;
  for (const std::string& word : recording.command_line) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return Printable(text.empty() ? recording.name() : text);
}

// A string of the file must not hold the end of a line.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
  }
  return text;
}

}  // namespace

void HeaptrackWriter::Line(char mode, std::initializer_list<uint64_t> fields) {
  text_ += mode;
  for (const uint64_t field : fields) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, field, 16);
    text_ += ' ';
    text_.append(digits, end.ptr);
  }
  text_ += '\n';
}

void HeaptrackWriter::Begin(const std::vector<std::string>& comments) {
  // The version of heaptrack whose files these are like, and that of the format.
  Line('v', {0x10400, 3});
  for (const std::string& comment : comments) text_ += "# " + OneLine(comment) + "\n";
  text_ += "X " + OneLine(CommandOf(profile_.recording)) + "\n";
  const long pages = sysconf(_SC_PHYS_PAGES);
  Line('I', {kPageBytes, static_cast<uint64_t>(pages < 0 ? 0 : pages)});
  // heaptrack_print counts frees of pair 0 wrongly (docs/formats/heaptrack.md), so nobody is it.
  Line('a', {0, 0});
  instructions_.resize(profile_.locations.size());
  stacks_.resize(profile_.nodes.size());
}

uint32_t HeaptrackWriter::String(const std::string& text) {
  if (text.empty()) return 0;
  const auto [it, is_new] = strings_.try_emplace(text, static_cast<uint32_t>(strings_.size() + 1));
  if (is_new) {
    const std::string line = OneLine(text);
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, line.size(), 16);
    text_ += "s ";
    text_.append(digits, end.ptr);
    text_ += ' ' + line + '\n';
  }
  return it->second;
}

uint32_t HeaptrackWriter::Instruction(LocationId id) {
  if (instructions_[id] != 0) return instructions_[id];
  const Location& location = profile_.locations[id];
  std::vector<uint64_t> fields = {
      location.lookup_address(),  // as heaptrack has it: within the call
      location.module == kNone ? 0 : String(profile_.modules[location.module].path)};
  for (uint32_t i = 0; i < location.frame_count; ++i) {
    const Frame& frame = profile_.frames[location.first_frame + i];
    const Function& function = profile_.functions[frame.function];
    // A name that is only an address is what readers make of it by themselves.
    fields.push_back(function.placeholder ? 0 : String(function.name));
    fields.push_back(String(function.file));
    fields.push_back(frame.line);
  }
  if (location.frame_count == 1 && fields[2] == 0 && fields[3] == 0) fields.resize(2);
  text_ += 'i';
  for (const uint64_t field : fields) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, field, 16);
    text_ += ' ';
    text_.append(digits, end.ptr);
  }
  text_ += '\n';
  return instructions_[id] = ++instruction_count_;
}

uint32_t HeaptrackWriter::Stack(NodeId leaf) {
  // Outwards to what is written already, and back.
  std::vector<NodeId> missing;
  NodeId node = leaf;
  while (node != kNone && stacks_[node] == 0) {
    missing.push_back(node);
    node = profile_.nodes[node].parent;
  }
  uint32_t parent = node == kNone ? 0 : stacks_[node];
  for (size_t i = missing.size(); i-- > 0;) {
    const uint32_t instruction = Instruction(profile_.nodes[missing[i]].location);
    Line('t', {instruction, parent});
    parent = stacks_[missing[i]] = ++stack_count_;
  }
  return parent;
}

uint32_t HeaptrackWriter::Pair(uint64_t size, NodeId leaf) {
  const uint32_t stack = leaf != kNone && stacks_[leaf] != 0 ? stacks_[leaf] : Stack(leaf);
  bool is_new = false;
  const uint32_t pair = pairs_.Find(size, stack, &is_new);
  if (is_new) Line('a', {size, stack});
  return pair;
}

void HeaptrackWriter::Allocate(uint64_t size, NodeId leaf) {
  const uint32_t pair = Pair(size, leaf);
  Line('+', {pair});
}

void HeaptrackWriter::Free(uint64_t size, NodeId leaf) {
  const uint32_t pair = Pair(size, leaf);
  Line('-', {pair});
}

void HeaptrackWriter::Time(uint64_t milliseconds) { Line('c', {milliseconds}); }
void HeaptrackWriter::Resident(uint64_t bytes) { Line('R', {bytes / kPageBytes}); }

Status HeaptrackWriter::Flush(bool all) {
  if (text_.size() < (all ? 1 : kBuffer)) return {};
  const Status written = out_->Write(text_);
  text_.clear();
  return written;
}

}  // namespace heapgauge
