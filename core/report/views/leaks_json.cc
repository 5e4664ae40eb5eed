#include <cmath>

#include "core/base/json.h"
#include "core/base/short_name.h"
#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/report/views/leak_parts.h"
#include "core/report/views/leaks.h"

namespace heapgauge {
namespace {

using leaks::Amount;
using leaks::Check;
using leaks::LossRecord;
using leaks::StackFrame;

int64_t Whole(double value) {
  return std::isfinite(value) && std::abs(value) < 9e18 ? std::llround(value) : 0;
}

const char* LookName(leaks::Look look) {
  switch (look) {
    case leaks::Look::kNone:
      return "none";
    case leaks::Look::kCopy:
      return "copy";
    case leaks::Look::kOwnCopy:
      return "own copy";
    case leaks::Look::kSaved:
      return "saved";
    case leaks::Look::kInPlace:
      break;
  }
  return "in place";
}

const char* MissingName(leaks::Gap gap) {
  switch (gap) {
    case leaks::Gap::kEvents:
      return "events";
    case leaks::Gap::kYoung:
      return "young blocks";
    case leaks::Gap::kEnd:
      return "end";
    case leaks::Gap::kNone:
      break;
  }
  return "";
}

// Figures of sampled blocks have their 95 % range.
void AddRange(const char* name, const Estimate& estimate, Json* json) {
  const Interval range = Interval95(estimate);
  (*json)[std::string(name) + "_low"] = Whole(range.low);
  (*json)[std::string(name) + "_high"] = Whole(range.high);
}

// `unseen`: what may be there if none of it was sampled, 0 if nothing can be.
Json AmountJson(const Amount& amount, bool exact, double unseen = 0) {
  Json json = {{"bytes", Whole(amount.bytes.value)}, {"blocks", Whole(amount.blocks.value)}};
  if (!exact) {
    AddRange("bytes", amount.bytes, &json);
    AddRange("blocks", amount.blocks, &json);
    if (amount.known == 0 && unseen > 0) json["bytes_high"] = Whole(unseen);
    json["sampled_blocks"] = amount.known;
  }
  return json;
}

Json ChangeJson(const leaks::LossChange& change) {
  return {{"new", change.is_new},
          {"bytes", Whole(change.bytes)},
          {"indirect_bytes", Whole(change.indirect_bytes)},
          {"blocks", Whole(change.blocks)}};
}

}  // namespace

Json LeakRecordJson(const LeaksSubject& subject, size_t index, size_t most_frames) {
  const Check& check = *subject.check;
  const Profile& profile = check.known.profile;
  const LossRecord& record = subject.losses->records[index];
  const NodeId leaf = check.known.stacks[record.stack].leaf;
  const leaks::StackId id = leaks::StackIdOf(profile, leaf);
  Json json = {{"number", record.number}, {"kind", RecordKind(check, record)}};
  if (record.suppressed()) {
    json["suppressed_kind"] = check.look == leaks::Look::kNone ? "unknown" : KindName(record.kind);
    if (subject.suppressions != nullptr) {
      json["suppression"] = subject.suppressions->rules()[record.suppression].name;
    }
  }
  json["bytes"] = Whole(record.own.bytes.value);
  json["blocks"] = Whole(record.own.blocks.value);
  json["indirect_bytes"] = Whole(record.indirect.bytes.value);
  json["indirect_blocks"] = Whole(record.indirect.blocks.value);
  if (check.known.sampled()) {
    AddRange("bytes", record.own.bytes, &json);
    AddRange("blocks", record.own.blocks, &json);
    json["sampled_blocks"] = record.own.known;
    json["sampled_blocks_of_stack"] = record.stack_total.known;
  }
  if (record.heuristic != leaks::Heuristic::kNone) {
    json["heuristic"] = HeuristicName(record.heuristic);
  }
  json["oldest_age_ns"] = leaks::OldestAge(check, record);
  json["newest_age_ns"] = leaks::NewestAge(check, record);
  if (record.block < check.known.blocks.size()) {
    json["example_address"] = check.known.blocks[record.block].address;
    json["example_size"] = check.known.blocks[record.block].size;
  }
  if (subject.changes != nullptr) json["change"] = ChangeJson(subject.changes->records[index]);
  json["id"] = id.places;
  json["fingerprint"] = id.functions;
  json["stack"] = LeakStackJson(profile, leaf, most_frames);
  return json;
}

Json LeakStackJson(const Profile& profile, NodeId leaf, size_t most_frames) {
  Json stack = Json::Array();
  size_t taken = 0;
  for (const StackFrame& frame : leaks::FramesOf(profile, leaf)) {
    if (taken++ == most_frames) break;
    stack.Add(LeakFrameJson(profile, frame));
  }
  return stack;
}

Json LeakCheckJson(const Check& check) {
  return {{"pid", check.pid},
          {"executable", check.executable},
          {"command_line", check.command_line},
          {"unix_ns", check.unix_ns},
          {"exact", check.known.exact},
          {"missing", MissingName(check.known.gap)},
          {"at_exit", check.at_exit},
          {"look", LookName(check.look)},
          {"pause_ns", check.pause_ns},
          {"threads", check.threads},
          {"scanned_bytes", check.scanned_bytes},
          {"scan_cpu_ns", check.scan_ns}};
}

Json LeakSummaryJson(const LeaksSubject& subject, const LeaksOptions& options) {
  const Check& check = *subject.check;
  const leaks::LossRecords& losses = *subject.losses;
  const bool exact = !check.known.sampled();
  Json json = {{"verdict", LeakVerdict(subject, options.filter)}};
  // Without a look at memory no block has one of the kinds.
  const bool looked = check.look != leaks::Look::kNone;
  const double unseen = UnseenLeakBytes(check);
  Amount unknown;
  for (uint32_t k = leaks::kKinds; k-- > 0;) {
    if (!looked) unknown.Add(losses.kinds[k]);
    json[KindName(static_cast<leaks::Kind>(k))] =
        AmountJson(looked ? losses.kinds[k] : Amount(), exact, looked ? unseen : 0);
  }
  json["unknown"] = AmountJson(unknown, exact, looked ? 0 : unseen);
  json["suppressed"] = AmountJson(losses.suppressed, exact);
  Json heuristics = Json::Object();
  for (uint32_t h = 1; h < leaks::kHeuristics; ++h) {
    if (losses.heuristics[h].known == 0) continue;
    heuristics[HeuristicName(static_cast<leaks::Heuristic>(h))] =
        AmountJson(losses.heuristics[h], exact);
  }
  json["heuristics"] = std::move(heuristics);
  json["in_use"] = AmountJson(losses.in_use, exact, unseen);
  json["allocations"] = check.allocations;
  json["frees"] = check.frees;
  json["allocated_bytes"] = check.allocated_bytes;
  json["records"] = losses.records.size();
  json["errors"] = CountLeakErrors(subject, options).records;
  if (subject.changes != nullptr) {
    Json changes = Json::Object();
    for (uint32_t k = leaks::kKinds; k-- > 0;) {
      changes[KindName(static_cast<leaks::Kind>(k))] = ChangeJson(subject.changes->kinds[k]);
    }
    changes["unknown"] = ChangeJson(subject.changes->unknown);
    changes["suppressed"] = ChangeJson(subject.changes->suppressed);
    changes["gone_records"] = subject.changes->gone;
    changes["gone_bytes"] = Whole(subject.changes->gone_bytes);
    json["changes"] = std::move(changes);
  }
  return json;
}

Json LeakSuppressionsJson(const LeaksSubject& subject) {
  Json list = Json::Array();
  if (subject.suppressions == nullptr) return list;
  const auto& rules = subject.suppressions->rules();
  std::vector<Amount> used(rules.size());
  for (const LossRecord& record : subject.losses->records) {
    if (record.suppressed()) used[record.suppression].Add(record.own);
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    if (used[i].known == 0) continue;
    Json json = {{"name", rules[i].name}, {"file", rules[i].file}, {"line", rules[i].line}};
    json.Merge(AmountJson(used[i], !subject.check->known.sampled()));
    list.Add(std::move(json));
  }
  return list;
}

Json LeakFrameJson(const Profile& profile, const StackFrame& at) {
  const Function* function = FunctionOf(profile, at);
  const Module* module = ModuleOf(profile, at);
  const Location& location = profile.locations[at.location];
  Json json = Json::Object();
  if (function != nullptr && !function->placeholder) {
    json["function"] = function->name;
    if (std::string label = ShortName(function->name); label != function->name) {
      json["label"] = std::move(label);
    }
    if (!function->system_name.empty() && function->system_name != function->name) {
      json["linker_name"] = function->system_name;
    }
    if (!function->file.empty()) json["file"] = function->file;
    if (profile.frames[at.frame].line != 0) json["line"] = profile.frames[at.frame].line;
  }
  if (at.frame != kNone && profile.frames[at.frame].inlined) json["inlined"] = true;
  if (module != nullptr) {
    json["module"] = module->path;
    json["module_offset"] = location.address - module->load_bias;
  }
  json["address"] = location.address;
  return json;
}

Status WriteLeaksJson(const LeaksSubject& subject, const LeaksOptions& options, TextSink* out) {
  HG_TRY(out->Write("{\"format\": \"heapgauge-leaks\", \"version\": 1"));
  HG_TRY(out->Write(",\n\"check\": " + LeakCheckJson(*subject.check).Line()));
  HG_TRY(out->Write(",\n\"summary\": " + LeakSummaryJson(subject, options).Line()));
  if (subject.suspects != nullptr) {
    HG_TRY(out->Write(",\n\"suspects\": " + LeakSuspectsJson(subject).Line()));
  }
  HG_TRY(out->Write(",\n\"suppressions\": " + LeakSuppressionsJson(subject).Line()));
  HG_TRY(out->Write(",\n\"notes\": " + Json(subject.check->notes).Line()));
  HG_TRY(out->Write(",\n\"records\": ["));
  bool first = true;
  for (size_t i = subject.losses->records.size(); i-- > 0;) {
    if (!PassesFilter(subject, options.filter, i)) continue;
    HG_TRY(out->Write((first ? "\n" : ",\n") + LeakRecordJson(subject, i).Line()));
    first = false;
  }
  return out->Write("\n]}\n");
}

}  // namespace heapgauge
