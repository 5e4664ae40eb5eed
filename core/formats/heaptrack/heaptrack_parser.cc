#include "core/formats/heaptrack/heaptrack_parser.h"

#include <fmt/format.h>

#include <optional>

#include "core/base/text.h"
#include "core/formats/heaptrack/live_blocks.h"
#include "core/formats/text/scan.h"
#include "core/model/profile.h"

namespace heapgauge {
namespace {

constexpr const char* kFormat = "heaptrack file";
constexpr uint64_t kNewestVersion = 3;
// No address space has room for a larger block, and sums of such sizes would not fit.
constexpr uint64_t kMaxBlock = uint64_t{1} << 48;

// What identifies an allocation where there is no address.
struct SizeAndStack {
  uint64_t size = 0;
  uint32_t stack = 0;
};

// One line, field by field.
class Fields {
 public:
  explicit Fields(std::string_view line) : line_(line), at_(line.empty() ? 0 : 1) {}

  bool Hex(uint64_t* value) {
    SkipBlanks(line_, &at_);
    return TakeHex(line_, &at_, value) == Taken::kYes &&
           (at_ == line_.size() || IsBlank(line_[at_]));
  }
  bool Hex32(uint32_t* value) {
    uint64_t wide = 0;
    if (!Hex(&wide) || wide > UINT32_MAX) return false;
    *value = static_cast<uint32_t>(wide);
    return true;
  }
  // All that is left, without blanks in front.
  std::string_view Rest() {
    SkipBlanks(line_, &at_);
    return line_.substr(at_);
  }
  bool AtEnd() { return Rest().empty(); }
  // A string with its length in front, or, before version 3, up to the next blank or to the end.
  bool Text(bool sized, bool whole, std::string_view* text) {
    if (!sized) {
      *text = Rest();
      if (!whole) *text = text->substr(0, text->find(' '));
      at_ += text->size();
      return true;
    }
    uint64_t length = 0;
    if (!Hex(&length) || at_ >= line_.size() || length > line_.size() - at_ - 1) return false;
    *text = line_.substr(at_ + 1, length);
    at_ += 1 + length;
    return true;
  }

 private:
  std::string_view line_;
  size_t at_;
};

class Parser {
 public:
  Parser(ByteStream* stream, const std::string& name, HeaptrackVisitor* visitor)
      : lines_(stream, kFormat, name), visitor_(visitor) {}

  Result<HeaptrackOutcome> Read() {
    HG_TRY(ReadHeader());
    for (;;) {
      const Result<bool> more = lines_.Next();
      if (!more) {
        // Of a recorder that was killed, the compressed data end anywhere.
        if (more.error().code != ErrorCode::kTruncated) return tl::unexpected<Error>(more.error());
        outcome_.breaks_off = true;
        break;
      }
      if (!*more) break;
      if (pending_) return *std::move(pending_);
      if (lines_.line().empty()) continue;
      Status done = ReadLine(lines_.line());
      if (done) continue;
      tl::unexpected<Error> error = Place(std::move(done).error());
      // A program that was killed leaves the beginning of a line behind.
      if (error.value().code != ErrorCode::kCorrupt) return error;
      pending_ = std::move(error);
    }
    outcome_.cut = pending_.has_value();
    if (outcome_.kind == HeaptrackKind::kUndecided) outcome_.kind = HeaptrackKind::kInterpreted;
    return outcome_;
  }

 private:
  Status ReadHeader() {
    HG_ASSIGN(const bool more, lines_.Next());
    if (!more) return lines_.Fail(ErrorCode::kTruncated, "the file is empty");
    Fields fields(lines_.line());
    if (!lines_.line().starts_with("v ") || !fields.Hex(&outcome_.heaptrack_version)) {
      return lines_.FailInLine("not the header of a heaptrack file (v VERSION FILEVERSION)");
    }
    // The oldest files do not have it.
    if (!fields.Hex(&outcome_.file_version)) outcome_.file_version = 0;
    if (outcome_.file_version > kNewestVersion) {
      return lines_.Fail(
          ErrorCode::kUnsupported,
          fmt::format("file version {} is newer than {}, the newest that is known here",
                      outcome_.file_version, kNewestVersion));
    }
    sized_ = outcome_.file_version >= 3;
    return {};
  }

  tl::unexpected<Error> Place(Error error) {
    if (error.code == ErrorCode::kCorrupt) return lines_.FailInLine(error.message);
    return lines_.Fail(error.code, error.message);
  }

  static tl::unexpected<Error> Bad(std::string what) {
    return Fail(ErrorCode::kCorrupt, std::move(what));
  }

