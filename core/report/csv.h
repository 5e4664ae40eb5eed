// Tables for spreadsheets and scripts: RFC 4180, one line of headings, lines end with "\n". Numbers
// are plain digits, whatever the locale. Text is kept byte by byte, within quotes where it has a
// comma, a quote or the end of a line: whoever shows a table on a terminal sees to what that could
// take for a command.
//
// Not synchronised.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/fold/functions.h"
#include "core/model/profile.h"

namespace heapgauge {

class Csv {
 public:
  Csv& Text(std::string_view text);
  Csv& Number(double value);
  Csv& Number(uint64_t value);
  Csv& Empty() { return Text(""); }
  void EndRow();

  const std::string& text() const { return text_; }
  std::string Take() {
    std::string text;
    text.swap(text_);
    return text;
  }

 private:
  void Separate();

  std::string text_;
  bool in_row_ = false;
};

// Columns that reports have in common. Headings and fields go together; what a profile does not
// know has no column.
void AddFigureHeadings(const Measures& measures, const std::string& prefix, Csv* csv);
void AddFigures(const HeapFigures& figures, const Measures& measures, Csv* csv);

// function, file, line, module: as far as they are known, else empty. `id` and `frame` may be
// kNone.
void AddEntityHeadings(Csv* csv);
void AddEntity(const Profile& profile, const Entities& entities, EntityId id, uint32_t frame,
               Csv* csv);

}  // namespace heapgauge
