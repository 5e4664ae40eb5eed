#include "core/formats/pprof/pprof_reader.h"

#include <algorithm>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/formats/pprof/pprof_draft.h"
#include "core/formats/pprof/pprof_messages.h"
#include "core/model/label_sets.h"

namespace heapgauge {

// The second half of reading pprof's format: checks that everything that is named is there, and
// puts texts in place of their numbers.
//
// Refuses texts, locations and functions that are missing and samples whose values nothing
// explains; mappings that are missing become a note.

// On success, draft->profile is complete.
Status ResolvePprof(PprofDraft* draft);

Result<Profile> ReadPprof(ByteStream* stream, const std::string& name) {
  PprofDraft draft;
  draft.name = name;
  HG_TRY(ReadPprofMessages(stream, &draft));
  HG_TRY(ResolvePprof(&draft));
  return std::move(draft.profile);
}

namespace {

class Resolver {
 public:
  explicit Resolver(PprofDraft* draft) : draft_(draft), profile_(draft->profile) {}

  Status Run() {
    HG_TRY(CheckDefined(draft_->locations, "location", "a sample"));
    HG_TRY(CheckDefined(draft_->functions, "function", "a location"));
    HG_TRY(CheckTexts());
    HG_TRY(CheckTypes());
    HG_TRY(CheckLengths());
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
    Note(draft_->strings.not_utf8(), "texts are not UTF-8");
    Note(draft_->absurd_lines, "line numbers are out of range and left out");
    return {};
  }

 private:
  tl::unexpected<Error> BadAt(uint64_t offset, const std::string& what) const {
    return tl::unexpected<Error>(draft_->Mistake(offset, what));
  }

  void Note(uint64_t count, const char* what) {
    if (count > 0) {
      profile_.notes.push_back(Printable(draft_->name) + ": " + std::to_string(count) + " " + what);
    }
  }

  Status CheckDefined(const IdTable& table, const char* what, const char* user) const {
    for (const IdTable::Entry& entry : table.entries()) {
      if (entry.defined) continue;
      return BadAt(entry.offset, std::string(user) + " names the " + what + " with the id " +
                                     std::to_string(entry.id) + ", which is not there");
    }
    return {};
  }

  Status CheckTexts() {
    const ProtoStringTable& strings = draft_->strings;
    if (strings.size() == 0) return BadAt(0, "there is no table of texts, so this is no profile");
    if (!strings.Missing()) return {};
    return BadAt(strings.largest_use_offset(), "text " + std::to_string(strings.largest_use()) +
                                                   " is named, but there are only " +
                                                   std::to_string(strings.size()));
  }

  Status CheckTypes() const {
    const size_t types = draft_->types.size();
    if (profile_.rows.empty() || (types != 0 && draft_->values_in_row == types)) return {};
    if (types == 0) {
      return BadAt(draft_->first_sample,
                   "there are samples, but nothing says what their values are");
    }
    return BadAt(draft_->first_sample, "samples have " + std::to_string(draft_->values_in_row) +
                                           " values, but there are " + std::to_string(types) +
                                           " sample types");
  }

  // A text that is in the file once is in memory wherever it is named: one of 100 kB, in ten
  // thousand functions of ten bytes, would be a gigabyte. Files of real tools name paths again and
  // again, and come to two or three times their size.
  Status CheckLengths() const {
    constexpr uint64_t kAlways = uint64_t{64} << 20;
    constexpr uint64_t kTimes = 8;
    const ProtoStringTable& strings = draft_->strings;
    uint64_t sum = 0;
    for (const uint64_t comment : draft_->comments) sum += strings.LengthOf(comment);
    for (const PprofDraft::TypeRefs& refs : draft_->types) {
      sum += strings.LengthOf(refs.name) + strings.LengthOf(refs.unit);
    }
    for (const PprofDraft::ModuleRefs& refs : draft_->module_refs) {
      sum += strings.LengthOf(refs.file) + strings.LengthOf(refs.build_id);
    }
    for (const PprofDraft::FunctionRefs& refs : draft_->function_refs) {
      sum += strings.LengthOf(refs.name) + strings.LengthOf(refs.file);
      if (refs.system_name != refs.name) sum += strings.LengthOf(refs.system_name);
    }
    if (sum <= kAlways + kTimes * draft_->bytes) return {};
    const auto text = [](uint64_t bytes) { return FormatBytes(static_cast<double>(bytes)); };
    return BadAt(strings.longest_offset(),
                 "the longest text, of " + text(strings.longest()) +
                     ", and others are named so often that they would take " + text(sum) +
                     " of memory, by a file of " + text(draft_->bytes) +
                     ": it is damaged, or made to do harm; fetch or record it again");
  }

  SampleType TypeOf(const PprofDraft::TypeRefs& refs) const {
    return {draft_->strings.Get(refs.name), draft_->strings.Get(refs.unit)};
  }

  void ResolveHeader() {
    for (const PprofDraft::TypeRefs& refs : draft_->types)
      profile_.sample_types.push_back(TypeOf(refs));
    profile_.period_type = TypeOf(draft_->period_type);
    for (const uint64_t comment : draft_->comments)
      profile_.comments.push_back(draft_->strings.Get(comment));
    profile_.drop_frames = draft_->strings.Get(draft_->drop_frames);
    profile_.keep_frames = draft_->strings.Get(draft_->keep_frames);
    profile_.doc_url = draft_->strings.Get(draft_->doc_url);
    if (draft_->default_type != 0) {
      const size_t type = profile_.FindType(draft_->strings.Get(draft_->default_type));
      if (type < draft_->types.size()) profile_.default_type = type;
    }
  }

  void ResolveModules() {
    for (size_t i = 0; i < profile_.modules.size(); ++i) {
      profile_.modules[i].path = draft_->strings.Get(draft_->module_refs[i].file);
      profile_.modules[i].build_id = draft_->strings.Get(draft_->module_refs[i].build_id);
    }
    draft_->module_of.resize(draft_->mappings.size(), kNone);
    for (Location& location : profile_.locations) {
      if (location.module == kNone) continue;
      location.module = draft_->module_of[location.module];
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
      const PprofDraft::FunctionRefs& refs = draft_->function_refs[i];
      function.name = draft_->strings.Get(refs.name);
      function.file = draft_->strings.Get(refs.file);
      if (refs.system_name == 0) {
        function.no_system_name = refs.name != 0;
      } else if (draft_->strings.Get(refs.system_name) != function.name) {
        function.system_name = draft_->strings.Get(refs.system_name);
      }
    }
  }

  void ResolveLabels() {
    LabelStrings texts(&profile_);
    std::vector<StringId> known(draft_->strings.size(), kNone);
    bool changed = false;
    const auto resolve = [&](StringId* id) {
      if (*id == kNone) return;
      StringId& at = known[*id];
      if (at == kNone) {
        const size_t before = profile_.strings.size();
        at = texts.Add(draft_->strings.Get(*id));
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

  PprofDraft* draft_;
  Profile& profile_;
  uint64_t missing_mappings_ = 0;
};

}  // namespace

Status ResolvePprof(PprofDraft* draft) { return Resolver(draft).Run(); }

}  // namespace heapgauge
