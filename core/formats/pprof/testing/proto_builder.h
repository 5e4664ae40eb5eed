// Makes the bytes of a profile.proto for tests, valid ones and others. Not for use outside of
// tests.
//
//   ProtoBuilder b;
//   b.Type("inuse_space", "bytes");
//   b.Function(1, "f");
//   b.Location(1, 0x1000, {{1, 42}});
//   b.Sample({1}, {100});
//   std::string bytes = b.Build();   // the table of texts comes last
#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/pprof/proto_cursor.h"

namespace heapgauge::testing {

class ProtoBuilder {
 public:
  using Lines = std::vector<std::pair<uint64_t, int64_t>>;  // function, line

  ProtoBuilder() : out_(bytes_) {}
  ProtoBuilder(const ProtoBuilder&) = delete;
  ProtoBuilder& operator=(const ProtoBuilder&) = delete;

  int64_t Text(const std::string& text) {
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (texts_[i] == text) return static_cast<int64_t>(i);
    }
    texts_.push_back(text);
    return static_cast<int64_t>(texts_.size() - 1);
  }

  void Type(const std::string& name, const std::string& unit, uint32_t field = 1) {
    protozero::pbf_writer m(out_, field);
    m.add_int64(1, Text(name));
    m.add_int64(2, Text(unit));
  }

  void Function(uint64_t id, const std::string& name, const std::string& system_name = "",
                const std::string& file = "", int64_t start_line = 0) {
    protozero::pbf_writer m(out_, profile_proto::kFunction);
    m.add_uint64(1, id);
    m.add_int64(2, Text(name));
    m.add_int64(3, Text(system_name));
    m.add_int64(4, Text(file));
    m.add_int64(5, start_line);
  }

  void Mapping(uint64_t id, const std::string& file, uint64_t start = 0x400000,
               uint64_t limit = 0x500000, uint64_t offset = 0, const std::string& build_id = "") {
    protozero::pbf_writer m(out_, profile_proto::kMapping);
    m.add_uint64(1, id);
    m.add_uint64(2, start);
    m.add_uint64(3, limit);
    m.add_uint64(4, offset);
    m.add_int64(5, Text(file));
    m.add_int64(6, Text(build_id));
    m.add_bool(7, true);
    m.add_bool(10, true);
  }

  void Location(uint64_t id, uint64_t address, const Lines& lines = {}, uint64_t mapping = 0,
                bool folded = false) {
    protozero::pbf_writer m(out_, profile_proto::kLocation);
    m.add_uint64(1, id);
    if (mapping != 0) m.add_uint64(2, mapping);
    m.add_uint64(3, address);
    for (const auto& [function, line] : lines) {
      protozero::pbf_writer l(m, 4);
      l.add_uint64(1, function);
      l.add_int64(2, line);
    }
    if (folded) m.add_bool(5, true);
  }

  struct Label {
    std::string key;
    std::string text;
    int64_t number = 0;
    std::string unit;
  };
  void Sample(const std::vector<uint64_t>& locations, const std::vector<int64_t>& values,
              const std::vector<Label>& labels = {}) {
    protozero::pbf_writer m(out_, profile_proto::kSample);
    m.add_packed_uint64(1, locations.begin(), locations.end());
    m.add_packed_int64(2, values.begin(), values.end());
    for (const Label& label : labels) {
      protozero::pbf_writer l(m, 3);
      l.add_int64(1, Text(label.key));
      if (!label.text.empty()) l.add_int64(2, Text(label.text));
      if (label.number != 0) l.add_int64(3, label.number);
      if (!label.unit.empty()) l.add_int64(4, Text(label.unit));
    }
  }

  protozero::pbf_writer& out() { return out_; }
  size_t size() const { return bytes_.size(); }

  std::string Build() {
    for (const std::string& text : texts_) out_.add_string(profile_proto::kStringTable, text);
    return bytes_;
  }
  // Without the table of texts.
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  protozero::pbf_writer out_;
  std::vector<std::string> texts_ = {""};
};

// One of everything.
inline std::string EverythingProto() {
  ProtoBuilder b;
  b.Type("alloc_space", "bytes");
  b.Type("inuse_space", "bytes");
  b.Sample({7, 9}, {100, 10}, {{"thread", "main", 0, ""}, {"bytes", "", 64, "bytes"}});
  b.Sample({8, 7, 9}, {50, -5});
  b.Sample({7, 9}, {1, 0}, {{"zone", "b", 0, ""}, {"bytes", "", 8, ""}, {"thread", "x", 0, ""}});
  b.Mapping(3, "/bin/main", 0x400000, 0x500000, 0x1000, "abcd");
  b.Mapping(4, "/lib/x.so", 0x7f0000000000, 0x7f0000100000);
  b.Location(7, 0x401000, {{1, 10}, {2, 20}}, 3);
  b.Location(8, 0x7f0000000010, {{3, 30}}, 4, true);
  b.Location(9, 0x402000, {{2, 25}}, 3);
  b.Function(1, "inner", "_Z5innerv", "a.cc", 5);
  b.Function(2, "outer", "outer", "a.cc", 15);
  b.Function(3, "lib", "", "b.cc");
  b.out().add_int64(profile_proto::kDropFrames, b.Text("malloc"));
  b.out().add_int64(profile_proto::kKeepFrames, b.Text("mallocator"));
  b.out().add_int64(profile_proto::kTimeNanos, 1700000000000000000);
  b.out().add_int64(profile_proto::kDurationNanos, 5000000000);
  b.Type("space", "bytes", profile_proto::kPeriodType);
  b.out().add_int64(profile_proto::kPeriod, 524288);
  b.out().add_int64(profile_proto::kComment, b.Text("hello"));
  b.out().add_int64(profile_proto::kDefaultSampleType, b.Text("alloc_space"));
  b.out().add_int64(profile_proto::kDocUrl, b.Text("https://example.com/"));
  return b.Build();
}

}  // namespace heapgauge::testing
