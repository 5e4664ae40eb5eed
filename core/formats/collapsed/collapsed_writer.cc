#include "core/formats/collapsed/collapsed_writer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/symbol_name.h"

namespace heapgauge {

std::string WriteCollapsed(const Profile& profile, size_t type, const std::vector<bool>& selected,
                           std::vector<std::string> frame_names, bool join) {
  std::vector<std::string> names = std::move(frame_names);
  if (names.empty()) {
    for (const Frame& frame : profile.frames) {
      names.push_back(WithoutParameters(profile.functions[frame.function].name));
    }
  }
  for (std::string& name : names) {
    std::replace(name.begin(), name.end(), ';', ':');  // the separator
  }
  std::map<std::string, double> lines;
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!selected.empty() && !selected[row]) continue;
    const double value = profile.estimate(row, type).value;
    if (!(value > 0)) continue;
    profile.StackOf(row, &stack);
    std::string line = profile.rows[row].truncated && !stack.empty() ? "(truncated)" : "";
    const std::string* last = nullptr;
    for (size_t i = stack.size(); i-- > 0;) {
      const Location& location = profile.locations[stack[i]];
      for (uint32_t k = location.frame_count; k-- > 0;) {
        const std::string& name = names[location.first_frame + k];
        if (join && last != nullptr && *last == name) continue;
        last = &name;
        if (!line.empty()) line += ';';
        line += name;
      }
    }
    if (line.empty()) line = "(unknown stack)";
    lines[line] += value;
  }
  std::string text;
  for (const auto& [line, value] : lines) {
    const long long rounded = std::llround(value);
    if (rounded == 0) continue;
    text += line;
    text += ' ';
    text += std::to_string(rounded);
    text += '\n';
  }
  return text;
}

}  // namespace heapgauge
