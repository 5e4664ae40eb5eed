#include "core/formats/pprof/pprof_reader.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/formats/pprof/id_table.h"
#include "core/formats/pprof/proto_cursor.h"
#include "core/formats/pprof/proto_fields.h"
#include "core/formats/pprof/proto_window.h"
#include "core/formats/pprof/string_table.h"
#include "core/model/label_sets.h"
#include "core/model/stack_builder.h"

namespace heapgauge {
namespace {

using namespace profile_proto;  // NOLINT: the field numbers, and nothing else

class PprofReading {
 public:
  PprofReading(ByteStream* stream, std::string name)
      : name_(std::move(name)), window_(stream), stacks_(&profile_), sets_(&profile_) {}

  Result<Profile> Run() {
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
      error_offset_ = 0;
      Bad("the file is empty");
    } else {
      Resolve();
    }
    if (error_) return tl::unexpected<Error>(std::move(*error_));
    return std::move(profile_);
  }

 private:
  struct TypeRefs {
    uint64_t name = 0;
    uint64_t unit = 0;
  };
  struct ModuleRefs {
    uint64_t file = 0;
    uint64_t build_id = 0;
  };
  struct FunctionRefs {
    uint64_t name = 0;
    uint64_t system_name = 0;
    uint64_t file = 0;
  };

  // The first mistake counts. Its place is the field at hand unless told otherwise.
  void Bad(const std::string& what) {
    if (error_) return;
    const uint64_t offset = error_offset_.value_or(window_.offset());
    error_ = Error{
        ErrorCode::kCorrupt,
        "pprof protobuf: " + Printable(name_) + ": byte " + std::to_string(offset) + ": " + what,
        offset};
  }
  void BadAt(uint64_t offset, const std::string& what) {
    error_offset_ = offset;
    Bad(what);
  }
  tl::unexpected<Error> Told(const Error& error) const {
    // The stream says where itself.
    if (!window_.is_damaged()) return tl::unexpected<Error>(error);
    return Fail(error.code,
                "pprof protobuf: " + Printable(name_) + ": byte " + std::to_string(error.offset) +
                    ": " + error.message,
                error.offset);
  }
  // Messages in the field at hand end here.
  void Done(const ProtoCursor& cursor) {
    if (cursor.error() != nullptr) Bad(cursor.error());
  }

  uint64_t Text(uint64_t index) {
    strings_.Use(index, window_.offset());
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
        types_.push_back(ReadType(c->Bytes()));
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
        if (!strings_.Add(c->Bytes())) Bad(strings_.error());
        break;
      case kDropFrames:
        drop_frames_ = Text(c->Unsigned());
        break;
      case kKeepFrames:
        keep_frames_ = Text(c->Unsigned());
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
        period_type_ = ReadType(c->Bytes());
        break;
      case kPeriod:
        profile_.period = c->Signed();
        break;
      case kComment:
        c->ForEachNumber([this](uint64_t index) { comments_.push_back(Text(index)); });
        break;
      case kDefaultSampleType:
        default_type_ = Text(c->Unsigned());
        break;
      case kDocUrl:
        doc_url_ = Text(c->Unsigned());
        break;
      default:
        Keep(UnknownFields::Owner::kProfile, 0, c->raw());
    }
  }

