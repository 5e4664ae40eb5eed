// Results of queries as text: a table for people, CSV, JSON. Tables and CSV of several results are
// parted by an empty line.
//
// Rows are written as they come. Only the table looks at the first thousands of them before it
// begins, to know how wide its columns are. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/text_sink.h"
#include "core/query/result_table.h"

namespace heapgauge::query {

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
