#include "core/report/views/leak_owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/report/views/leak_parts.h"

namespace heapgauge {
namespace {

using leaks::Check;
using leaks::LossRecord;
using leaks::OwnerPath;
using leaks::PointerPlace;

constexpr size_t kBlocksOfRecord = 4000;
constexpr size_t kRootsShown = 5;
constexpr size_t kPath = 12;

// The root in words that are the same for all blocks that hang on it.
std::string RootText(const Check& check, const PointerPlace& place, leaks::DataSymbols* symbols) {
  if (place.in == PointerPlace::In::kUnknownHeap) return "heap memory of no known block";
  if (place.in == PointerPlace::In::kBlock) return "a block that is lost itself";
  std::string text = DescribePlace(check, place, symbols);
  const bool by_address =
      place.in != PointerPlace::In::kRoot || place.root == leaks::RootKind::kStack ||
      place.root == leaks::RootKind::kWholeStack || place.root == leaks::RootKind::kThreadLocal;
  if (by_address) text.resize(std::min(text.find(" at 0x"), text.size()));
  // Elements of a global table are one owner.
  const size_t plus = text.find("+0x");
  const size_t comma = text.find(", data of ");
  if (plus != std::string::npos && comma != std::string::npos && plus < comma) {
    text.erase(plus, comma - plus);
  }
  return text;
}

LeakOwner OwnerOf(const LeaksSubject& subject, uint32_t record, uint32_t block,
                  leaks::DataSymbols* symbols) {
  LeakOwner owner;
  owner.record = record;
  owner.block = block;
  owner.path = PathToBlock(*subject.check, block, kPath);
  for (const PointerPlace& place : owner.path.places) {
    owner.places.push_back(DescribePlace(*subject.check, place, symbols));
  }
  return owner;
}

// Who holds the blocks of each record that is asked for.
std::vector<LeakOwner> OwnersOfRecords(const LeaksSubject& subject,
                                       const std::vector<uint32_t>& records,
                                       leaks::DataSymbols* symbols) {
  const Check& check = *subject.check;
  std::vector<LeakOwner> owners;
  std::vector<uint32_t> place(subject.losses->records.size(), kNone);
  std::vector<std::map<std::string, uint64_t>> roots(records.size());
  for (const uint32_t record : records) {
    place[record] = static_cast<uint32_t>(owners.size());
    owners.push_back(OwnerOf(subject, record, subject.losses->records[record].block, symbols));
  }
  for (size_t i = 0; i < check.known.blocks.size(); ++i) {
    const uint32_t at = place[subject.losses->record_of[i]];
    if (at == kNone || owners[at].looked_at >= kBlocksOfRecord) continue;
    ++owners[at].looked_at;
    const OwnerPath path = PathToBlock(check, static_cast<uint32_t>(i), 2);
    if (!path.places.empty()) ++roots[at][RootText(check, path.places.front(), symbols)];
  }
  for (size_t at = 0; at < owners.size(); ++at) {
    owners[at].roots.assign(roots[at].begin(), roots[at].end());
    std::stable_sort(owners[at].roots.begin(), owners[at].roots.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }
  return owners;
}

std::string BlockText(const Check& check, uint32_t number) {
  const leaks::KnownBlock& block = check.known.blocks[number];
  std::string text = fmt::format("block at {:#x} ({} bytes", block.address,
                                 WithCommas(static_cast<double>(block.size)));
  if (check.known.now_ns > block.birth_ns && block.birth_ns != 0) {
    text += fmt::format(", {} old", FormatDuration(check.known.now_ns - block.birth_ns));
  }
  return text + ")";
}

void AddPath(const LeaksSubject& subject, const LeaksOptions& options, const LeakOwner& owner,
             leaks::AllocationFrames* allocation, StyledText* text) {
  const Check& check = *subject.check;
  LeaksOptions brief = options;
  brief.frames = options.frames == 0 ? 0 : std::min<size_t>(options.frames, 4);
  for (size_t i = 0; i < owner.places.size(); ++i) {
    if (owner.path.left_out != 0 && i == owner.path.kept_first) {
      text->Add(fmt::format("      ... {} more blocks on the way\n", owner.path.left_out),
                Style::kDim);
    }
    *text += i == 0 ? "      " : "   -> ";
    text->Add(Printable(owner.places[i]), i == 0 ? Style::kNumber : Style::kPlain).Add("\n");
    const PointerPlace& place = owner.path.places[i];
    if (place.in != PointerPlace::In::kBlock) continue;
    const leaks::KnownBlock& block = check.known.blocks[place.block];
    AddLeakStack(check.known.profile, check.known.stacks[block.stack].leaf, "         ", brief,
                 allocation, text);
  }
  *text += "   -> " + BlockText(check, owner.block) + "\n";
}

}  // namespace

std::optional<uint64_t> AskedAddress(std::string_view asked) {
  const bool is_hex = asked.starts_with("0x");
  if (is_hex) asked.remove_prefix(2);
  return NumberIn<uint64_t>(asked, is_hex ? 16 : 10);
}

Result<std::vector<LeakOwner>> FindLeakOwners(const LeaksSubject& subject, const std::string& asked,
                                              size_t limit, leaks::DataSymbols* symbols) {
  const Check& check = *subject.check;
  const leaks::LossRecords& losses = *subject.losses;
  if (check.look == leaks::Look::kNone) {
    return Fail(ErrorCode::kUnavailable,
                "--who-points-at needs the memory of a running program; a file does not have it");
  }
  if (const auto address = AskedAddress(asked)) {
    const uint32_t block = FindBlock(check.known, *address);
    if (block == leaks::kNoBlock) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("no known block holds {}{}", asked,
                              check.known.exact       ? ""
                              : check.known.sampled() ? "; only sampled blocks are known"
                                                      : "; not every live block is known"));
    }
    return std::vector<LeakOwner>{OwnerOf(subject, losses.record_of[block], block, symbols)};
  }
  auto regex = Regex::CompileTyped(asked);
  if (!regex) return FailField("who-points-at", regex.error().code, regex.error().message);
  const Profile& profile = check.known.profile;
  std::vector<uint32_t> records;
  for (size_t i = losses.records.size(); i-- > 0;) {
    if (limit != 0 && records.size() >= limit) break;
    const NodeId leaf = check.known.stacks[losses.records[i].stack].leaf;
    for (const leaks::StackFrame& frame : leaks::FramesOf(profile, leaf)) {
      const Function* function = FunctionOf(profile, frame);
      if (function == nullptr || !regex->Matches(function->name)) continue;
      records.push_back(static_cast<uint32_t>(i));
      break;
    }
  }
  if (records.empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("no {}block was allocated by a function that matches '{}'",
                            check.known.sampled() ? "sampled " : "", asked));
  }
  return OwnersOfRecords(subject, records, symbols);
}

