#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "endpoint/dialects/prometheus.h"
#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint {
namespace {

using testing::FakeProcess;
using testing::OneProcess;

// A strict reader of the text format 0.0.4. Everything that Prometheus refuses is an error.
class Scrape {
 public:
  explicit Scrape(const std::string& text) {
    if (!text.empty() && text.back() != '\n') errors.push_back("no line end at the end");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) ReadLine(line);
  }

  // Of the sample whose labels include all these; NaN if there is none or more than one.
  double Value(const std::string& name,
               const std::map<std::string, std::string>& labels = {}) const {
    double found = std::nan("");
    for (const Sample& sample : samples) {
      if (sample.name != name) continue;
      bool all = true;
      for (const auto& label : labels) {
        const auto at = sample.labels.find(label.first);
        all = all && at != sample.labels.end() && at->second == label.second;
      }
      if (!all) continue;
      if (!std::isnan(found)) return std::nan("");
      found = sample.value;
    }
    return found;
  }

  struct Sample {
    std::string name;
    std::map<std::string, std::string> labels;
    double value;
  };
  std::vector<Sample> samples;
  std::map<std::string, std::string> types;
  std::vector<std::string> errors;

 private:
  static bool IsName(const std::string& name) {
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
    for (const char c : name) {
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
    }
    return true;
  }

  void ReadLine(const std::string& line) {
    if (line.starts_with("# HELP ")) {
      helped_ = line.substr(7, line.find(' ', 7) - 7);
      if (line.size() <= 8 + helped_.size()) errors.push_back("no help: " + line);
    } else if (line.starts_with("# TYPE ")) {
      const size_t space = line.find(' ', 7);
      family_ = line.substr(7, space - 7);
      const std::string type = line.substr(space + 1);
      if (family_ != helped_) errors.push_back("TYPE without HELP: " + line);
      if (!types.emplace(family_, type).second) errors.push_back("family twice: " + family_);
      if (type != "gauge" && type != "counter") errors.push_back("bad type: " + line);
      if (type == "counter" && !family_.ends_with("_total")) errors.push_back("name: " + line);
    } else {
      ReadSample(line);
    }
  }

