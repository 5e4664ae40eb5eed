// Writes the first inputs of pprof_reader_fuzz into a folder: good profiles of several shapes,
// plain and compressed.
//
//   make_pprof_corpus FOLDER

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/sinks.h"
#include "core/formats/pprof/testing/proto_builder.h"

namespace heapgauge {
namespace {

std::string Deep() {
  testing::ProtoBuilder b;
  b.Type("space", "bytes");
  for (uint64_t id = 1; id < 20; ++id) {
    b.Function(id, "f" + std::to_string(id));
    b.Location(id << 40, id * 16, {{id, static_cast<int64_t>(id)}});
  }
  std::vector<uint64_t> stack;
  for (uint64_t i = 0; i < 200; ++i) stack.push_back((i % 19 + 1) << 40);
  b.Sample(stack, {1});
  stack.resize(100);
  b.Sample(stack, {-1});
  return b.Build();
}

std::string Packed(const std::string& bytes) {
  StringSink sink;
  GzipSink gzip(&sink);
  if (!gzip.Write(bytes) || !gzip.Finish()) return "";
  return sink.Take();
}

}  // namespace
}  // namespace heapgauge

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_pprof_corpus FOLDER\n");
    return 2;
  }
  using heapgauge::Packed;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const std::string everything = heapgauge::testing::EverythingProto();
  const std::pair<const char*, std::string> files[] = {
      {"everything", everything},
      {"everything_gz", Packed(everything)},
      {"two_members", Packed(everything) + Packed("")},
      {"concatenated", everything + everything},
      {"deep", heapgauge::Deep()},
  };
  // The first byte says how the fuzzer takes the rest: as a whole file.
  for (const auto& [name, bytes] : files) std::ofstream(folder / name) << '\0' << bytes;
  return 0;
}
