// A table for people: aligned columns, numbers to the right, cut to the width of the terminal.
//
// Looks at the first rows for the widths; what comes behind is written in the same columns. One
// thread.
#ifndef HEAPGAUGE_CORE_QUERY_RESULT_TABLE_H_
#define HEAPGAUGE_CORE_QUERY_RESULT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/text_sink.h"
#include "core/query/result_writer.h"

namespace heapgauge::query {

class ResultTable {
 public:
  ResultTable(const ResultOptions& options, TextSink* out) : options_(options), out_(out) {}

  Status Begin(const std::vector<std::string>& columns);
  Status Row(const std::vector<Value>& values);
  Status End();

 private:
  struct ColumnLook {
    size_t width = 0;
    bool right = true;  // all values so far are numbers, or look like some
  };

  void Fit();
  Status WriteWaiting();
  Status WriteLine(const std::vector<std::string>& cells);

  const ResultOptions options_;
  TextSink* out_;
  std::vector<std::string> names_;
  std::vector<ColumnLook> looks_;
  std::vector<std::vector<std::string>> waiting_;
  size_t waiting_bytes_ = 0;
  bool begun_ = false;  // widths are fixed
};

}  // namespace heapgauge::query

#endif  // HEAPGAUGE_CORE_QUERY_RESULT_TABLE_H_
