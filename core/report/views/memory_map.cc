#include "core/report/views/memory_map.h"

#include <map>
#include <vector>

#include "core/base/json.h"
#include "core/fold/allocation_frames.h"
#include "core/fold/functions.h"
#include "core/report/labels.h"
#include "core/report/views/memory.h"
#include "core/report/views/stats.h"
#include "core/report/views/trace_heading.h"

namespace heapgauge {
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
