// A call graph over the functions of a real program, and random walks on it: stacks as a large
// service has them, the same ones every time.
//
// Some 17,000 functions have one to four call sites each (37,000 in all), and a call site leads to
// one to four functions (89,000 edges). A stack is a walk from one of a few roots, 29.5 frames deep
// on average, and no stack comes twice.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace heapgauge::bench {

struct Segment {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
};

struct Symbol {
  uint64_t address = 0;
  uint64_t size = 0;
  std::string name;
};

// What the generator needs to know about an ELF file; addresses are those of a process that runs
// it.
struct Program {
  std::string path;
  std::vector<Segment> code;
  std::vector<Symbol> functions;  // by address
};
// Exits with a message if the file is of no use.
Program ReadProgram(const std::string& path);

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // Below `limit`, which is not 0.
  uint64_t Below(uint64_t limit) { return Next() % limit; }

 private:
  uint64_t state_;
};

class CallGraph {
 public:
  struct Site {
    uint32_t function = 0;
    uint64_t return_address = 0;
    std::vector<uint32_t> callees;  // functions
  };

  explicit CallGraph(const Program& program);

  // The next stack, as sites, innermost first.
  const std::vector<uint32_t>& NextStack();
  const std::vector<Site>& sites() const { return sites_; }
  // Symbol of each function of the graph.
  const std::vector<uint32_t>& functions() const { return functions_; }

 private:
  static constexpr size_t kFunctions = 17000;
  static constexpr size_t kRoots = 8;

  std::vector<uint32_t> functions_;
  std::vector<std::vector<uint32_t>> sites_of_;  // by function
  std::vector<Site> sites_;
  Random random_{20260101};
  std::vector<uint32_t> stack_;
  std::unordered_set<uint64_t> seen_;
};

}  // namespace heapgauge::bench
