#include "core/leaks/verdict/loss_records.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/function_name.h"
#include "core/base/text.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/leaks/verdict/valgrind_names.h"
#include "wire/gauge_format.h"

namespace heapgauge::leaks {
namespace {

// Whether a line is about the frame of the allocating function.
bool MatchesAllocator(const SuppressionFrame& pattern, uint32_t function) {
  // The library of Valgrind's that has them all.
  if (pattern.what == SuppressionFrame::What::kObject) {
    return pattern.pattern.find("vgpreload_") != std::string::npos;
  }
  return pattern.what == SuppressionFrame::What::kFunction &&
         FitsAllocator(pattern.pattern, function);
}

// Arguments of templates are written in different ways, and not compared.
bool MatchesInlined(std::string_view glob, std::string_view name) {
  if (MatchesGlob(glob, name)) return true;
  const size_t arguments = glob.find('<');
  return arguments != std::string_view::npos && arguments != 0 && !glob.starts_with("operator") &&
         arguments == name.find('<') &&
         MatchesGlob(glob.substr(0, arguments), name.substr(0, arguments));
}

}  // namespace

SuppressionMatcher::SuppressionMatcher(const Suppressions& suppressions, const Profile& profile)
    : suppressions_(suppressions), profile_(profile) {
  for (size_t i = 0; i < suppressions.rules().size(); ++i) {
    if (!suppressions.rules()[i].pattern.empty()) lsan_.push_back(static_cast<uint32_t>(i));
  }
}

uint32_t SuppressionMatcher::Match(NodeId leaf, Kind kind, uint32_t function) {
  const uint64_t key =
      uint64_t{leaf} << 16 | uint64_t{function & 0xff} << 8 | static_cast<uint64_t>(kind);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const uint32_t rule = Find(FramesOf(profile_, leaf), kind, function & 0xff);
  known_.emplace(key, rule);
  return rule;
}

uint32_t SuppressionMatcher::Find(const std::vector<StackFrame>& stack, Kind kind,
                                  uint32_t function) {
  const std::vector<SuppressionRule>& rules = suppressions_.rules();
  uint32_t best = kNone;
  if (kind != Kind::kReachable) {
    for (const StackFrame& frame : stack) best = std::min(best, LsanRuleOf(frame));
  }
  // The agent's stacks begin with the caller of malloc, Valgrind's with malloc. That caller may be
  // operator new, which Valgrind replaces: there it is the innermost frame, or that of new[].
  std::vector<StackFrame> outside;
  size_t operators = 0;
  while (operators < stack.size()) {
    const Function* const inner = FunctionOf(profile_, stack[operators]);
    if (inner == nullptr || !IsAllocator(SystemName(*inner))) break;
    ++operators;
  }
  uint32_t outside_function = function;
  if (operators != 0) {
    outside.assign(stack.begin() + static_cast<ptrdiff_t>(operators), stack.end());
    if (SystemName(*FunctionOf(profile_, stack[operators - 1])).starts_with("_Zn")) {
      outside_function = static_cast<uint32_t>(wire::AllocationFunction::kNew);
    }
  }
  const size_t end = std::min<size_t>(rules.size(), best);
  for (size_t i = 0; i < end; ++i) {
    const SuppressionRule& rule = rules[i];
    if (!rule.pattern.empty() || !Has(rule.kinds, kind)) continue;
    // People who know their own functions leave the allocator's out. A first line that fits it is
    // about it.
    const bool has_allocator =
        !rule.frames.empty() && MatchesAllocator(rule.frames.front(), function);
    if ((!has_allocator && Matches(rule, stack, kNotCalled)) || Matches(rule, stack, function) ||
        (!outside.empty() && Matches(rule, outside, outside_function))) {
      return static_cast<uint32_t>(i);
    }
  }
  return best;
}

// Unless kNotCalled, the stack has one more frame in front, that of the function `called`.
bool SuppressionMatcher::Matches(const SuppressionRule& rule, const std::vector<StackFrame>& stack,
                                 uint32_t called) {
  using What = SuppressionFrame::What;
  const size_t extra = called == kNotCalled ? 0 : 1;
  const std::vector<SuppressionFrame>& frames = rule.frames;
  const size_t depth = stack.size() + extra;
  const auto matches_at = [&](const SuppressionFrame& pattern, size_t i) {
    return i < extra ? MatchesAllocator(pattern, called) : Matches(pattern, stack[i - extra]);
  };
  size_t p = 0;
  size_t f = 0;
  size_t any = SIZE_MAX;  // the last "..."
  size_t mark = 0;
  while (p < frames.size()) {
    if (frames[p].what == What::kAny) {
      any = p++;
      mark = f;
    } else if (f < depth && matches_at(frames[p], f)) {
      ++p;
      ++f;
    } else if (any != SIZE_MAX && mark < depth) {
      p = any + 1;
      f = ++mark;
    } else {
      return false;
    }
  }
  return true;  // outer frames do not matter
}

bool SuppressionMatcher::Matches(const SuppressionFrame& pattern, const StackFrame& frame) {
  using What = SuppressionFrame::What;
  const std::string_view glob = pattern.pattern;
  if (pattern.what == What::kObject) {
    const Module* module = ModuleOf(profile_, frame);
    return module != nullptr &&
           (MatchesGlob(glob, module->path) || MatchesGlob(glob, ResolvedOf(*module)));
  }
  const Function* function = FunctionOf(profile_, frame);
  if (function == nullptr || function->placeholder) {
    return pattern.what == What::kFunction && glob == "*";
  }
  if (pattern.what == What::kSource) {
    if (pattern.line != 0 && profile_.frames[frame.frame].line != pattern.line) return false;
    return MatchesGlob(glob, function->file) || MatchesGlob(glob, BaseName(function->file));
  }
  if (MatchesGlob(glob, SystemName(*function)) || MatchesGlob(glob, function->name)) return true;
  if (IsInlined(profile_, frame) && MatchesInlined(glob, InlinedName(*function))) return true;
  const std::string_view name = SystemName(*function);
  if ((name.starts_with("__") || glob.starts_with("__")) &&
      MatchesGlob(PublicName(glob), PublicName(name))) {
    return true;
  }
  if (name.starts_with("_ZN") && MatchesGlob(OneOfItsKind(glob), OneOfItsKind(name))) return true;
  if (glob == kBelowMain && IsBelowMain(name)) return true;
  // The linker name that somebody else knows, or a pattern of it.
  if ((glob.starts_with("_Z") || glob.starts_with("*")) && HasNoLinkerName(*function)) {
    const std::string local = LocalPattern(*function);
    if (local != "*" && MatchesGlob(local, glob)) return true;
  }
  // Parameters can be left out, as nobody remembers them.
  return glob.find('(') == std::string_view::npos &&
         MatchesGlob(glob, WithoutParameters(function->name));
}

const std::string& SuppressionMatcher::ResolvedOf(const Module& module) {
  const auto [known, is_new] = resolved_.try_emplace(&module);
  if (is_new) known->second = KernelPath(module.path);
  return known->second;
}

uint32_t SuppressionMatcher::LsanRuleOf(const StackFrame& frame) {
  if (lsan_.empty()) return kNone;
  // Frames of a location that is not known have no number; a location's number serves as well.
  const uint32_t key = frame.frame == kNone ? frame.location | 0x80000000u : frame.frame;
  const auto known = by_frame_.find(key);
  if (known != by_frame_.end()) return known->second;
  const Module* module = ModuleOf(profile_, frame);
  const Function* function = FunctionOf(profile_, frame);
  uint32_t found = kNone;
  for (const uint32_t rule : lsan_) {
    const std::string& pattern = suppressions_.rules()[rule].pattern;
    const bool matches =
        (module != nullptr && (MatchesTemplate(pattern, module->path) ||
                               MatchesTemplate(pattern, BaseName(module->path)))) ||
        (function != nullptr && !function->placeholder &&
         (MatchesTemplate(pattern, function->name) ||
          MatchesTemplate(pattern, SystemName(*function)) ||
          MatchesTemplate(pattern, WithoutParameters(function->name)) ||
          (!function->file.empty() && MatchesTemplate(pattern, function->file))));
    if (matches) {
      found = rule;
      break;
    }
  }
  by_frame_.emplace(key, found);
  return found;
}

namespace {

size_t FramesThatCount(Resolution resolution) {
  switch (resolution) {
    case Resolution::kLow:
      return 2;
    case Resolution::kMedium:
      return 4;
    case Resolution::kHigh:
      break;
  }
  return SIZE_MAX;
}

// A number for each stack; those that count as one have the same.
std::vector<uint32_t> ClassesOf(const Check& check, Resolution resolution) {
  const Profile& profile = check.known.profile;
  const size_t most = FramesThatCount(resolution);
  AllocationFrames allocation(profile);
  std::unordered_map<std::string, uint32_t> classes;
  std::unordered_map<NodeId, uint32_t> of_leaf;
  std::vector<uint32_t> result;
  result.reserve(check.known.stacks.size());
  std::string key;
  for (const KnownBlocks::Stack& stack : check.known.stacks) {
    const auto seen = of_leaf.find(stack.leaf);
    if (seen != of_leaf.end()) {
      result.push_back(seen->second);
      continue;
    }
    key.clear();
    size_t skip = 0;
    if (most != SIZE_MAX) {
      // Calls that were inlined are part of the call that is really there.
      const std::vector<StackFrame> frames = FramesOf(profile, stack.leaf);
      const size_t count = allocation.Count(frames);
      for (size_t i = 1; i <= count; ++i) skip += frames[i].location != frames[i - 1].location;
    }
    size_t taken = 0;
    for (NodeId node = stack.leaf; node != kNone; node = profile.nodes[node].parent) {
      if (skip > 0) {
        --skip;
        continue;
      }
      if (taken++ == most) break;
      const LocationId id = profile.nodes[node].location;
      const uint64_t address = id == kNone ? 0 : profile.locations[id].address;
      const uint64_t word = address != 0 ? address : uint64_t{id} << 32 | 1;
      key.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
    const auto number = static_cast<uint32_t>(classes.size());
    const uint32_t found = classes.emplace(key, number).first->second;
    of_leaf.emplace(stack.leaf, found);
    result.push_back(found);
  }
  return result;
}

Verdict VerdictOf(const Check& check, size_t block) {
  if (block < check.verdicts.size()) return check.verdicts[block];
  Verdict verdict;
  verdict.kind = Kind::kReachable;
  return verdict;
}

// The rule that silences each block, kNone if none does.
std::vector<uint32_t> SuppressionOf(const Check& check, const Suppressions* suppressions) {
  const std::vector<KnownBlock>& blocks = check.known.blocks;
  std::vector<uint32_t> rules(blocks.size(), kNone);
  if (suppressions == nullptr || suppressions->rules().empty()) return rules;
  SuppressionMatcher matcher(*suppressions, check.known.profile);
  for (size_t i = 0; i < blocks.size(); ++i) {
    rules[i] = matcher.Match(check.known.stacks[blocks[i].stack].leaf, VerdictOf(check, i).kind,
                             blocks[i].function);
  }
  // Whoever says leak:f in LeakSanitizer's words means f's block with all that hangs on it.
  for (size_t i = 0; i < blocks.size(); ++i) {
    const uint32_t leader = VerdictOf(check, i).leader;
    if (rules[i] != kNone || leader >= blocks.size() || rules[leader] == kNone) continue;
    if (suppressions->rules()[rules[leader]].with_indirect) rules[i] = rules[leader];
  }
  return rules;
}

bool Before(const LossRecord& a, const LossRecord& b) {
  if (a.total_bytes() != b.total_bytes()) return a.total_bytes() < b.total_bytes();
  // What is definitely lost comes first among equals, as memcheck has it.
  if (a.kind != b.kind) return a.kind > b.kind;
  if (a.own.blocks.value != b.own.blocks.value) return a.own.blocks.value < b.own.blocks.value;
  return a.stack < b.stack;
}

}  // namespace

void Amount::Add(const KnownBlock& block) {
  // A block that was taken with probability p stands for 1/p; core/model/estimate.h has the sums.
  const double size = static_cast<double>(block.size);
  const double weight = block.weight > 1 ? block.weight : 1;
  const double variance = weight * (weight - 1);
  bytes.Add({size * weight, size * size * variance, size * (weight - 1), size,
             size * size * size * variance});
  blocks.Add({weight, variance, weight - 1, 1, variance});
  ++known;
}

void Amount::Add(const Amount& other) {
  bytes.Add(other.bytes);
  blocks.Add(other.blocks);
  known += other.known;
}

LossRecords MakeLossRecords(const Check& check, const LossOptions& options) {
  const std::vector<KnownBlock>& blocks = check.known.blocks;
  const std::vector<uint32_t> classes = ClassesOf(check, options.resolution);
  const std::vector<uint32_t> rules = SuppressionOf(check, options.suppressions);
  LossRecords result;
  std::vector<Amount> of_class(classes.size());
  std::vector<uint32_t> class_of;  // of each record
  std::map<std::tuple<uint32_t, Kind, uint32_t>, uint32_t> index;
  result.record_of.resize(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    const KnownBlock& block = blocks[i];
    const Verdict verdict = VerdictOf(check, i);
    const uint32_t stack_class = classes[block.stack];
    const auto [at, is_new] =
        index.try_emplace({stack_class, verdict.kind, rules[i]}, result.records.size());
    if (is_new) {
      LossRecord record;
      record.kind = verdict.kind;
      record.suppression = rules[i];
      record.stack = block.stack;
      record.block = static_cast<uint32_t>(i);
      record.heuristic = verdict.heuristic;
      result.records.push_back(record);
      class_of.push_back(stack_class);
    }
    result.record_of[i] = at->second;
    LossRecord& record = result.records[at->second];
    record.own.Add(block);
    record.oldest_birth_ns = std::min(record.oldest_birth_ns, block.birth_ns);
    record.newest_birth_ns = std::max(record.newest_birth_ns, block.birth_ns);
    if (block.size > blocks[record.block].size) record.block = static_cast<uint32_t>(i);
    if (verdict.heuristic != record.heuristic) record.heuristic = Heuristic::kNone;
    of_class[stack_class].Add(block);
    result.in_use.Add(block);
    if (rules[i] != kNone) {
      result.suppressed.Add(block);
    } else {
      result.kinds[static_cast<size_t>(verdict.kind)].Add(block);
      if (verdict.kind == Kind::kReachable) {
        result.heuristics[static_cast<size_t>(verdict.heuristic)].Add(block);
      }
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Verdict verdict = VerdictOf(check, i);
    if (verdict.kind != Kind::kIndirect || verdict.leader >= blocks.size()) continue;
    result.records[result.record_of[verdict.leader]].indirect.Add(blocks[i]);
  }
  for (size_t r = 0; r < result.records.size(); ++r) {
    result.records[r].stack_total = of_class[class_of[r]];
    result.records[r].number = static_cast<uint32_t>(r);
  }
  std::sort(result.records.begin(), result.records.end(), Before);
  std::vector<uint32_t> place(result.records.size());
  for (size_t r = 0; r < result.records.size(); ++r) {
    place[result.records[r].number] = static_cast<uint32_t>(r);
    result.records[r].number = static_cast<uint32_t>(r + 1);
  }
  for (uint32_t& record : result.record_of) record = place[record];
  return result;
}

uint64_t OldestAge(const Check& check, const LossRecord& record) {
  return check.known.now_ns > record.oldest_birth_ns ? check.known.now_ns - record.oldest_birth_ns
                                                     : 0;
}

uint64_t NewestAge(const Check& check, const LossRecord& record) {
  return check.known.now_ns > record.newest_birth_ns ? check.known.now_ns - record.newest_birth_ns
                                                     : 0;
}

namespace {

bool IsLost(const Check& check, const LossRecords& losses, size_t block) {
  const Kind kind = check.verdicts[block].kind;
  return (kind == Kind::kDefinite || kind == Kind::kIndirect) &&
         !losses.records[losses.record_of[block]].suppressed();
}

}  // namespace

Profile LostProfile(const Check& check, const LossRecords& losses, bool blocks) {
  struct OfStack {
    Amount live;
    Amount lost;
  };
  std::vector<OfStack> stacks(check.known.stacks.size());
  for (size_t i = 0; i < check.known.blocks.size(); ++i) {
    const KnownBlock& block = check.known.blocks[i];
    stacks[block.stack].live.Add(block);
    if (IsLost(check, losses, i)) stacks[block.stack].lost.Add(block);
  }
  Profile profile = check.known.profile;
  profile.rows.clear();
  profile.values.clear();
  profile.estimates.clear();
  profile.blocks.clear();  // they name rows
  profile.sample_types = {{"inuse_objects", "count"},
                          {"inuse_space", "bytes"},
                          {"lost_objects", "count"},
                          {"lost_space", "bytes"}};
  profile.default_type = blocks ? 2 : 3;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const OfStack& of = stacks[i];
    if (of.lost.known == 0) continue;
    Row row;
    row.leaf = check.known.stacks[i].leaf;
    row.labels = check.known.stacks[i].labels;
    if (check.known.sampled()) row.samples = row.live_samples = of.lost.known;
    profile.rows.push_back(row);
    for (const Estimate& estimate :
         {of.live.blocks, of.live.bytes, of.lost.blocks, of.lost.bytes}) {
      profile.estimates.push_back(estimate);
    }
  }
  profile.RoundEstimates();
  if (!check.known.sampled()) profile.estimates.clear();  // nothing was estimated
  return profile;
}

}  // namespace heapgauge::leaks
