// Results of queries as text: a table for people, CSV, JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/sinks.h"
#include "core/query/query.h"

namespace heapgauge::query {

enum class ResultForm { kTable, kCsv, kJson };

struct ResultOptions {
  ResultForm form = ResultForm::kTable;
  bool header = true;
  uint64_t limit = 0;    // rows of each result; 0 all
  size_t width = 0;      // columns that a table may take; 0: as many as it needs
  bool several = false;  // there may be more than one result: in JSON they are one array of arrays
  bool utf8 = true;
};

// A number or text as tables and CSV show it; bytes are hexadecimal.
std::string ValueText(const Value& value);
std::string Hexadecimal(std::string_view bytes);  // as SQL writes blobs

// A table for people: aligned columns, numbers to the right, cut to the width of the terminal.
//
// Looks at the first rows for the widths; what comes behind is written in the same columns. One
// thread.
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

// Results of queries as text: a table for people, CSV, JSON. Tables and CSV of several results are
// parted by an empty line.
//
// Rows are written as they come. Only the table looks at the first thousands of them before it
// begins, to know how wide its columns are. One thread.
class ResultWriter : public ResultSink {
 public:
  // Whether rows were left out because of the limit.
  virtual bool cut() const = 0;
  // Behind the last result, also if there is none, or not all that were to come.
  virtual Status Finish() = 0;
};

// The sink must outlive the writer.
std::unique_ptr<ResultWriter> MakeResultWriter(const ResultOptions& options, TextSink* out);

}  // namespace heapgauge::query
