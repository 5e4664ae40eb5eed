
#include "core/base/json.h"
#include "core/report/views/memory.h"

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

}  // namespace heapgauge
