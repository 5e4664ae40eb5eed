#include "core/formats/pprof/pprof_messages.h"

#include <optional>

#include "core/base/text.h"
#include "core/formats/pprof/pprof_draft.h"
#include "core/formats/pprof/proto_cursor.h"
#include "core/model/label_sets.h"

namespace heapgauge {
namespace {

using namespace profile_proto;  // NOLINT: the field numbers, and nothing else

class MessageReader {
 public:
  MessageReader(ByteStream* stream, PprofDraft* draft)
      : draft_(draft),
        profile_(draft->profile),
        window_(stream),
        leaves_(&profile_),
        sets_(&profile_) {}

  Status Run() {
    for (;;) {
      auto field = window_.Next();
      if (!field) return Told(field.error());
      if (field->empty()) break;
      ProtoCursor cursor(*field);
      if (cursor.Next()) ReadField(&cursor);
      if (cursor.error() != nullptr) Bad(cursor.error());
      if (error_) return tl::unexpected<Error>(std::move(*error_));
    }
    if (window_.offset() == 0) {
      return tl::unexpected<Error>(draft_->Mistake(0, "the file is empty"));
    }
    draft_->bytes = window_.offset();
    leaves_.Finish();
    if (leaves_.too_many_nodes()) Bad(kTooLarge);
    if (error_) return tl::unexpected<Error>(std::move(*error_));
    return {};
  }

 private:
  static constexpr const char* kTooLarge = "the profile is too large";
  static constexpr size_t kMostTypes = 1000;  // real ones have a handful

  // The first mistake counts. Its place is the field at hand.
  void Bad(const std::string& what) {
    if (!error_) error_ = draft_->Mistake(window_.offset(), what);
  }
  tl::unexpected<Error> Told(const Error& error) const {
    // The stream says where itself.
    if (!window_.is_damaged()) return tl::unexpected<Error>(error);
    Error told = draft_->Mistake(error.offset, error.message);
    told.code = error.code;
    return tl::unexpected<Error>(std::move(told));
  }
  // Messages in the field at hand end here.
  void Done(const ProtoCursor& cursor) {
    if (cursor.error() != nullptr) Bad(cursor.error());
  }

  uint64_t Text(uint64_t index) {
    draft_->strings.Use(index, window_.offset());
    return index;
  }

  void Keep(UnknownFields::Owner owner, uint32_t id, std::string_view bytes) {
    std::vector<UnknownFields>& all = profile_.unknown_fields;
    if (!all.empty() && all.back().owner == owner && all.back().id == id) {
      all.back().bytes += bytes;
    } else {
      all.push_back({owner, id, std::string(bytes)});
    }
  }

  void ReadField(ProtoCursor* c) {
    switch (c->field()) {
      case kSampleType:
        if (draft_->types.size() == kMostTypes) {
          Bad("there are more than " + std::to_string(kMostTypes) + " sample types");
        } else {
          draft_->types.push_back(ReadType(c->Bytes()));
        }
        break;
      case kSample:
        ReadSample(c->Bytes());
        break;
      case kMapping:
        ReadMapping(c->Bytes());
        break;
      case kLocation:
        ReadLocation(c->Bytes());
        break;
      case kFunction:
        ReadFunction(c->Bytes());
        break;
      case kStringTable:
        if (!draft_->strings.Add(c->Bytes(), window_.offset())) Bad(draft_->strings.error());
        break;
      case kDropFrames:
        draft_->drop_frames = Text(c->Unsigned());
        break;
      case kKeepFrames:
        draft_->keep_frames = Text(c->Unsigned());
        break;
      case kTimeNanos:
        if (profile_.time_ns != 0) {
          Bad("a second profile begins: files that were only appended to each other cannot be "
              "told apart, give them one by one");
        }
        profile_.time_ns = c->Signed();
        break;
      case kDurationNanos:
        profile_.duration_ns = c->Signed();
        break;
      case kPeriodType:
        draft_->period_type = ReadType(c->Bytes());
        break;
      case kPeriod:
        profile_.period = c->Signed();
        break;
      case kComment:
        c->ForEachNumber([this](uint64_t index) { draft_->comments.push_back(Text(index)); });
        break;
      case kDefaultSampleType:
        draft_->default_type = Text(c->Unsigned());
        break;
      case kDocUrl:
        draft_->doc_url = Text(c->Unsigned());
        break;
      default:
        Keep(UnknownFields::Owner::kProfile, 0, c->raw());
    }
  }

  PprofDraft::TypeRefs ReadType(std::string_view bytes) {
    PprofDraft::TypeRefs type;
    ProtoCursor c(bytes);
    while (c.Next()) {
      if (c.field() == kTypeName) type.name = Text(c.Unsigned());
      if (c.field() == kTypeUnit) type.unit = Text(c.Unsigned());
    }
    Done(c);
    return type;
  }