  void ReadSample(const std::string& line) {
    Sample sample;
    size_t at = line.find_first_of("{ ");
    if (at == std::string::npos) return errors.push_back("no value: " + line);
    sample.name = line.substr(0, at);
    if (!IsName(sample.name)) errors.push_back("bad name: " + line);
    if (sample.name != family_) errors.push_back("outside of its family: " + line);
    if (line[at] == '{') {
      ++at;
      while (at < line.size() && line[at] != '}') {
        const size_t equals = line.find("=\"", at);
        if (equals == std::string::npos) return errors.push_back("bad labels: " + line);
        const std::string name = line.substr(at, equals - at);
        if (!IsName(name)) errors.push_back("bad label: " + line);
        std::string value;
        for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
          if (line[at] == '\\') {
            ++at;
            if (at == line.size() || (line[at] != '\\' && line[at] != '"' && line[at] != 'n')) {
              return errors.push_back("bad escape: " + line);
            }
          }
          value += line[at];
        }
        ++at;
        if (!sample.labels.emplace(name, value).second) errors.push_back("label twice: " + line);
        if (at < line.size() && line[at] == ',') ++at;
      }
      ++at;
    }
    if (at >= line.size() || line[at] != ' ') return errors.push_back("no value: " + line);
    char* end = nullptr;
    sample.value = std::strtod(line.c_str() + at + 1, &end);
    if (*end != '\0' || end == line.c_str() + at + 1) errors.push_back("bad value: " + line);
    if (!met_.insert(line.substr(0, at)).second) errors.push_back("series twice: " + line);
    if (types[sample.name] == "counter" && sample.value < 0) errors.push_back("counter: " + line);
    samples.push_back(std::move(sample));
  }

  std::string helped_;
  std::string family_;
  std::set<std::string> met_;
};

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Prometheus, FiguresOfOneProcess) {
  OneProcess one;
  one.process->facts.lost = {{"table full", 3}};
  one.process->facts.lost_bytes = 1000;
  one.process->survey.accounting.resident = 12345678;
  one.process->survey.accounting.parts[static_cast<size_t>(Part::kStacks)] = 4096;
  const Response r = one.Get("/metrics");
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.Header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  const Scrape scrape(r.body);
  EXPECT_EQ(Joined(scrape.errors), "") << r.body;
  const std::map<std::string, std::string> it = {{"pid", "4242"}, {"name", "server"}};
  EXPECT_EQ(scrape.Value("heapgauge_live_bytes", it), 8 << 20);
  EXPECT_EQ(scrape.Value("heapgauge_live_objects", it), 620);
  EXPECT_EQ(scrape.Value("heapgauge_allocated_bytes_total", it), 51 << 20);
  EXPECT_EQ(scrape.Value("heapgauge_freed_bytes_total", it), 43 << 20);
  EXPECT_EQ(scrape.Value("heapgauge_freed_objects_total", it), 834 - 620);
  EXPECT_EQ(scrape.Value("heapgauge_samples_total", it), 106);
  EXPECT_EQ(scrape.Value("heapgauge_lost_samples_total", {{"reason", "table full"}}), 3);
  EXPECT_EQ(scrape.Value("heapgauge_resident_bytes", it), 12345678);
  EXPECT_EQ(scrape.Value("heapgauge_resident_part_bytes", {{"part", "stacks"}}), 4096);
  EXPECT_EQ(scrape.Value("heapgauge_agent_bytes", {{"where", "gauge_file"}}), 1 << 20);
  EXPECT_EQ(scrape.Value("heapgauge_agent_bytes", {{"where", "private"}}), 2 << 20);
  EXPECT_EQ(scrape.Value("heapgauge_process_running", it), 1);
  EXPECT_EQ(scrape.Value("heapgauge_process_unreadable", it), 0);
  EXPECT_EQ(scrape.Value("heapgauge_sampling_interval_bytes", it), 512 << 10);
}

TEST(Prometheus, BlocksOfTheParentAreNotFreedByTheChild) {
  OneProcess one;
  Profile& profile = one.process->profile;
  profile.value(0, kAllocSpace) = 0;  // all 6 MiB were the parent's
  profile.value(0, kAllocObjects) = 0;
  SampledBlock block;
  block.row = 0;
  block.size = 6 << 20;
  block.interval = 1;
  block.inherited = true;
  profile.blocks.push_back(block);
  const Scrape scrape(one.Get("/metrics").body);
  EXPECT_EQ(scrape.Value("heapgauge_freed_bytes_total"), 41 << 20);
}

TEST(Prometheus, SamplesPerSecondAreOfTheLastTenSeconds) {
  OneProcess one;
  for (uint64_t second = 0; second < 60; ++second) {
    TimelinePoint point;
    point.time_ns = second * 1'000'000'000;
    point.samples = second < 40 ? 0 : (second - 40) * 7;
    one.process->profile.timeline.push_back(point);
  }
  EXPECT_EQ(Scrape(one.Get("/metrics").body).Value("heapgauge_samples_per_second"), 7);
}