LeakOwner FindLeakOwner(const LeaksSubject& subject, uint32_t record, leaks::DataSymbols* symbols) {
  return std::move(OwnersOfRecords(subject, {record}, symbols).front());
}

StyledText LeakOwnersText(const LeaksSubject& subject, const LeaksOptions& options,
                          const std::string& asked, const std::vector<LeakOwner>& owners) {
  const Check& check = *subject.check;
  const LeakWords words{!check.known.sampled(), options.layout};
  const bool by_address = AskedAddress(asked).has_value();
  leaks::AllocationFrames allocation(check.known.profile);
  StyledText text;
  for (const LeakOwner& owner : owners) {
    const LossRecord& record = subject.losses->records[owner.record];
    if (by_address) {
      text.Add("The " + BlockText(check, owner.block), Style::kTitle);
      text += fmt::format(" is {}.\n", leaks::KindPhrase(check.verdicts[owner.block].kind));
    } else {
      text.Add(words.Both(record.own), Style::kNumber);
      text += fmt::format(" are {} in loss record {} of {}\n", leaks::KindPhrase(record.kind),
                          WithCommas(record.number),
                          WithCommas(static_cast<double>(subject.losses->records.size())));
    }
    AddLeakStack(check.known.profile, check.known.stacks[record.stack].leaf, "   ", options,
                 &allocation, &text);
    if (!owner.roots.empty()) {
      text.Add("   held by\n", Style::kHeading);
      for (size_t i = 0; i < owner.roots.size() && i < kRootsShown; ++i) {
        text += fmt::format(
            "      {} of {} {}blocks: ", WithCommas(static_cast<double>(owner.roots[i].second)),
            WithCommas(static_cast<double>(owner.looked_at)),
            check.known.sampled() ? "sampled " : "");
        text.Add(Printable(owner.roots[i].first), Style::kNumber).Add("\n");
      }
      if (owner.roots.size() > kRootsShown) {
        text.Add(fmt::format("      {} more\n", owner.roots.size() - kRootsShown), Style::kDim);
      }
    }
    if (owner.places.empty()) {
      text += by_address ? "   Nothing points to it.\n"
                         : "   Nothing points to the largest of them, the " +
                               BlockText(check, owner.block) + ".\n";
    } else {
      text.Add(by_address ? "   the way to it\n" : "   for example\n", Style::kHeading);
      AddPath(subject, options, owner, &allocation, &text);
    }
    if (owner.pointer_count != 0) {
      text.Add(fmt::format("   {} {} to it\n", WithCommas(static_cast<double>(owner.pointer_count)),
                           owner.pointer_count == 1 ? "pointer" : "pointers"),
               Style::kHeading);
      for (const std::string& place : owner.pointers) text += "      " + Printable(place) + "\n";
      if (owner.pointer_count > owner.pointers.size()) {
        text.Add(fmt::format("      {} more\n", owner.pointer_count - owner.pointers.size()),
                 Style::kDim);
      }
    }
    text += "\n";
  }
  return text;
}

