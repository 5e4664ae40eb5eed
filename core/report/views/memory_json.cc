#include "core/report/views/memory_json.h"

#include <map>
#include <vector>

#include "core/base/json.h"
#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/report/labels.h"
#include "core/report/views/memory.h"
#include "core/report/views/stats.h"
#include "core/report/views/trace_parts.h"

namespace heapgauge {
namespace {

Json StatisticsJson(const MemorySurvey& s) {
  const wire::AllocatorStatistics& t = *s.statistics;
  Json json = {{"fresh", s.statistics_are_fresh}, {"time_ns", t.time_ns}};
  const auto add = [&](uint32_t bit, const char* key, uint64_t value) {
    if ((t.mask & bit) != 0) json[key] = value;
  };
  add(kHasMapped, "mapped_bytes", t.mapped_bytes);
  add(kHasResident, "resident_bytes", t.resident_bytes);
  add(kHasInUse, "in_use_bytes", t.in_use_bytes);
  add(kHasFree, "free_bytes", t.free_bytes);
  add(kHasCached, "cached_bytes", t.cached_bytes);
  add(kHasMetadata, "metadata_bytes", t.metadata_bytes);
  if (t.arenas != 0) json["arenas"] = t.arenas;
  return json;
}

Json CgroupJson(const CgroupMemory& c) {
  Json json = {{"version", c.version},
               {"path", c.path},
               {"usage_bytes", c.usage},
               {"limited_path", c.limited_path},
               {"high_bytes", c.high},
               {"swap_bytes", c.swap},
               {"reclaimable_bytes", c.reclaimable},
               {"oom_kills", c.oom_kills}};
  json["limit_bytes"] = c.has_limit() ? Json(c.limit) : Json(nullptr);
  if (c.has_limit()) json["room_bytes"] = c.room();
  if (c.pressure_some >= 0) json["pressure_some_avg10"] = c.pressure_some;
  if (c.pressure_full >= 0) json["pressure_full_avg10"] = c.pressure_full;
  return json;
}

}  // namespace

std::string MemoryJson(const MemorySurvey& s, const MemoryOptions& options) {
  const Accounting& a = s.accounting;
  Json json = {{"program", s.recording.program},
               {"pid", s.recording.pid},
               {"state", StateName(s.recording.state)},
               {"live", s.live},
               {"time_ns", s.time_ns},
               {"resident_bytes", a.resident},
               {"swapped_bytes", s.status.swapped},
               {"peak_resident_bytes", s.status.peak_resident},
               {"coarse", a.coarse}};
  Json parts = Json::Object();
  for (size_t i = 0; i < kParts; ++i) {
    parts[PartKey(static_cast<Part>(i))] = a.part(static_cast<Part>(i));
  }
  json["parts"] = parts;
  json["heap"] = {{"allocator", s.recording.allocator},
                  {"resident_bytes", a.heap_resident},
                  {"by_statistics_bytes", a.heap_by_statistics},
                  {"live_estimate",
                   {{"value", a.live.bytes.value},
                    {"low", a.live_range.low},
                    {"high", a.live_range.high},
                    {"resident", a.live.resident},
                    {"capped", a.live_is_capped}}},
                  {"live_objects", a.live.objects},
                  {"rounding_estimate", a.live.rounding}};
  json["program_clean_bytes"] = s.program_clean;
  json["program_dirty_bytes"] = s.program_dirty;
  json["clean_file_bytes"] = s.clean_file;
  json["lazily_freed_bytes"] = s.lazily_freed;
  json["threads"] = s.status.threads;
  json["stacks"] = s.stacks;
  json["records_mappings"] = s.records_mappings;
  if (s.statistics) json["statistics"] = StatisticsJson(s);
  if (s.cgroup) json["cgroup"] = CgroupJson(*s.cgroup);
  if (s.growth.known()) {
    json["growth"] = {{"bytes_per_second", s.growth.bytes_per_second},
                      {"seconds", s.growth.seconds},
                      {"of", s.growth.of_resident ? "resident" : "live"}};
  }
  Json mapped = Json::Array();
  for (const MappedRow& m : options.mapped) {
    mapped.Add({{"function", m.function},
                {"resident_bytes", m.resident},
                {"bytes", m.bytes},
                {"mappings", m.mappings}});
  }
  json["mmap"] = mapped;
  if (s.live && !a.coarse) json["pressure"] = PressureText(s);
  json["notes"] = s.notes;
  if (options.mappings) {
    Json list = Json::Array();
    for (const Piece& piece : s.pieces) {
      const MappingUsage& m = s.smaps.mappings[piece.mapping];
      list.Add({{"start", piece.start},
                {"end", piece.end},
                {"owner", OwnerName(piece.owner)},
                {"resident_bytes", piece.resident},
                {"name", m.name}});
    }
    json["mappings"] = list;
  }
  return json.Text();
}

namespace {

// A list for each figure is a third of a list of objects.
Json CellsJson(const trace::AddressMap& map, std::vector<uint32_t>* shown) {
  Json live = Json::Array();
  Json blocks = Json::Array();
  Json largest = Json::Array();
  Json largest_bytes = Json::Array();
  std::map<uint32_t, size_t> number_of;  // of a group, in the list of names
  for (const trace::AddressMap::Cell& cell : map.cells) {
    live.Add(cell.live_bytes);
    blocks.Add(cell.blocks);
    largest_bytes.Add(cell.largest_bytes);
    if (cell.largest == trace::AddressMap::kNobody) {
      largest.Add(-1);
      continue;
    }
    const auto [it, added] = number_of.try_emplace(cell.largest, shown->size());
    if (added) shown->push_back(cell.largest);
    largest.Add(it->second);
  }
  Json areas = Json::Array();
  for (const trace::AddressMap::Area& area : map.areas) {
    areas.Add({{"start", area.start}, {"cells", area.cells}});
  }
  return {{"unit", map.unit},
          {"areas", std::move(areas)},
          {"live_bytes", std::move(live)},
          {"blocks", std::move(blocks)},
          {"largest", std::move(largest)},
          {"largest_bytes", std::move(largest_bytes)}};
}

Json NamedGroup(const TraceSubject& subject, uint32_t group, const GroupLabels& labels) {
  Json json = GroupJson(subject, group);
  json["label"] = labels[group];
  return json;
}

// What the stack of a row is called by: the function that asked for memory.
class RowNames {
 public:
  explicit RowNames(const Profile& profile)
      : profile_(profile),
        skipped_(CountAllocationFrames(profile)),
        names_(FrameNames(profile, Granularity::kFunctions, Names::kShort)) {}

