#include "core/formats/collapsed/collapsed_writer.h"

#include <cmath>
#include <map>

#include "core/base/symbol_name.h"

namespace heapgauge {

std::string WriteCollapsed(const Profile& profile, size_t type, const std::vector<bool>& selected) {
  std::vector<std::string> names;
  names.reserve(profile.functions.size());
  for (const Function& function : profile.functions) {
    names.push_back(WithoutParameters(function.name));
    for (char& c : names.back()) {
      if (c == ';') c = ':';  // the separator
    }
  }
  std::map<std::string, double> lines;
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!selected.empty() && !selected[row]) continue;
    const double value = profile.value(row, type).value;
    if (!(value > 0)) continue;
    profile.StackOf(row, &stack);
    std::string line = profile.rows[row].truncated && !stack.empty() ? "(truncated)" : "";
    for (size_t i = stack.size(); i-- > 0;) {
      const Location& location = profile.locations[stack[i]];
      for (uint32_t k = location.frame_count; k-- > 0;) {
        if (!line.empty()) line += ';';
        line += names[profile.frames[location.first_frame + k].function];
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
