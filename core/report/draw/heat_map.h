// Counts in rows and columns, each cell shaded by its share of the whole. The figures stand in the
// cells, so that nothing is lost where there is no colour.
//
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/report/styled_text.h"

namespace heapgauge {

struct HeatMap {
  std::string title;
  std::string corner;                // above the labels of the rows
  std::vector<std::string> columns;  // headings of up to five characters
  std::vector<std::string> rows;     // labels
  std::vector<std::vector<double>> cells;
  bool is_bytes = false;    // figures are bytes; else counts
  bool keeps_last = false;  // the last column is shown even if it is empty
};

// A figure in four columns: "831", "12k", "1.2M"; of bytes with units of 1024: "12K".
std::string CompactFigure(double value, bool is_bytes);

// The map as lines of equal width, with sums of rows and columns. Columns at both ends that are
// empty in all maps are left out.
StyledText HeatMapText(const HeatMap& map, const Layout& layout);
// Side by side where there is room, else below each other, and what the shades mean.
StyledText HeatMapsText(std::vector<HeatMap> maps, const Layout& layout);

// Figures as columns of up to eight heights, a character each; what is not zero is seen.
std::string HistogramText(const std::vector<double>& values, bool utf8);

}  // namespace heapgauge