  void ReadSample(std::string_view bytes) {
    Row row;
    const auto id = static_cast<RowId>(profile_.rows.size());
    const size_t values_before = profile_.values.size();
    const uint64_t offset = window_.offset();
    std::vector<LocationId>& stack = leaves_.NextStack();
    const size_t stack_before = stack.size();
    labels_.clear();
    ProtoCursor c(bytes);
    while (c.Next()) {
      switch (c.field()) {
        case kSampleLocation:
          c.ForEachNumber([&](uint64_t location) {
            stack.push_back(draft_->locations.NumberOf(location, offset));
          });
          break;
        case kSampleValue:
          c.ForEachNumber(
              [this](uint64_t value) { profile_.values.push_back(static_cast<int64_t>(value)); });
          break;
        case kSampleLabel:
          ReadLabel(c.Bytes());
          break;
        default:
          Keep(UnknownFields::Owner::kSample, id, c.raw());
      }
    }
    Done(c);
    const size_t count = profile_.values.size() - values_before;
    if (id == 0) {
      draft_->values_in_row = count;
      draft_->first_sample = offset;
    } else if (count != draft_->values_in_row) {
      Bad("a sample has " + std::to_string(count) + " values, those before have " +
          std::to_string(draft_->values_in_row));
    }
    const size_t depth = stack.size() - stack_before;
    if (depth > Profile::kMaxDepth) {
      Bad("a stack has " + std::to_string(depth) + " frames, " +
          std::to_string(Profile::kMaxDepth) + " are the most");
    }
    if (leaves_.too_many_nodes() || id == kNone - 1) Bad(kTooLarge);
    if (error_) return;
    row.labels = sets_.Add(labels_);
    profile_.rows.push_back(row);
    leaves_.EndStack();
  }

  // Labels keep the numbers of their texts until these are known.
  void ReadLabel(std::string_view bytes) {
    uint64_t key = 0;
    uint64_t text = 0;
    uint64_t unit = 0;
    Label label;
    ProtoCursor c(bytes);
    while (c.Next()) {
      switch (c.field()) {
        case kLabelKey:
          key = Text(c.Unsigned());
          break;
        case kLabelText:
          text = Text(c.Unsigned());
          break;
        case kLabelNumber:
          label.number = c.Signed();
          break;
        case kLabelUnit:
          unit = Text(c.Unsigned());
          break;
        default:
          break;
      }
    }
    Done(c);
    if (text == 0 && label.number == 0 && unit == 0) return;  // says nothing
    // Numbers of texts that are too large for this are refused in the end.
    label.key = static_cast<StringId>(key);
    if (text != 0) {
      label.text = static_cast<StringId>(text);
      label.number = 0;
    } else if (unit != 0) {
      label.unit = static_cast<StringId>(unit);
    }
    labels_.push_back(label);
  }

  void ReadMapping(std::string_view bytes) {
    Module module;
    module.load_bias_known = false;
    PprofDraft::ModuleRefs refs;
    uint64_t id = 0;
    const auto index = static_cast<ModuleId>(profile_.modules.size());
    ProtoCursor c(bytes);
    while (c.Next()) {
      switch (c.field()) {
        case kMappingId:
          id = c.Unsigned();
          break;
        case kMappingStart:
          module.start = c.Unsigned();
          break;
        case kMappingLimit:
          module.end = c.Unsigned();
          break;
        case kMappingOffset:
          module.offset = c.Unsigned();
          break;
        case kMappingFile:
          refs.file = Text(c.Unsigned());
          break;
        case kMappingBuildId:
          refs.build_id = Text(c.Unsigned());
          break;
        case kMappingHasFunctions:
          module.has_functions = c.Unsigned() != 0;
          break;
        case kMappingHasFiles:
          module.has_files = c.Unsigned() != 0;
          break;
        case kMappingHasLines:
          module.has_lines = c.Unsigned() != 0;
          break;
        case kMappingHasInlines:
          module.has_inlines = c.Unsigned() != 0;
          break;
        default:
          Keep(UnknownFields::Owner::kModule, index, c.raw());
      }
    }
    Done(c);
    const uint32_t number = Define(&draft_->mappings, id, "mapping");
    if (error_) return;
    if (draft_->module_of.size() <= number) draft_->module_of.resize(number + 1, kNone);
    draft_->module_of[number] = index;
    profile_.modules.push_back(std::move(module));
    draft_->module_refs.push_back(refs);
  }