Json LeakOwnerJson(const LeaksSubject& subject, const LeakOwner& owner, size_t most_frames) {
  const Check& check = *subject.check;
  const leaks::KnownBlock& block = check.known.blocks[owner.block];
  Json json = {{"record", subject.losses->records[owner.record].number},
               {"kind", KindName(check.verdicts[owner.block].kind)},
               {"address", block.address},
               {"size", block.size}};
  Json path = Json::Array();
  for (size_t i = 0; i < owner.places.size(); ++i) {
    Json place = {{"place", owner.places[i]}, {"address", owner.path.places[i].address}};
    if (owner.path.places[i].block != leaks::kNoBlock) {
      const leaks::KnownBlock& holder = check.known.blocks[owner.path.places[i].block];
      place["block"] = holder.address;
      place["stack"] =
          LeakStackJson(check.known.profile, check.known.stacks[holder.stack].leaf, most_frames);
    }
    path.Add(std::move(place));
  }
  json["path"] = std::move(path);
  json["left_out"] = owner.path.left_out;
  Json roots = Json::Array();
  for (const auto& [root, blocks] : owner.roots) {
    roots.Add({{"root", root}, {"blocks_known", blocks}});
  }
  json["roots"] = std::move(roots);
  json["pointers"] = owner.pointers;
  json["pointer_count"] = owner.pointer_count;
  return json;
}

std::string LeakOwnersJson(const LeaksSubject& subject, const std::vector<LeakOwner>& owners) {
  Json list = Json::Array();
  for (const LeakOwner& owner : owners) list.Add(LeakOwnerJson(subject, owner));
  return Json{{"format", "heapgauge-leak-owners"}, {"version", 1}, {"owners", std::move(list)}}
      .Text();
}

}  // namespace heapgauge
