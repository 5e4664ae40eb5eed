// Makes the large profiles that reports are measured with: the same bytes every time for the same
// program and number of stacks.
//
//   make_profile FORMAT PROGRAM STACKS OUTPUT
//
// FORMAT: heap (gperftools' text), jemalloc (text), pprof (pb.gz with names, as pprof would have
// made it from the text). PROGRAM: a large ELF file with symbols, such as /usr/bin/node.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bench/profiles/call_graph.h"
#include "core/base/sinks.h"
#include "core/elf/demangle.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/model/label_sets.h"
#include "core/model/stacks.h"

namespace heapgauge::bench {
namespace {

constexpr int64_t kInterval = 524288;

// Objects and bytes of one sampled stack; sizes are like those of a service.
struct Figures {
  int64_t objects = 0;
  int64_t size = 0;
};
Figures NextFigures(Random* random) {
  static constexpr int64_t kSizes[] = {16,   24,   32,   48,    64,    80,     96,
                                       128,  160,  256,  320,   512,   768,    1024,
                                       2048, 4096, 8192, 16384, 65536, 1048576};
  Figures f;
  f.objects = 1 + static_cast<int64_t>(random->Below(8) * random->Below(2));
  f.size = kSizes[random->Below(std::size(kSizes))];
  return f;
}

void Check(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "make_profile: %s\n", status.error().message.c_str());
  std::exit(2);
}

std::string Hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, " 0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string Mappings(const Program& program) {
  std::string text = "\nMAPPED_LIBRARIES:\n";
  for (const Segment& s : program.code) {
    char line[128];
    std::snprintf(line, sizeof line, "%012llx-%012llx r-xp %08llx 08:01 1234 %19s",
                  static_cast<unsigned long long>(s.start), static_cast<unsigned long long>(s.end),
                  static_cast<unsigned long long>(s.offset), "");
    text += line + program.path + "\n";
  }
  return text;
}

// Writes either text format. Totals come first, so the stacks are walked twice.
void WriteText(bool jemalloc, const Program& program, uint64_t stacks, TextSink* out) {
  int64_t objects = 0;
  int64_t bytes = 0;
  Random totals(7);
  for (uint64_t i = 0; i < stacks; ++i) {
    const Figures f = NextFigures(&totals);
    objects += f.objects;
    bytes += f.objects * f.size;
  }
  const auto pair = [](int64_t n, int64_t s) {
    return std::to_string(n) + ": " + std::to_string(s);
  };
  const std::string total = pair(objects, bytes);
  if (jemalloc) {
    Check(out->Write("heap_v2/" + std::to_string(kInterval) + "\n  t*: " + total +
                     " [0: 0]\n  t0: " + total + " [0: 0]\n"));
  } else {
    Check(out->Write("heap profile: " + total + " [" + total + "] @ heap_v2/" +
                     std::to_string(kInterval) + "\n"));
  }
  CallGraph graph(program);
  Random random(7);
  for (uint64_t i = 0; i < stacks; ++i) {
    const Figures f = NextFigures(&random);
    std::string addresses = "@";
    for (const uint32_t site : graph.NextStack()) {
      addresses += Hex(graph.sites()[site].return_address);
    }
    const std::string figures = pair(f.objects, f.objects * f.size);
    if (jemalloc) {
      Check(
          out->Write(addresses + "\n  t*: " + figures + " [0: 0]\n  t0: " + figures + " [0: 0]\n"));
    } else {
      Check(out->Write(figures + " [" + figures + "] " + addresses + "\n"));
    }
  }
  Check(out->Write(Mappings(program)));
}

Profile MakeProfile(const Program& program, uint64_t stacks) {
  Profile p;
  p.sample_types = {{"objects", "count"}, {"space", "bytes"}};
  p.period_type = {"space", "bytes"};
  p.period = kInterval;
  p.recording.program = program.path;
  for (const Segment& s : program.code) {
    Module module;
    module.path = program.path;
    module.start = s.start;
    module.end = s.end;
    module.offset = s.offset;
    module.has_functions = true;
    p.modules.push_back(module);
  }
  CallGraph graph(program);
  for (const uint32_t symbol : graph.functions()) {
    Function function;
    function.system_name = program.functions[symbol].name;
    function.name = Demangle(function.system_name);
    p.functions.push_back(function);
  }
  for (const CallGraph::Site& site : graph.sites()) {
    Location location;
    location.address = site.return_address;
    for (ModuleId m = 0; m < p.modules.size(); ++m) {
      if (site.return_address >= p.modules[m].start && site.return_address < p.modules[m].end) {
        location.module = m;
      }
    }
    location.first_frame = static_cast<uint32_t>(p.frames.size());
    location.frame_count = 1;
    Frame frame;
    frame.function = site.function;
    p.frames.push_back(frame);
    p.locations.push_back(location);
  }
  StackBuilder builder(&p);
  LabelStrings strings(&p);
  LabelSets sets(&p);
  const StringId key = strings.Add("bytes");
  Random random(7);
  for (uint64_t i = 0; i < stacks; ++i) {
    const Figures f = NextFigures(&random);
    const double average = static_cast<double>(f.size);
    const double scale = 1 / -std::expm1(-average / static_cast<double>(kInterval));
    Row row;
    row.leaf = builder.Leaf(graph.NextStack());
    Label label;
    label.key = key;
    label.number = f.size;
    row.labels = sets.Add({&label, 1});
    p.rows.push_back(row);
    p.values.push_back(static_cast<int64_t>(static_cast<double>(f.objects) * scale));
    p.values.push_back(static_cast<int64_t>(average * static_cast<double>(f.objects) * scale));
  }
  return p;
}

int Main(int argc, char** argv) {
  const std::string format = argc == 5 ? argv[1] : "";
  if (format != "heap" && format != "jemalloc" && format != "pprof") {
    std::fprintf(stderr, "usage: make_profile heap|jemalloc|pprof PROGRAM STACKS OUTPUT\n");
    return 2;
  }
  const Program program = ReadProgram(argv[2]);
  const uint64_t stacks = std::strtoull(argv[3], nullptr, 10);
  auto sink = FileSink::Create(argv[4]);
  if (!sink) Check(tl::unexpected<Error>(sink.error()));
  if (format == "pprof") {
    Check(WritePprof(MakeProfile(program, stacks), {}, sink->get()));
  } else {
    WriteText(format == "jemalloc", program, stacks, sink->get());
  }
  Check((*sink)->Finish());
  return 0;
}

}  // namespace
}  // namespace heapgauge::bench

int main(int argc, char** argv) { return heapgauge::bench::Main(argc, argv); }
