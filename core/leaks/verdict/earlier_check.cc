#include "core/leaks/verdict/earlier_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "core/base/file.h"
#include "core/base/function_name.h"
#include "core/base/text.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/valgrind_names.h"

namespace heapgauge::leaks {
namespace {

constexpr size_t kMaxText = 4096;

// Takes what is wanted out of the JSON as the parser meets it.
class Handler {
 public:
  bool null() { return true; }
  bool boolean(bool /*value*/) { return true; }
  bool number_integer(int64_t value) { return Number(static_cast<double>(value)); }
  bool number_unsigned(uint64_t value) {
    if (depth_ == 2 && part_ == Part::kCheck && key_ == "unix_ns") check.unix_ns = value;
    return Number(static_cast<double>(value));
  }
  bool number_float(double value, const std::string& /*text*/) { return Number(value); }
  bool string(std::string& text) {
    if (depth_ == 1 && key_ == "format") format = text.substr(0, kMaxText);
    if (depth_ != 3 || part_ != Part::kRecords || text.size() > kMaxText) return true;
    if (key_ == "kind") record_.kind = text;
    if (key_ == "id") record_.stack.places = text;
    if (key_ == "fingerprint") record_.stack.functions = text;
    return true;
  }
  bool binary(const nlohmann::json::binary_t& /*bytes*/) { return false; }
  bool key(const std::string& name) {
    if (depth_ == 1) {
      part_ = name == "records" ? Part::kRecords : name == "check" ? Part::kCheck : Part::kOther;
    }
    if (depth_ <= 3) key_ = name.substr(0, kMaxText);
    return true;
  }
  bool start_object(size_t /*count*/) {
    ++depth_;
    if (depth_ == 3 && part_ == Part::kRecords) record_ = {};
    return true;
  }
  bool end_object() {
    if (depth_ == 3 && part_ == Part::kRecords) {
      if (check.records.size() >= EarlierCheck::kMaxRecords) return false;
      check.records.push_back(record_);
    }
    --depth_;
    return true;
  }
  bool start_array(size_t /*count*/) {
    ++depth_;
    return true;
  }
  bool end_array() {
    --depth_;
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) {
    error_at = position;
    return false;
  }

  EarlierCheck check;
  std::string format;
  uint64_t version = 0;
  uint64_t error_at = kNoOffset;

 private:
  enum class Part { kOther, kCheck, kRecords };

  bool Number(double value) {
    if (!std::isfinite(value)) return true;
    if (depth_ == 1 && key_ == "version") version = value == 1 ? 1 : 2;
    if (depth_ == 2 && part_ == Part::kCheck && key_ == "pid" && value >= 0 && value < 4e9) {
      check.pid = static_cast<uint32_t>(value);
    }
    if (depth_ != 3 || part_ != Part::kRecords) return true;
    if (key_ == "bytes") record_.bytes = value;
    if (key_ == "indirect_bytes") record_.indirect_bytes = value;
    if (key_ == "blocks") record_.blocks = value;
    return true;
  }

  size_t depth_ = 0;
  Part part_ = Part::kOther;
  std::string key_;
  EarlierRecord record_;
};

// FNV-1a: has to be the same in every version.
class Digest {
 public:
  void Add(std::string_view text) {
    for (const char c : text) Byte(static_cast<uint8_t>(c));
    Byte(0);
  }
  void Add(uint64_t number) {
    for (int i = 0; i < 8; ++i) Byte(static_cast<uint8_t>(number >> (8 * i)));
  }
  std::string Text() const { return fmt::format("{:016x}", hash_); }

