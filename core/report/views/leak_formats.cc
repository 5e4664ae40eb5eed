// Leaks in the formats of other programs: SARIF, and the xtree of memcheck.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <unordered_map>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/report/views/leak_parts.h"
#include "core/report/views/leaks.h"

namespace heapgauge {
namespace {

using leaks::LossRecord;
using leaks::StackFrame;

struct Rule {
  leaks::Kind kind;
  const char* id;
  const char* name;
  const char* level;
  const char* brief;
  const char* whole;
};

constexpr Rule kRules[] = {
    {leaks::Kind::kDefinite, "definite", "DefinitelyLost", "error", "Memory is definitely lost.",
     "Nothing in the program points to the block any more, so it can never be freed."},
    {leaks::Kind::kIndirect, "indirect", "IndirectlyLost", "warning", "Memory is indirectly lost.",
     "Only blocks that are lost themselves point to the block. Mostly it goes away with the leak "
     "of the block that leads to it."},
    {leaks::Kind::kPossible, "possible", "PossiblyLost", "warning", "Memory is possibly lost.",
     "The only pointers are to the middle of the block, or in memory of which nobody knows "
     "whether it is in use."},
    {leaks::Kind::kReachable, "reachable", "StillReachable", "note", "Memory was not freed.",
     "The program still has a pointer to the block and has not freed it."},
};

size_t RuleOf(leaks::Kind kind) {
  size_t i = 0;
  while (kRules[i].kind != kind) ++i;
  return i;
}

Json Text(std::string_view text) { return {{"text", text}}; }

// A path as a URI: relative ones stay so.
std::string UriOf(std::string_view path) {
  std::string uri = path.substr(0, 1) == "/" ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_' || c == '~' || c == '+';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

Json LocationJson(const Profile& profile, const StackFrame& at) {
  const Function* function = FunctionOf(profile, at);
  Json json = Json::Object();
  const bool named = function != nullptr && !function->placeholder;
  if (named && !function->file.empty()) {
    Json place = {{"artifactLocation", Json{{"uri", UriOf(function->file)}}}};
    const uint32_t line = profile.frames[at.frame].line;
    if (line != 0) place["region"] = Json{{"startLine", line}};
    json["physicalLocation"] = std::move(place);
  }
  if (named) {
    Json logical = {{"fullyQualifiedName", function->name}, {"kind", "function"}};
    if (!function->system_name.empty()) logical["decoratedName"] = function->system_name;
    Json list = Json::Array();
    list.Add(std::move(logical));
    json["logicalLocations"] = std::move(list);
  }
  return json;
}

Json StackJson(const Profile& profile, const std::vector<StackFrame>& stack) {
  Json frames = Json::Array();
  for (const StackFrame& at : stack) {
    Json frame = {{"location", LocationJson(profile, at)}};
    const Module* module = ModuleOf(profile, at);
    if (module != nullptr) frame["module"] = module->path;
    frames.Add(std::move(frame));
  }
  return {{"message", Text("allocated at")}, {"frames", std::move(frames)}};
}

Json ResultJson(const LeaksSubject& subject, const LeaksOptions& options, size_t index) {
  const leaks::Check& check = *subject.check;
  const Profile& profile = check.known.profile;
  const LossRecord& record = subject.losses->records[index];
  const NodeId leaf = check.known.stacks[record.stack].leaf;
  const std::vector<StackFrame> stack = leaks::FramesOf(profile, leaf);
  const size_t rule = RuleOf(record.kind);
  const LeakWords words{!check.known.sampled(), options.layout};
  std::string message = words.Lost(record, nullptr) + " are " + leaks::KindPhrase(record.kind);
  const size_t place = PlaceOfLeak(profile, stack);
  const Function* function = stack.empty() ? nullptr : FunctionOf(profile, stack[place]);
  if (function != nullptr && !function->placeholder) {
    message += ", allocated in " + Printable(function->name);
  }
  Json json = {{"ruleId", kRules[rule].id},
               {"ruleIndex", static_cast<uint64_t>(rule)},
               {"level", kRules[rule].level},
               {"message", Text(message + ".")}};
  if (!stack.empty()) {
    Json locations = Json::Array();
    locations.Add(LocationJson(profile, stack[place]));
    json["locations"] = std::move(locations);
    Json stacks = Json::Array();
    stacks.Add(StackJson(profile, stack));
    json["stacks"] = std::move(stacks);
  }
  json["partialFingerprints"] =
      Json{{"heapgaugeStack/v1",
            std::string(KindName(record.kind)) + ":" + leaks::StackIdOf(profile, leaf).functions}};
  if (subject.changes != nullptr) {
    const leaks::LossChange& change = subject.changes->records[index];
    json["baselineState"] = change.is_new ? "new" : change.any() ? "updated" : "unchanged";
  }
  if (record.suppressed()) {
    Json suppression = {{"kind", "external"}};
    if (subject.suppressions != nullptr) {
      suppression["justification"] = subject.suppressions->rules()[record.suppression].name;
    }
    Json list = Json::Array();
    list.Add(std::move(suppression));
    json["suppressions"] = std::move(list);
  }
  json["properties"] =
      Json{{"bytes", record.own.bytes.value},
           {"blocks", record.own.blocks.value},
           {"indirectBytes", record.indirect.bytes.value},
           {"oldestAgeSeconds", static_cast<double>(leaks::OldestAge(check, record)) / 1e9}};
  return json;
}

// No results are no good news where memory was not looked at.
Json NotLookedJson(const LeaksSubject& subject) {
  std::string text = LeakVerdict(subject);
  for (const std::string& note : subject.check->notes) text += "\n" + Printable(note);
  Json list = Json::Array();
  list.Add({{"level", "error"}, {"message", Text(text)}});
  return list;
}

}  // namespace

size_t PlaceOfLeak(const Profile& profile, const std::vector<StackFrame>& stack) {
  leaks::AllocationFrames allocation(profile);
  const size_t first = allocation.Count(stack);
  for (size_t i = first; i < stack.size(); ++i) {
    const Function* function = FunctionOf(profile, stack[i]);
    if (function == nullptr || function->file.empty()) continue;
    if (profile.frames[stack[i].frame].line != 0) return i;
  }
  return first;
}

std::string LeaksSarif(const LeaksSubject& subject, const LeaksOptions& options) {
  Json rules = Json::Array();
  for (const Rule& rule : kRules) {
    rules.Add({{"id", rule.id},
               {"name", rule.name},
               {"shortDescription", Text(rule.brief)},
               {"fullDescription", Text(rule.whole)},
               {"defaultConfiguration", Json{{"level", rule.level}}}});
  }
  Json results = Json::Array();
  const auto& records = subject.losses->records;
  for (size_t i = records.size(); i-- > 0;) {
    if (subject.check->look == leaks::Look::kNone) break;
    if (!leaks::Has(options.show_kinds, records[i].kind)) continue;
    if (!PassesFilter(subject, options.filter, i)) continue;
    results.Add(ResultJson(subject, options, i));
  }
  Json driver = {{"name", "heapgauge"}, {"version", options.version}, {"rules", std::move(rules)}};
  const bool looked = subject.check->look != leaks::Look::kNone;
  Json invocation = {{"executionSuccessful", looked}};
  if (!looked) invocation["toolExecutionNotifications"] = NotLookedJson(subject);
  if (!subject.check->command_line.empty()) {
    invocation["properties"] = Json{{"checkedCommandLine", subject.check->command_line}};
  }
  Json invocations = Json::Array();
  invocations.Add(std::move(invocation));
  Json run = {{"tool", Json{{"driver", std::move(driver)}}},
              {"invocations", std::move(invocations)},
              {"columnKind", "unicodeCodePoints"},
              {"results", std::move(results)}};
  Json runs = Json::Array();
  runs.Add(std::move(run));
  const Json sarif = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", std::move(runs)}};
  return sarif.Text();
}

namespace {

// As memcheck's --xtree-leak has them, which kcachegrind shows under these names.
constexpr const char* kEvents =
    "event: RB : Reachable Bytes\n"
    "event: PB : Possibly lost Bytes\n"
    "event: IB : Indirectly lost Bytes\n"
    "event: DB : Definitely lost Bytes (direct plus indirect)\n"
    "event: DIB : Definitely Indirectly lost Bytes (subset of DB)\n"
    "event: RBk : reachable Blocks\n"
    "event: PBk : Possibly lost Blocks\n"
    "event: IBk : Indirectly lost Blocks\n"
    "event: DBk : Definitely lost Blocks\n"
    "events: RB PB IB DB DIB RBk PBk IBk DBk\n";
using XtreeCosts = std::array<double, 9>;

XtreeCosts CostsOf(const leaks::LossRecord& record) {
  XtreeCosts costs{};
  const auto kind = static_cast<size_t>(record.kind);
  costs[kind] = record.own.bytes.value;
  costs[5 + kind] = record.own.blocks.value;
  if (record.kind == leaks::Kind::kDefinite) {
    costs[3] += record.indirect.bytes.value;
    costs[4] = record.indirect.bytes.value;
  }
  return costs;
}

std::string CostLine(const std::string& position, const XtreeCosts& costs) {
  std::string text = position;
  for (const double cost : costs) text += fmt::format(" {:.0f}", std::max(std::round(cost), 0.0));
  return text + "\n";
}

// Names are written out once; later the number is enough.
class XtreeNames {
 public:
  std::string operator()(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, numbers_.size() + 1);
    return is_new ? fmt::format("({}) {}", at->second, name) : fmt::format("({})", at->second);
  }