  Status ReadLine(std::string_view line) {
    Fields fields(line);
    if (line.size() > 1 && !IsBlank(line[1])) {
      if (line[0] == '#') return {};
      return Bad("not a line of a heaptrack file");
    }
    switch (line[0]) {
      case '+':
        return ReadAllocation(fields);
      case '-':
        return ReadFree(fields);
      case 'a':
        return ReadInfo(fields);
      case 't':
        return ReadStack(fields);
      case 'i':
        return ReadInstruction(fields);
      case 's':
        return ReadString(fields);
      case 'c': {
        uint64_t time = 0;
        if (!fields.Hex(&time)) return Bad("not a time (c MILLISECONDS)");
        return visitor_->Time(time);
      }
      case 'R': {
        uint64_t pages = 0;
        if (!fields.Hex(&pages)) return Bad("not a number of pages (R PAGES)");
        visitor_->Resident(pages);
        return {};
      }
      default:
        return ReadFact(line[0], fields);
    }
  }

  // Lines that are there once or rarely.
  Status ReadFact(char mode, Fields fields) {
    std::string_view text;
    switch (mode) {
      case 'x':
        HG_TRY(Decide(HeaptrackKind::kRaw));
        if (!fields.Text(sized_, true, &text)) return Bad("not a string with its length");
        visitor_->Program(text);
        return {};
      case 'm':
        return ReadModule(fields);
      case 'X':
        visitor_->Command(fields.Rest());
        return {};
      case 'I': {
        uint64_t bytes = 0;
        uint64_t pages = 0;
        if (!fields.Hex(&bytes) || !fields.Hex(&pages)) return Bad("not sizes (I BYTES PAGES)");
        visitor_->Pages(bytes, pages);
        return {};
      }
      case 'S':
        visitor_->Suppression(fields.Rest());
        return {};
      case 'A':
        visitor_->Attached();
        return {};
      case '#':
        return {};
      default:
        ++outcome_.unknown_lines;
        return {};
    }
  }

  Status Decide(HeaptrackKind kind) {
    if (outcome_.kind == HeaptrackKind::kUndecided) outcome_.kind = kind;
    if (outcome_.kind == kind) return {};
    return Bad("raw and interpreted data in one file");
  }

  Status ReadModule(Fields fields) {
    HG_TRY(Decide(HeaptrackKind::kRaw));
    std::string_view name;
    if (!fields.Text(sized_, false, &name)) return Bad("not a string with its length");
    if (name == "-") {
      visitor_->ClearModules();
      return {};
    }
    uint64_t base = 0;
    if (!fields.Hex(&base)) return Bad("not a module (m NAME BASE SEGMENTS)");
    segments_.clear();
    std::pair<uint64_t, uint64_t> segment;
    while (fields.Hex(&segment.first)) {
      if (!fields.Hex(&segment.second)) return Bad("a segment without a size");
      segments_.push_back(segment);
    }
    visitor_->AddModule(name == "x" ? std::string_view() : name, base, segments_);
    return {};
  }

  Status ReadString(Fields fields) {
    HG_TRY(Decide(HeaptrackKind::kInterpreted));
    std::string_view text;
    if (!fields.Text(sized_, true, &text)) return Bad("not a string with its length");
    if (++strings_ == UINT32_MAX) return Bad("too many strings");
    return visitor_->String(text);
  }

  Status ReadInstruction(Fields fields) {
    HG_TRY(Decide(HeaptrackKind::kInterpreted));
    uint64_t address = 0;
    uint32_t module = 0;
    if (!fields.Hex(&address) || !fields.Hex32(&module) || module > strings_) {
      return Bad("not a code address (i ADDRESS MODULE FRAMES)");
    }
    frames_.clear();
    while (!fields.AtEnd()) {
      HeaptrackFrame frame;
      if (!fields.Hex32(&frame.function)) return Bad("not a frame (FUNCTION FILE LINE)");
      // Of a function whose source is not known only the name is there.
      if (!fields.AtEnd() && (!fields.Hex32(&frame.file) || !fields.Hex32(&frame.line))) {
        return Bad("not a frame (FUNCTION FILE LINE)");
      }
      if (frame.function > strings_ || frame.file > strings_) {
        return Bad("a frame names a string that is not there");
      }
      frames_.push_back(frame);
    }
    if (++instructions_ == UINT32_MAX) return Bad("too many code addresses");
    return visitor_->Instruction(address, module, frames_);
  }

  Status ReadStack(Fields fields) {
    // A raw file has said so by now.
    if (outcome_.kind == HeaptrackKind::kUndecided) HG_TRY(Decide(HeaptrackKind::kInterpreted));
    const bool raw = outcome_.kind == HeaptrackKind::kRaw;
    uint64_t instruction = 0;
    uint32_t parent = 0;
    if (!fields.Hex(&instruction) || !fields.Hex32(&parent)) {
      return Bad("not a stack (t INSTRUCTION PARENT)");
    }
    if (parent > stacks_) return Bad("the stack's parent is not there");
    if (!raw && (instruction == 0 || instruction > instructions_)) {
      return Bad("the stack's code address is not there");
    }
    const uint32_t depth = (parent == 0 ? 0 : depths_[parent - 1]) + 1;
    if (depth > Profile::kMaxDepth) return Bad("the stack has more than 65535 frames");
    if (++stacks_ >= UINT32_MAX - 1) return Bad("too many stacks");
    depths_.push_back(static_cast<uint16_t>(depth));
    return visitor_->Stack(instruction, parent, raw);
  }