 private:
  void Byte(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3u; }
  uint64_t hash_ = 0xcbf29ce484222325u;
};

// Figures of earlier records of one kind and stack that no later record has claimed yet.
struct Pool {
  double bytes = 0;
  double indirect_bytes = 0;
  double blocks = 0;
  size_t records = 0;
  bool claimed = false;
};

double Claim(double want, double* left) {
  const double got = std::min(want, *left);
  *left -= got;
  return want - got;
}

void AddTo(LossChange* sum, const LossChange& change) {
  sum->bytes += change.bytes;
  sum->indirect_bytes += change.indirect_bytes;
  sum->blocks += change.blocks;
}

LossChange* SumOf(Changes* changes, std::string_view kind) {
  for (uint32_t k = 0; k < kKinds; ++k) {
    if (kind == KindName(static_cast<Kind>(k))) return &changes->kinds[k];
  }
  if (kind == "unknown") return &changes->unknown;
  return kind == "suppressed" ? &changes->suppressed : nullptr;
}

}  // namespace

StackId StackIdOf(const Profile& profile, NodeId leaf) {
  Digest places;
  Digest functions;
  for (const StackFrame& frame : FramesOf(profile, leaf)) {
    const Function* function = FunctionOf(profile, frame);
    const Module* module = ModuleOf(profile, frame);
    const Location& location = profile.locations[frame.location];
    if (module != nullptr) {
      places.Add(BaseName(module->path));
      places.Add(location.address - module->load_bias);
    } else {
      places.Add(location.address);
    }
    if (function != nullptr && !function->placeholder) {
      const bool by_name = function->system_name.empty() || HasNoLinkerName(*function);
      functions.Add(WithoutLines(by_name ? function->name : function->system_name));
    } else if (module != nullptr) {
      functions.Add(BaseName(module->path));
    }
  }
  return {places.Text(), functions.Text()};
}

EarlierCheck Remember(const Check& check, const LossRecords& losses) {
  EarlierCheck earlier;
  earlier.unix_ns = check.unix_ns;
  earlier.pid = check.pid;
  earlier.records.reserve(losses.records.size());
  for (const LossRecord& record : losses.records) {
    // Whole numbers, as in a file.
    earlier.records.push_back(
        {RecordKind(check, record),
         StackIdOf(check.known.profile, check.known.stacks[record.stack].leaf),
         std::round(record.own.bytes.value), std::round(record.indirect.bytes.value),
         std::round(record.own.blocks.value)});
  }
  return earlier;
}

Result<EarlierCheck> ReadEarlierCheck(const std::string& path) {
  HG_ASSIGN(const std::string text, ReadWholeFile(path, EarlierCheck::kMaxFileBytes + 1));
  if (text.size() > EarlierCheck::kMaxFileBytes) {
    return Fail(ErrorCode::kUnsupported, "'" + path + "' is larger than 1 GB");
  }
  return ParseEarlierCheck(text, path);
}

Result<EarlierCheck> ParseEarlierCheck(std::string_view json, const std::string& name) {
  Handler handler;
  const bool parsed = nlohmann::json::sax_parse(json.begin(), json.end(), &handler);
  if (!parsed && handler.error_at != kNoOffset) {
    return Fail(ErrorCode::kNotRecognized,
                fmt::format("'{}' is no JSON at byte {}; heapgauge leaks --json -o FILE writes "
                            "what is needed here",
                            name, handler.error_at),
                handler.error_at);
  }
  if (!parsed) {
    return Fail(ErrorCode::kUnsupported, "'" + name + "' has more than 4 million records");
  }
  if (handler.format != "heapgauge-leaks") {
    return Fail(ErrorCode::kNotRecognized,
                "'" + name + "' is not the JSON of a leak check; heapgauge leaks --json -o FILE " +
                    "writes it");
  }
  if (handler.version != 1) {
    return Fail(ErrorCode::kUnsupported, "'" + name + "' is of a version that is not known here");
  }
  return std::move(handler.check);
}

Changes CompareChecks(const Check& check, const LossRecords& losses, const EarlierCheck& earlier) {
  std::vector<StackId> ids;
  for (const LossRecord& record : losses.records) {
    ids.push_back(StackIdOf(check.known.profile, check.known.stacks[record.stack].leaf));
  }
  std::unordered_set<std::string_view> places;
  for (const EarlierRecord& record : earlier.records) places.insert(record.stack.places);
  Changes changes;
  changes.other_process = earlier.pid != check.pid;
  if (earlier.unix_ns != 0 && check.unix_ns > earlier.unix_ns) {
    changes.since_ns = check.unix_ns - earlier.unix_ns;
  }
  changes.other_build = !ids.empty() && !earlier.records.empty() &&
                        std::none_of(ids.begin(), ids.end(),
                                     [&](const StackId& id) { return places.contains(id.places); });
  const auto key = [&](std::string_view kind, const StackId& id) {
    return std::string(kind) + " " + (changes.other_build ? id.functions : id.places);
  };

  std::unordered_map<std::string, Pool> pools;
  for (const EarlierRecord& record : earlier.records) {
    Pool& pool = pools[key(record.kind, record.stack)];
    pool.bytes += record.bytes;
    pool.indirect_bytes += record.indirect_bytes;
    pool.blocks += record.blocks;
    ++pool.records;
  }
  changes.records.resize(losses.records.size());
  std::vector<Pool*> pool_of(losses.records.size());
  for (size_t i = losses.records.size(); i-- > 0;) {  // the largest claims first
    const LossRecord& record = losses.records[i];
    LossChange& change = changes.records[i];
    const auto found = pools.find(key(RecordKind(check, record), ids[i]));
    if (found == pools.end()) {
      change = {record.own.bytes.value, record.indirect.bytes.value, record.own.blocks.value, true};
      continue;
    }
    // Figures of a file are whole numbers.
    Pool& pool = found->second;
    change.bytes = Claim(std::round(record.own.bytes.value), &pool.bytes);
    change.indirect_bytes = Claim(std::round(record.indirect.bytes.value), &pool.indirect_bytes);
    change.blocks = Claim(std::round(record.own.blocks.value), &pool.blocks);
    if (!pool.claimed) pool_of[i] = &pool;
    pool.claimed = true;
  }
  // What nobody claimed was lost by the largest.
  for (size_t i = 0; i < pool_of.size(); ++i) {
    if (pool_of[i] == nullptr) continue;
    changes.records[i].bytes -= pool_of[i]->bytes;
    changes.records[i].indirect_bytes -= pool_of[i]->indirect_bytes;
    changes.records[i].blocks -= pool_of[i]->blocks;
  }
  for (size_t i = 0; i < losses.records.size(); ++i) {
    AddTo(SumOf(&changes, RecordKind(check, losses.records[i])), changes.records[i]);
  }
  for (const auto& [name, pool] : pools) {
    if (pool.claimed) continue;
    changes.gone += pool.records;
    changes.gone_bytes += pool.bytes;
    LossChange* sum = SumOf(&changes, std::string_view(name).substr(0, name.find(' ')));
    if (sum != nullptr) AddTo(sum, {-pool.bytes, -pool.indirect_bytes, -pool.blocks, false});
  }
  return changes;
}

const char* RecordKind(const Check& check, const LossRecord& record) {
  if (record.suppressed()) return "suppressed";
  return check.look == Look::kNone ? "unknown" : KindName(record.kind);
}

}  // namespace heapgauge::leaks
