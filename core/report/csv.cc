#include "core/report/csv.h"

#include <fmt/format.h>

#include <cmath>

#include "core/fold/statistics.h"

namespace heapgauge {

void Csv::Separate() {
  if (in_row_) text_ += ',';
  in_row_ = true;
}

Csv& Csv::Text(std::string_view text) {
  Separate();
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    text_ += text;
    return *this;
  }
  text_ += '"';
  for (const char c : text) {
    if (c == '"') text_ += '"';
    text_ += c;
  }
  text_ += '"';
  return *this;
}

Csv& Csv::Number(double value) {
  Separate();
  text_ += std::isfinite(value) ? fmt::format("{:.0f}", value == 0 ? 0.0 : value) : "";
  return *this;
}

Csv& Csv::Number(uint64_t value) {
  Separate();
  text_ += std::to_string(value);
  return *this;
}

void Csv::EndRow() {
  text_ += '\n';
  in_row_ = false;
}

void AddFigureHeadings(const Measures& m, const std::string& prefix, Csv* csv) {
  const std::string main = prefix + m.type;
  csv->Text(main).Text(main + "_low").Text(main + "_high");
  if (m.has_objects()) {
    const bool known = m.name == "live" || m.name == "allocated";
    const std::string figure = known ? m.name : m.type.substr(0, m.type.rfind('_'));
    csv->Text(prefix + figure + "_objects");
  }
  if (m.has_allocated()) {
    csv->Text(prefix + "alloc_space").Text(prefix + "alloc_space_low");
    csv->Text(prefix + "alloc_space_high");
  }
  if (m.has_samples) csv->Text(prefix + "live_samples").Text(prefix + "samples");
}

void AddFigures(const HeapFigures& f, const Measures& m, Csv* csv) {
  const Interval live = Interval95(f.live_bytes);
  csv->Number(f.live_bytes.value).Number(live.low).Number(live.high);
  if (m.has_objects()) csv->Number(f.live_objects);
  if (m.has_allocated()) {
    const Interval allocated = Interval95(f.allocated_bytes);
    csv->Number(f.allocated_bytes.value).Number(allocated.low).Number(allocated.high);
  }
  if (m.has_samples) csv->Number(f.live_samples).Number(f.samples);
}

void AddEntityHeadings(Csv* csv) { csv->Text("function").Text("file").Text("line").Text("module"); }

void AddEntity(const Profile& profile, const Entities& entities, EntityId id, uint32_t frame,
               Csv* csv) {
  if (id == kNone) {
    csv->Text("(unknown stack)").Empty().Empty().Empty();
    return;
  }
  const Entity& entity = entities[id];
  const Function& function = profile.functions[entity.function];
  csv->Text(entities.joins_calls() ? "" : function.name);
  csv->Text(entities.granularity() == Granularity::kModules ? "" : function.file);
  if (frame != kNone && !entities.joins_calls() && profile.frames[frame].line != 0) {
    csv->Number(uint64_t{profile.frames[frame].line});
  } else {
    csv->Empty();
  }
  csv->Text(entity.module == kNone ? "" : profile.modules[entity.module].path);
}

}  // namespace heapgauge
