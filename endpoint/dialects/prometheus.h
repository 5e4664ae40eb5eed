// Prometheus' text format, version 0.0.4: families of samples, each with its HELP and TYPE and all
// its samples together, whatever the order in which they were added.
//
// A value type.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapgauge::endpoint {

enum class MetricKind { kGauge, kCounter };

// Literals of ours. A counter's name ends in _total.
struct Metric {
  std::string_view name;
  MetricKind kind;
  std::string_view help;
};

class Exposition {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  // Label values may hold anything.
  void Add(const Metric& metric, const Labels& labels, double value);

  // In the order in which families were first met; each ends with a line end.
  std::string Text() const;

 private:
  struct Family {
    Metric metric;
    std::string samples;
  };
  std::vector<Family> families_;
};

}  // namespace heapgauge::endpoint
