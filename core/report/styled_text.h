// Text whose parts are marked by what they mean, where it will be shown, and tables of such texts.
//
// Value types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge {

enum class Style : uint8_t {
  kPlain,
  kTitle,    // the subject of the report
  kHeading,  // of columns
  kLabel,    // of a line in the header
  kNumber,   // the figure a line is about
  kDim,      // of less weight: ranges, places, what is folded
  kWarning,
  kBar,
  kGrowth,    // more than before
  kShrink,    // less than before
  kSelected,  // where the eye should be: input lines, the status line
};

// Reports say "this is a number", "this is of little weight"; whether that becomes colour is
// decided where it is shown. No escape code is ever part of a text that is measured, cut or padded.
// A text may have many lines.
class StyledText {
 public:
  struct Span {
    size_t end;  // in text(); it begins where the one before ends
    Style style;
  };

  StyledText() = default;
  StyledText(std::string_view text, Style style = Style::kPlain) { Add(text, style); }

  StyledText& Add(std::string_view text, Style style = Style::kPlain);
  StyledText& Add(const StyledText& other);
  // Pads with spaces to `width` columns; the padding is never marked.
  StyledText& AddLeft(std::string_view text, size_t width, Style style = Style::kPlain);
  StyledText& AddRight(std::string_view text, size_t width, Style style = Style::kPlain);

  StyledText& operator+=(const StyledText& other) { return Add(other); }
  StyledText& operator+=(std::string_view text) { return Add(text); }

  const std::string& text() const { return text_; }
  const std::vector<Span>& spans() const { return spans_; }
  bool empty() const { return text_.empty(); }

  // One text for each line, without line ends. A last line end does not begin another line.
  std::vector<StyledText> Lines() const;
  // The first `width` columns of a single line.
  StyledText Cut(size_t width) const;

 private:
  std::string text_;
  std::vector<Span> spans_;
};

// How a text will be shown: what reports need to know for their layout.
struct Layout {
  size_t width = 120;  // columns
  bool utf8 = true;    // false: ASCII only

  const char* ellipsis() const { return utf8 ? "\u2026" : "..."; }
};

// Where a text will be shown.
struct TextLook {
  bool colour = false;
  bool utf8 = true;
};

// The text with escape codes for colour, or without; never with a character that the terminal
// cannot show. Colours are from the sixteen that every theme adapts to light and dark.
std::string Render(const StyledText& text, const TextLook& look);

// A table for people: columns as wide as what is in them, figures to the right, the last column as
// wide as the line lets it.
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
