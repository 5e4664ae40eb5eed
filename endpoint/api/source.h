// Something that a page can look at: a process, a trace, or a profile of any format.
//
// A source answers two questions: the profile of a moment or range, with names, and how the heap
// went over time. All else that a page shows is made of these by functions of core. Sources stay
// open as long as the host serves.
//
// Threads: any number at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/fold/timeline.h"
#include "core/leaks/scan/check.h"
#include "core/model/profile.h"
#include "endpoint/api/filter.h"
#include "endpoint/base/process.h"

namespace heapgauge::trace {
class TraceFile;
}

namespace heapgauge::endpoint::api {

class Source {
 public:
  enum class Kind { kProcess, kTrace, kProfile };

  struct Facts {
    std::string id;     // what requests name it by
    std::string title;  // for people
    Kind kind = Kind::kProfile;
    bool live = false;  // answers change as time goes by: a process that runs, a trace that grows
    uint32_t pid = 0;   // 0 unknown
    // Of a profile that is kept of a process: when it was taken, since 1970; 0 it is no such.
    int64_t taken_unix_ns = 0;
  };

  // What of its time is asked for.
  struct Stretch {
    Filter filter;        // from and to are what is shown; the rest chooses blocks
    size_t steps = 1000;  // where there is a choice
    size_t stacks = 0;    // the largest ones, each over time
    size_t threads = 0;   // the busiest ones, each over time
  };

  virtual ~Source() = default;

  virtual Facts facts() = 0;
  // Which state of itself it answers from to requests with this word (Filter::hold): answers of one
  // edition are equal. "": no two are known to be.
  virtual std::string EditionOf(const std::string& hold);
  // With names. Of the filter only kProfileFields matter, without the type.
  virtual Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) = 0;
  virtual Result<Timeline> Over(const Stretch& stretch) = 0;

  struct LifetimeWords {
    size_t rows = 20;
    std::string by = "function";   // whom blocks are counted for
    std::string order = "blocks";  // of the rows
  };
  // How long blocks live, as JSON; only a trace knows.
  virtual Result<std::string> Lifetimes(const Filter& filter, const LifetimeWords& words);

  // What it alone tells about leaks, with names: what was never freed, ages, growth. Only traces
  // and gauge files know single blocks.
  virtual Result<leaks::Check> LeaksOfFile();

  // What of its memory is to be drawn.
  struct MapWords {
    size_t cells = 4096;          // at the most
    std::string by = "function";  // whom blocks are counted for
    uint64_t page = 4096;         // size of the ranges that blocks pin
    size_t rows = 100;            // of each table
    // Who holds these addresses is asked as well; 0, 0 not.
    uint64_t start = 0;
    uint64_t end = 0;
  };
  // How its memory lies in the address space, as JSON; a trace knows blocks, a process regions.
  virtual Result<std::string> MemoryMap(const Filter& filter, const MapWords& words);

  // Behind a source of this kind; null for others.
  virtual std::shared_ptr<Process> process() { return nullptr; }
  virtual std::shared_ptr<const trace::TraceFile> trace() { return nullptr; }

  // What rows of a table had live over time; only a trace knows.
  struct RowsOverTime {
    Granularity granularity = Granularity::kFunctions;
    std::vector<std::string> identities;  // of the rows; see IdentityOf
    bool cumulative = false;
    RowFilter filter;
    size_t points = 40;
  };
  struct History {
    std::string why_not;                       // "" if it is known
    std::vector<uint64_t> times_ns;            // ascending
    std::vector<std::vector<uint64_t>> bytes;  // by row and moment
  };
  virtual Result<History> Recall(const Filter& filter, const RowsOverTime& rows);
};

// "process", "trace", "profile".
const char* KindName(Source::Kind kind);

}  // namespace heapgauge::endpoint::api
