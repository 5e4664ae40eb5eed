// A table for people: columns as wide as what is in them, figures to the right, the last column as
// wide as the line lets it.
//
// A value type.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/report/styled_text.h"

namespace heapgauge {

class TextTable {
 public:
  enum class Align { kRight, kLeft };

  // A column that does not fit may be left out: those of the highest `rank` go first, those of rank
  // 0 never.
  TextTable& Column(std::string heading, Align align = Align::kRight, int rank = 0,
                    Style style = Style::kPlain);
  // The last column has stacks, "f < caller < main": it needs more room, and its end can go.
  void LastIsAStack() { last_is_a_stack_ = true; }
  // One cell for each column; the row is as long as there are columns.
  void Row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Lines of at most `layout.width` columns; the last column is cut, unless it may be left out.
  StyledText Text(const Layout& layout) const;

 private:
  struct ColumnInfo {
    std::string heading;
    Align align;
    int rank;
    Style style;
  };
  bool last_is_a_stack_ = false;
  std::vector<ColumnInfo> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace heapgauge