  Status ReadInfo(Fields fields) {
    HG_TRY(Decide(HeaptrackKind::kInterpreted));
    SizeAndStack info;
    HG_TRY(ReadSizeAndStack(&fields, &info));
    if (infos_.size() >= UINT32_MAX) return Bad("too many pairs of size and stack");
    infos_.push_back(info);
    return {};
  }

  Status ReadSizeAndStack(Fields* fields, SizeAndStack* info) {
    if (!fields->Hex(&info->size) || !fields->Hex32(&info->stack)) {
      return Bad("not a size and a stack");
    }
    if (info->stack > stacks_) return Bad("the stack is not there");
    if (info->size > kMaxBlock) return Bad("the block is larger than any address space");
    return {};
  }

  HeaptrackBlock BlockOf(uint64_t info) const {
    return {infos_[info].size, infos_[info].stack, 0, static_cast<uint32_t>(info)};
  }

  bool has_addresses() const {
    return outcome_.kind == HeaptrackKind::kRaw || outcome_.file_version == 0;
  }

  Status ReadAllocation(Fields fields) {
    HeaptrackBlock block;
    if (!has_addresses()) {
      uint64_t info = 0;
      if (!fields.Hex(&info) || info >= infos_.size())
        return Bad("the allocation's info is not there");
      last_ = info;
      block = BlockOf(info);
      return visitor_->Allocate(block);
    }
    SizeAndStack info;
    HG_TRY(ReadSizeAndStack(&fields, &info));
    if (!fields.Hex(&block.address)) return Bad("an allocation without an address");
    block.size = info.size;
    block.stack = info.stack;
    SizeAndStack replaced;
    if (blocks_.Put(block.address, info, &replaced)) ++outcome_.missed_frees;
    if (first_.stack == kNoStack) first_ = info;
    last_block_ = info;
    last_ = block.address;
    return visitor_->Allocate(block);
  }

  Status ReadFree(Fields fields) {
    uint64_t what = 0;
    if (!fields.Hex(&what)) return Bad("not a free (- BLOCK)");
    HeaptrackBlock block;
    if (!has_addresses()) {
      if (what >= infos_.size()) return Bad("the free's info is not there");
      block = BlockOf(what);
      // heaptrack_print has no word for "no allocation": after a free, the last one counts as 0.
      const bool temporary = what == last_;
      last_ = 0;
      return visitor_->Free(block, temporary);
    }
    SizeAndStack info;
    if (!blocks_.Take(what, &info)) {
      ++outcome_.unknown_frees;
      return {};
    }
    block = {info.size, info.stack, what, HeaptrackBlock::kNoPair};
    bool temporary = what == last_;
    if (outcome_.kind == HeaptrackKind::kRaw) {
      // Interpreted, all blocks of a size and stack would be one, so that is how they are counted.
      temporary = info.size == last_block_.size && info.stack == last_block_.stack;
      last_block_ = first_;
    }
    last_ = 0;
    return visitor_->Free(block, temporary);
  }

  static constexpr uint32_t kNoStack = UINT32_MAX;

  LineReader lines_;
  HeaptrackVisitor* visitor_;
  HeaptrackOutcome outcome_;
  bool sized_ = false;
  std::optional<tl::unexpected<Error>> pending_;  // of the line before, unless it was the last one
  uint32_t strings_ = 0;
  uint32_t instructions_ = 0;
  uint32_t stacks_ = 0;
  std::vector<uint16_t> depths_;  // of stacks
  std::vector<SizeAndStack> infos_;
  AddressHashMap<SizeAndStack> blocks_;
  uint64_t last_ = 0;  // allocation: its info, or address
  SizeAndStack last_block_{0, kNoStack};
  SizeAndStack first_{0, kNoStack};  // would be info 0
  std::vector<std::pair<uint64_t, uint64_t>> segments_;
  std::vector<HeaptrackFrame> frames_;
};

}  // namespace

bool IsHeaptrack(std::string_view start) {
  if (!start.starts_with("v ")) return false;
  const std::string_view line = start.substr(0, start.find('\n'));
  Fields fields(line);
  uint64_t version = 0;
  uint64_t file_version = 0;
  if (!fields.Hex(&version)) return false;
  return (fields.AtEnd() || fields.Hex(&file_version)) && fields.AtEnd() &&
         line.size() < start.size();
}

Result<HeaptrackOutcome> ReadHeaptrackFile(ByteStream* stream, const std::string& name,
                                           HeaptrackVisitor* visitor) {
  return Parser(stream, name, visitor).Read();
}

}  // namespace heapgauge
