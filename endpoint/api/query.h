// SQL over a source, where the host has it: SQLite is not for every program that serves a page
// about itself.
//
// Threads: any number at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "endpoint/api/source.h"

namespace heapgauge::endpoint::api {

class Queries {
 public:
  struct Answer {
    std::vector<std::string> columns;
    Json rows = Json::Array();  // lists of values
    bool cut = false;           // there are more
  };

  struct Statement {
    std::string sql;
    uint64_t rows = 0;     // at the most
    uint64_t seconds = 0;  // that it may take
    std::string run;       // who asks, for Cancel; "" nobody in particular
  };

  struct Schema {
    std::string text;  // for people
    Json tables;       // {name, meaning, columns: [{name, type, meaning}]}
    Json functions;    // {call, meaning}
  };

  virtual ~Queries() = default;
  // The result of the last statement. `profile` is what the source holds, for one that is no trace.
  virtual Result<Answer> Run(Source* source, const std::shared_ptr<const Profile>& profile,
                             const Statement& statement) = 0;
  virtual Result<Schema> SchemaOf(Source* source,
                                  const std::shared_ptr<const Profile>& profile) = 0;
  // Ends the statement of that run, if it is under way or waits for its turn; whether it was. Waits
  // for nobody.
  virtual bool Cancel(const std::string& run) = 0;
  // Ends all statements, and those that come later at once: the host ends. Waits for nobody.
  virtual void EndAll() = 0;
};

}  // namespace heapgauge::endpoint::api