  struct Name {
    std::string function;
    std::string label;
  };
  Name Of(RowId row) const {
    if (row >= profile_.rows.size()) return {};
    const FramePlace place = FlatFrame(profile_, row, skipped_);
    if (place.node == kNone) return {};
    const Location& location = profile_.locations[profile_.nodes[place.node].location];
    const uint32_t frame = location.first_frame + place.k;
    return {profile_.functions[profile_.frames[frame].function].name, names_[frame]};
  }

 private:
  const Profile& profile_;
  const std::vector<uint32_t> skipped_;
  const std::vector<std::string> names_;
};

Json RegionJson(const Region& region, const RowNames& names) {
  Json json = {{"start", region.start},
               {"end", region.end},
               {"owner", OwnerName(region.owner)},
               {"name", region.name},
               {"permissions", region.permissions},
               {"resident_bytes", region.resident},
               {"dirty_bytes", region.dirty},
               {"swapped_bytes", region.swapped},
               {"live_bytes", region.live_bytes},
               {"samples", region.samples}};
  if (region.largest != kNone) {
    const RowNames::Name name = names.Of(region.largest);
    json["largest"] = {
        {"function", name.function}, {"label", name.label}, {"live_bytes", region.largest_bytes}};
  }
  return json;
}

}  // namespace

std::string BlockMapJson(const TraceSubject& subject, const BlockMapInput& input) {
  std::vector<uint32_t> shown;
  Json map = CellsJson(input.map, &shown);
  const size_t in_cells = shown.size();
  std::vector<uint32_t> all = shown;
  for (size_t i = 0; i < input.use->pins.size() && i < input.rows; ++i) {
    all.push_back(input.use->pins[i].group);
  }
  const size_t held = input.holders ? std::min(input.holders->rows.size(), input.rows) : 0;
  for (size_t i = 0; i < held; ++i) all.push_back(input.holders->rows[i].group);
  const GroupLabels labels(subject, all, Names::kShort, {});
  Json names = Json::Array();
  for (size_t i = 0; i < in_cells; ++i) names.Add(NamedGroup(subject, shown[i], labels));
  Json pin_labels = Json::Array();
  for (size_t i = 0; i < input.use->pins.size() && i < input.rows; ++i) {
    pin_labels.Add(labels[input.use->pins[i].group]);
  }
  Json json = {{"kind", "trace"},
               {"by", trace::GroupByName(subject.groups->by())},
               {"filter", subject.filter},
               {"pages", PageUseJson(subject, *input.use, input.rows)},
               {"pins", input.use->pins.size()},
               {"pin_labels", std::move(pin_labels)},
               {"map", std::move(map)},
               {"names", std::move(names)},
               {"notes", subject.notes}};
  if (input.holders) {
    Json rows = Json::Array();
    for (size_t i = 0; i < held; ++i) {
      const trace::HolderRow& row = input.holders->rows[i];
      Json one = NamedGroup(subject, row.group, labels);
      one["bytes"] = row.bytes;
      one["blocks"] = row.blocks;
      rows.Add(std::move(one));
    }
    json["holders"] = {{"start", input.start},
                       {"end", input.end},
                       {"bytes", input.holders->bytes},
                       {"blocks", input.holders->blocks},
                       {"groups", input.holders->rows.size()},
                       {"rows", std::move(rows)}};
  }
  return json.Line();
}

std::string RegionMapJson(const MemorySurvey& survey, const Regions& regions,
                          const Profile& profile) {
  const RowNames names(profile);
  Json owners = Json::Array();
  for (const OwnerSum& sum : regions.owners) {
    owners.Add({{"owner", OwnerName(sum.owner)},
                {"regions", sum.regions},
                {"bytes", sum.bytes},
                {"resident_bytes", sum.resident},
                {"dirty_bytes", sum.dirty},
                {"swapped_bytes", sum.swapped},
                {"live_bytes", sum.live_bytes}});
  }
  Json list = Json::Array();
  for (const Region& region : regions.regions) list.Add(RegionJson(region, names));
  Json parts = Json::Array();
  for (size_t i = 0; i < kParts; ++i) {
    const Part part = static_cast<Part>(i);
    parts.Add({{"part", PartKey(part)},
               {"label", PartLabel(part, survey.allocator)},
               {"bytes", survey.accounting.part(part)}});
  }
  return Json{{"kind", "process"},
              {"live", survey.live},
              {"time_ns", survey.time_ns},
              {"time_note", survey.time_note},
              {"allocator", survey.recording.allocator},
              {"resident_bytes", survey.accounting.resident},
              {"swapped_bytes", survey.status.swapped},
              {"parts", std::move(parts)},
              {"owners", std::move(owners)},
              {"regions", std::move(list)},
              {"left_out", regions.left_out},
              {"left_out_resident_bytes", regions.left_out_resident},
              {"notes", survey.notes}}
      .Line();
}

}  // namespace heapgauge