 private:
  std::unordered_map<std::string, size_t> numbers_;
};

struct XtreeFrame {
  std::string file;
  std::string function;
  uint32_t line = 0;
};

XtreeFrame XtreeFrameOf(const Profile& profile, const StackFrame& at) {
  XtreeFrame frame;
  const Function* function = FunctionOf(profile, at);
  const Module* module = ModuleOf(profile, at);
  if (function != nullptr && !function->placeholder) {
    frame.function = Printable(function->name);
    frame.file = Printable(function->file);
    frame.line = profile.frames[at.frame].line;
  } else {
    const uint64_t address = profile.locations[at.location].lookup_address();
    frame.function = module == nullptr ? fmt::format("{:#x}", address)
                                       : fmt::format("{}+{:#x}", Printable(BaseName(module->path)),
                                                     address - module->load_bias);
  }
  if (frame.file.empty()) frame.file = "???";
  return frame;
}

}  // namespace

Status WriteLeaksXtree(const LeaksSubject& subject, TextSink* out) {
  const leaks::Check& check = *subject.check;
  HG_TRY(
      out->Write(fmt::format("# callgrind format\nversion: 1\ncreator: heapgauge\npid: {}\n"
                             "cmd: {}\n\npositions: line\n{}\n",
                             check.pid, Printable(check.command_line), kEvents)));
  XtreeNames files;
  XtreeNames functions;
  XtreeCosts totals{};
  for (const leaks::LossRecord& record : subject.losses->records) {
    if (record.suppressed() || check.look == leaks::Look::kNone) continue;
    const XtreeCosts costs = CostsOf(record);
    for (size_t i = 0; i < costs.size(); ++i) totals[i] += costs[i];
    const NodeId leaf = check.known.stacks[record.stack].leaf;
    const std::vector<StackFrame> stack = leaks::FramesOf(check.known.profile, leaf);
    std::string text;
    for (size_t i = leaks::FramesUpToMain(check.known.profile, stack); i-- > 0;) {
      const XtreeFrame frame = XtreeFrameOf(check.known.profile, stack[i]);
      text += "fl=" + files(frame.file) + "\nfn=" + functions(frame.function) + "\n";
      if (i == 0) {
        text += CostLine(std::to_string(frame.line), costs);
        break;
      }
      const XtreeFrame callee = XtreeFrameOf(check.known.profile, stack[i - 1]);
      text += fmt::format("{}\ncfi={}\ncfn={}\ncalls=0 {}\n", frame.line, files(callee.file),
                          functions(callee.function), callee.line);
      text += CostLine(std::to_string(frame.line), costs);
    }
    if (stack.empty()) {
      text = "fl=" + files("???") + "\nfn=" + functions("(unknown stack)") + "\n" +
             CostLine("0", costs);
    }
    HG_TRY(out->Write(text + "\n"));
  }
  return out->Write(CostLine("totals:", totals));
}

}  // namespace heapgauge