  TypeRefs ReadType(std::string_view bytes) {
    TypeRefs type;
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
    const size_t stack_before = stack_.size();
    labels_.clear();
    ProtoCursor c(bytes);
    while (c.Next()) {
      switch (c.field()) {
        case kSampleLocation:
          c.ForEachNumber(
              [&](uint64_t location) { stack_.push_back(locations_.NumberOf(location, offset)); });
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
      values_in_row_ = count;
      first_sample_ = offset;
    } else if (count != values_in_row_) {
      Bad("a sample has " + std::to_string(count) + " values, those before have " +
          std::to_string(values_in_row_));
    }
    const size_t depth = stack_.size() - stack_before;
    if (depth > Profile::kMaxDepth) {
      Bad("a stack has " + std::to_string(depth) + " frames, " +
          std::to_string(Profile::kMaxDepth) + " are the most");
    }
    if (kNone - profile_.nodes.size() <= stack_.size() || id == kNone - 1) {
      Bad("the profile is too large");
    }
    if (error_) return;
    ends_.push_back(stack_.size());
    row.labels = sets_.Add(labels_);
    profile_.rows.push_back(row);
    if (ends_.size() == kBatch) FindLeaves();
  }

  // The stacks that were read since the last time.
  void FindLeaves() {
    stacks_.Leaves(stack_, ends_, &leaves_);
    const size_t first = profile_.rows.size() - ends_.size();
    for (size_t i = 0; i < ends_.size(); ++i) profile_.rows[first + i].leaf = leaves_[i];
    stack_.clear();
    ends_.clear();
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
    ModuleRefs refs;
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
    const uint32_t number = Define(&mappings_, id, "mapping");
    if (error_) return;
    if (module_of_.size() <= number) module_of_.resize(number + 1, kNone);
    module_of_[number] = index;
    profile_.modules.push_back(std::move(module));
    module_refs_.push_back(refs);
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
    const uint32_t number = Define(&locations_, id, "location");
    if (error_) return;
    location.frame_count = static_cast<uint32_t>(profile_.frames.size()) - location.first_frame;
    for (uint32_t i = 0; i + 1 < location.frame_count; ++i) {
      profile_.frames[location.first_frame + i].inlined = true;
    }
    if (mapping != 0) location.module = mappings_.NumberOf(mapping, window_.offset());
    if (profile_.locations.size() <= number) profile_.locations.resize(locations_.size());
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
    frame.function = functions_.NumberOf(function, window_.offset());
    if (profile_.frames.size() >= kNone - 1) Bad("the profile is too large");
    if (!error_) profile_.frames.push_back(frame);
  }

  uint32_t SmallNumber(uint64_t number) {
    if (number < kNone) return static_cast<uint32_t>(number);
    ++absurd_lines_;
    return 0;
  }

  void ReadFunction(std::string_view bytes) {
    FunctionRefs refs;
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
    const uint32_t number = Define(&functions_, id, "function");
    if (error_) return;
    if (function_refs_.size() <= number) {
      function_refs_.resize(functions_.size());
      profile_.functions.resize(functions_.size());
    }
    function_refs_[number] = refs;
    profile_.functions[number].start_line = start_line;
    if (!unknown_.empty()) Keep(UnknownFields::Owner::kFunction, number, unknown_);
  }

  // All is read: checks that what was named is there, and puts texts in place of their numbers.
  void Resolve() {
    FindLeaves();
    CheckDefined(locations_, "location", "a sample");
    CheckDefined(functions_, "function", "a location");
    if (strings_.size() == 0) BadAt(0, "there is no table of texts, so this is no profile");
    if (strings_.Missing()) {
      BadAt(strings_.largest_use_offset(), "text " + std::to_string(strings_.largest_use()) +
                                               " is named, but there are only " +
                                               std::to_string(strings_.size()));
    }
    if (types_.empty() && !profile_.rows.empty()) {
      BadAt(first_sample_, "there are samples, but nothing says what their values are");
    } else if (!profile_.rows.empty() && values_in_row_ != types_.size()) {
      BadAt(first_sample_, "samples have " + std::to_string(values_in_row_) +
                               " values, but there are " + std::to_string(types_.size()) +
                               " sample types");
    }
    if (error_) return;
    ResolveHeader();
    ResolveModules();
    ResolveFunctions();
    ResolveLabels();
    std::sort(profile_.unknown_fields.begin(), profile_.unknown_fields.end(),
              [](const UnknownFields& a, const UnknownFields& b) {
                return a.owner != b.owner ? a.owner < b.owner : a.id < b.id;
              });
    profile_.locations.shrink_to_fit();
    profile_.frames.shrink_to_fit();
    Note(missing_mappings_, "locations name mappings that are not in the file");
    Note(strings_.not_utf8(), "texts are not UTF-8");
    Note(absurd_lines_, "line numbers are out of range and left out");
  }

  void Note(uint64_t count, const char* what) {
    if (count > 0) {
      profile_.notes.push_back(Printable(name_) + ": " + std::to_string(count) + " " + what);
    }
  }

  void CheckDefined(const IdTable& table, const char* what, const char* user) {
    for (const IdTable::Entry& entry : table.entries()) {
      if (entry.defined) continue;
      BadAt(entry.offset, std::string(user) + " names the " + what + " with the id " +
                              std::to_string(entry.id) + ", which is not there");
      return;
    }
  }

  SampleType TypeOf(const TypeRefs& refs) const {
    return {strings_.Get(refs.name), strings_.Get(refs.unit)};
  }

  void ResolveHeader() {
    for (const TypeRefs& refs : types_) profile_.sample_types.push_back(TypeOf(refs));
    profile_.period_type = TypeOf(period_type_);
    for (const uint64_t comment : comments_) profile_.comments.push_back(strings_.Get(comment));
    profile_.drop_frames = strings_.Get(drop_frames_);
    profile_.keep_frames = strings_.Get(keep_frames_);
    profile_.doc_url = strings_.Get(doc_url_);
    if (default_type_ != 0) {
      const size_t type = profile_.FindType(strings_.Get(default_type_));
      if (type < types_.size()) profile_.default_type = type;
    }
  }

  void ResolveModules() {
    for (size_t i = 0; i < profile_.modules.size(); ++i) {
      profile_.modules[i].path = strings_.Get(module_refs_[i].file);
      profile_.modules[i].build_id = strings_.Get(module_refs_[i].build_id);
    }
    module_of_.resize(mappings_.size(), kNone);
    for (Location& location : profile_.locations) {
      if (location.module == kNone) continue;
      location.module = module_of_[location.module];
      if (location.module == kNone) ++missing_mappings_;
    }
    // The first mapping is the program.
    if (!profile_.modules.empty()) profile_.recording.program = profile_.modules[0].path;
    profile_.recording.duration_ns = profile_.duration_ns > 0 ? profile_.duration_ns : 0;
    profile_.recording.start_unix_ns = profile_.time_ns > 0 ? profile_.time_ns : 0;
  }

  void ResolveFunctions() {
    for (size_t i = 0; i < profile_.functions.size(); ++i) {
      Function& function = profile_.functions[i];
      const FunctionRefs& refs = function_refs_[i];
      function.name = strings_.Get(refs.name);
      function.file = strings_.Get(refs.file);
      if (refs.system_name == 0) {
        function.no_system_name = refs.name != 0;
      } else if (strings_.Get(refs.system_name) != function.name) {
        function.system_name = strings_.Get(refs.system_name);
      }
    }
  }

  void ResolveLabels() {
    LabelStrings texts(&profile_);
    std::vector<StringId> known(strings_.size(), kNone);
    bool changed = false;
    const auto resolve = [&](StringId* id) {
      if (*id == kNone) return;
      StringId& at = known[*id];
      if (at == kNone) {
        const size_t before = profile_.strings.size();
        at = texts.Add(strings_.Get(*id));
        changed = changed || profile_.strings.size() == before;
      }
      *id = at;
    };
    for (Label& label : profile_.labels) {
      resolve(&label.key);
      resolve(&label.text);
      resolve(&label.unit);
    }
    for (const LabelSet& set : profile_.label_sets) {
      changed |= SortLabels(profile_, {profile_.labels.data() + set.first, set.count});
    }
    if (!changed) return;
    // Sets that differed by order, or by texts that are in the file twice, may now be the same.
    std::vector<LabelSet> old;
    old.swap(profile_.label_sets);
    LabelSets again(&profile_);
    std::vector<LabelSetId> now;
    now.reserve(old.size());
    for (const LabelSet& set : old) {
      now.push_back(again.Add({profile_.labels.data() + set.first, set.count}));
    }
    for (Row& row : profile_.rows) {
      if (row.labels != kNone) row.labels = now[row.labels];
    }
  }

  std::string name_;
  ProtoWindow window_;
  Profile profile_;
  std::optional<Error> error_;
  std::optional<uint64_t> error_offset_;

  ProtoStringTable strings_;
  IdTable mappings_;
  IdTable locations_;
  IdTable functions_;
  StackBuilder stacks_;
  LabelSets sets_;
  // Stacks of the samples at hand, end to end, and what they are in the profile.
  static constexpr size_t kBatch = 64;
  std::vector<LocationId> stack_;
  std::vector<size_t> ends_;
  std::vector<NodeId> leaves_;
  std::vector<Label> labels_;  // of the sample at hand
  std::string unknown_;        // of the message at hand
  size_t values_in_row_ = 0;
  uint64_t first_sample_ = 0;
  uint64_t missing_mappings_ = 0;
  uint64_t absurd_lines_ = 0;

  // Numbers of texts, until these are known.
  std::vector<TypeRefs> types_;
  TypeRefs period_type_;
  std::vector<ModuleRefs> module_refs_;
  std::vector<ModuleId> module_of_;  // by number in `mappings_`
  std::vector<FunctionRefs> function_refs_;
  std::vector<uint64_t> comments_;
  uint64_t drop_frames_ = 0;
  uint64_t keep_frames_ = 0;
  uint64_t default_type_ = 0;
  uint64_t doc_url_ = 0;
};

}  // namespace

Result<Profile> ReadPprof(ByteStream* stream, const std::string& name) {
  return PprofReading(stream, name).Run();
}

}  // namespace heapgauge