TEST(Prometheus, AllProcessesThatRunAreInOneAnswer) {
  auto a = std::make_shared<FakeProcess>(1);
  auto b = std::make_shared<FakeProcess>(2);
  auto ended = std::make_shared<FakeProcess>(3);
  b->facts.command_line = {"/opt/worker"};
  ended->facts.state = RecordingState::kKilled;
  Endpoint endpoint(
      std::make_shared<testing::FakeProcesses>(std::vector<std::shared_ptr<Process>>{a, b, ended}));
  Request request;
  request.path = "/metrics";
  const Scrape scrape(testing::HandleAndWait(&endpoint, request).body);
  EXPECT_EQ(Joined(scrape.errors), "");
  EXPECT_EQ(scrape.Value("heapgauge_live_bytes", {{"pid", "1"}, {"name", "server"}}), 8 << 20);
  EXPECT_EQ(scrape.Value("heapgauge_live_bytes", {{"pid", "2"}, {"name", "worker"}}), 8 << 20);
  EXPECT_TRUE(std::isnan(scrape.Value("heapgauge_live_bytes", {{"pid", "3"}})));
  request.path = "/pid/3/metrics";
  const Scrape last(testing::HandleAndWait(&endpoint, request).body);
  EXPECT_EQ(last.Value("heapgauge_process_running", {{"pid", "3"}}), 0);
  EXPECT_TRUE(std::isnan(last.Value("heapgauge_process_running", {{"pid", "1"}})));
}

TEST(Prometheus, OneThatCannotBeReadDoesNotSpoilTheOthers) {
  auto good = std::make_shared<FakeProcess>(1);
  auto bad = std::make_shared<FakeProcess>(2);
  bad->error = "damaged";
  Endpoint endpoint(
      std::make_shared<testing::FakeProcesses>(std::vector<std::shared_ptr<Process>>{bad, good}));
  Request request;
  request.path = "/metrics";
  const Response r = testing::HandleAndWait(&endpoint, request);
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(Scrape(r.body).Value("heapgauge_live_bytes", {{"pid", "1"}}), 8 << 20);
}

TEST(Prometheus, NoProcessIsAnEmptyAnswer) {
  Endpoint endpoint(
      std::make_shared<testing::FakeProcesses>(std::vector<std::shared_ptr<Process>>{}));
  Request request;
  request.path = "/metrics";
  const Response r = testing::HandleAndWait(&endpoint, request);
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.body, "");
}

TEST(Prometheus, NamesCannotBreakTheFormat) {
  OneProcess one;
  one.process->facts.command_line = {"a\"b\\c\n{d=\"e\"} 5\xff\x01"};
  one.process->facts.lost = {{"x\"} 9\nheapgauge_live_bytes 1", 3}};
  const Response r = one.Get("/metrics");
  const Scrape scrape(r.body);
  EXPECT_EQ(Joined(scrape.errors), "") << r.body;
  EXPECT_EQ(scrape.Value("heapgauge_live_bytes", {{"pid", "4242"}}), 8 << 20);
}

TEST(Prometheus, EnginesTellTheirFigures) {
  OneProcess one;
  testing::FakeEngine engine;
  one.process->own_engines = {&engine};
  const Scrape scrape(one.Get("/metrics").body);
  EXPECT_EQ(Joined(scrape.errors), "");
  EXPECT_EQ(scrape.Value("heapgauge_allocator_bytes",
                         {{"allocator", "jemalloc"}, {"figure", "resident"}}),
            8192);
}

TEST(Prometheus, TakesNoParametersAndNoPost) {
  OneProcess one;
  EXPECT_EQ(one.Get("/metrics?name[]=x").status, 400);
  EXPECT_EQ(one.Post("/metrics").status, 405);
}

TEST(Exposition, FamiliesStayTogether) {
  Exposition e;
  const Metric a = {"a", MetricKind::kGauge, "A."};
  const Metric b = {"b_total", MetricKind::kCounter, "B."};
  e.Add(a, {{"x", "1"}}, 1);
  e.Add(b, {}, 2.5);
  e.Add(a, {{"x", "2"}}, 1e18);
  EXPECT_EQ(e.Text(),
            "# HELP a A.\n# TYPE a gauge\na{x=\"1\"} 1\na{x=\"2\"} 1e+18\n"
            "# HELP b_total B.\n# TYPE b_total counter\nb_total 2.5\n");
}

}  // namespace
}  // namespace heapgauge::endpoint