  // Ids must not be 0 and not be given twice.
  uint32_t Define(IdTable* table, uint64_t id, const char* what) {
    if (id == 0) Bad(std::string("a ") + what + " has the id 0, which stands for none");
    const uint32_t number = table->NumberOf(id, window_.offset());
    IdTable::Entry& entry = table->entries()[number];
    if (entry.defined) {
      Bad("there are two " + std::string(what) + "s with the id " + std::to_string(id));
    }
    entry.defined = true;
    return number;
  }

  void ReadLocation(std::string_view bytes) {
    Location location;
    location.exact = true;
    uint64_t id = 0;
    uint64_t mapping = 0;
    location.first_frame = static_cast<uint32_t>(profile_.frames.size());
    unknown_.clear();
    ProtoCursor c(bytes);
    while (c.Next()) {
      switch (c.field()) {
        case kLocationId:
          id = c.Unsigned();
          break;
        case kLocationMapping:
          mapping = c.Unsigned();
          break;
        case kLocationAddress:
          location.address = c.Unsigned();
          break;
        case kLocationLine:
          ReadLine(c.Bytes());
          break;
        case kLocationFolded:
          location.folded = c.Unsigned() != 0;
          break;
        default:
          unknown_ += c.raw();
      }
    }
    Done(c);
    const uint32_t number = Define(&draft_->locations, id, "location");
    if (error_) return;
    location.frame_count = static_cast<uint32_t>(profile_.frames.size()) - location.first_frame;
    for (uint32_t i = 0; i + 1 < location.frame_count; ++i) {
      profile_.frames[location.first_frame + i].inlined = true;
    }
    if (mapping != 0) location.module = draft_->mappings.NumberOf(mapping, window_.offset());
    if (profile_.locations.size() <= number) profile_.locations.resize(draft_->locations.size());
    profile_.locations[number] = location;
    if (!unknown_.empty()) Keep(UnknownFields::Owner::kLocation, number, unknown_);
  }

  void ReadLine(std::string_view bytes) {
    Frame frame;
    uint64_t function = 0;
    ProtoCursor c(bytes);
    while (c.Next()) {
      if (c.field() == kLineFunction) function = c.Unsigned();
      if (c.field() == kLineNumber) frame.line = SmallNumber(c.Unsigned());
      if (c.field() == kLineColumn) frame.column = SmallNumber(c.Unsigned());
    }
    Done(c);
    if (function == 0) Bad("a location has a line without a function");
    frame.function = draft_->functions.NumberOf(function, window_.offset());
    if (profile_.frames.size() >= kNone - 1) Bad(kTooLarge);
    if (!error_) profile_.frames.push_back(frame);
  }

  uint32_t SmallNumber(uint64_t number) {
    if (number < kNone) return static_cast<uint32_t>(number);
    ++draft_->absurd_lines;
    return 0;
  }

  void ReadFunction(std::string_view bytes) {
    PprofDraft::FunctionRefs refs;
    uint64_t id = 0;
    int64_t start_line = 0;
    unknown_.clear();
    ProtoCursor c(bytes);
    while (c.Next()) {
      switch (c.field()) {
        case kFunctionId:
          id = c.Unsigned();
          break;
        case kFunctionName:
          refs.name = Text(c.Unsigned());
          break;
        case kFunctionSystemName:
          refs.system_name = Text(c.Unsigned());
          break;
        case kFunctionFile:
          refs.file = Text(c.Unsigned());
          break;
        case kFunctionStartLine:
          start_line = c.Signed();
          break;
        default:
          unknown_ += c.raw();
      }
    }
    Done(c);
    const uint32_t number = Define(&draft_->functions, id, "function");
    if (error_) return;
    if (draft_->function_refs.size() <= number) {
      draft_->function_refs.resize(draft_->functions.size());
      profile_.functions.resize(draft_->functions.size());
    }
    draft_->function_refs[number] = refs;
    profile_.functions[number].start_line = start_line;
    if (!unknown_.empty()) Keep(UnknownFields::Owner::kFunction, number, unknown_);
  }

  PprofDraft* draft_;
  Profile& profile_;
  ProtoWindow window_;
  std::optional<Error> error_;
  LeafQueue leaves_;
  LabelSets sets_;
  std::vector<Label> labels_;  // of the sample at hand
  std::string unknown_;        // of the message at hand
};

}  // namespace

Error PprofDraft::Mistake(uint64_t offset, const std::string& what) const {
  return {ErrorCode::kCorrupt,
          "pprof protobuf: " + Printable(name) + ": byte " + std::to_string(offset) + ": " + what,
          offset};
}

Status ReadPprofMessages(ByteStream* stream, PprofDraft* draft) {
  return MessageReader(stream, draft).Run();
}

}  // namespace heapgauge
