#include "core/formats/pprof/pprof_writer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <protozero/pbf_reader.hpp>

#include "core/formats/pprof/pprof_reader.h"
#include "core/formats/pprof/testing/proto_builder.h"

namespace heapgauge {
namespace {

std::string Gunzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string bytes(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

// The parts of profile.proto that are checked below.
struct Decoded {
  std::vector<std::string> strings;
  std::vector<std::pair<int64_t, int64_t>> types;
  std::vector<std::pair<std::vector<uint64_t>, std::vector<int64_t>>> samples;
  std::map<uint64_t, std::vector<std::pair<uint64_t, int64_t>>> locations;  // id, (function, line)
  std::map<uint64_t, uint64_t> addresses;
  std::map<uint64_t, int64_t> functions;  // id, name
  std::vector<int64_t> mapping_files;
  int64_t period = 0;
  int64_t drop_frames = 0;
  int64_t default_type = 0;
};

Result<std::string> Write(const Profile& profile, const PprofWriteOptions& options) {
  StringSink sink;
  HG_TRY(WritePprof(profile, options, &sink));
  return sink.Take();
}

Decoded Decode(const std::string& bytes) {
  Decoded d;
  protozero::pbf_reader reader(bytes);
  while (reader.next()) {
    switch (reader.tag()) {
      case 1: {
        auto m = reader.get_message();
        std::pair<int64_t, int64_t> type;
        while (m.next()) (m.tag() == 1 ? type.first : type.second) = m.get_int64();
        d.types.push_back(type);
        break;
      }
      case 2: {
        auto m = reader.get_message();
        std::pair<std::vector<uint64_t>, std::vector<int64_t>> sample;
        while (m.next()) {
          if (m.tag() == 1) {
            for (const uint64_t id : m.get_packed_uint64()) sample.first.push_back(id);
          } else {
            for (const int64_t value : m.get_packed_int64()) sample.second.push_back(value);
          }
        }
        d.samples.push_back(sample);
        break;
      }
      case 3: {
        auto m = reader.get_message();
        while (m.next()) {
          if (m.tag() == 5) {
            d.mapping_files.push_back(m.get_int64());
          } else {
            m.skip();
          }
        }
        break;
      }
      case 4: {
        auto m = reader.get_message();
        uint64_t id = 0;
        while (m.next()) {
          if (m.tag() == 1) {
            id = m.get_uint64();
          } else if (m.tag() == 3) {
            d.addresses[id] = m.get_uint64();
          } else if (m.tag() == 4) {
            auto line = m.get_message();
            std::pair<uint64_t, int64_t> entry;
            while (line.next()) {
              if (line.tag() == 1)
                entry.first = line.get_uint64();
              else
                entry.second = line.get_int64();
            }
            d.locations[id].push_back(entry);
          } else {
            m.skip();
          }
        }
        break;
      }
      case 5: {
        auto m = reader.get_message();
        uint64_t id = 0;
        while (m.next()) {
          if (m.tag() == 1) {
            id = m.get_uint64();
          } else if (m.tag() == 2) {
            d.functions[id] = m.get_int64();
          } else {
            m.skip();
          }
        }
        break;
      }
      case 6:
        d.strings.push_back(reader.get_string());
        break;
      case 7:
        d.drop_frames = reader.get_int64();
        break;
      case 12:
        d.period = reader.get_int64();
        break;
      case 14:
        d.default_type = reader.get_int64();
        break;
      default:
        reader.skip();
    }
  }
  return d;
}

Profile Sample() {
  Profile p;
  p.sample_types = HeapSampleTypes();
  p.default_type = kInuseSpace;
  p.period_type = {"space", "bytes"};
  p.period = 524288;
  p.recording.program = "/bin/main";
  p.modules.resize(2);
  p.modules[0].path = "/lib/a.so";
  p.modules[1].path = "/bin/main";
  p.functions.resize(2);
  p.functions[0].name = "inner";
  p.functions[0].file = "a.cc";
  p.functions[1].name = "outer(int)";
  p.functions[1].system_name = "_Z5outeri";
  p.functions[1].file = "a.cc";
  p.frames = {{0, 7, true}, {1, 9, false}, {1, 11, false}};
  p.locations.resize(2);
  p.locations[0] = {0x1001, 0, false, 0, 2};
  p.locations[1] = {0x2001, 1, false, 2, 1};
  p.nodes = {{kNone, 1}, {0, 0}};
  p.rows.resize(3);
  p.rows[0].leaf = 1;
  p.rows[1].leaf = kNone;  // a stack that could not be read
  p.rows[2].leaf = 0;      // nothing in it
  p.values.resize(3 * kHeapTypes);
  p.value(0, kAllocObjects) = 10;
  p.value(0, kAllocSpace) = 1001;
  p.value(0, kInuseObjects) = 1;
  p.value(0, kInuseSpace) = 100;
  p.value(1, kInuseSpace) = 5;
  p.comments = {"hello"};
  return p;
}

TEST(PprofWriter, WritesWhatPprofNeeds) {
  const Profile profile = Sample();
  const auto packed = Write(profile, {"malloc|calloc", {}, "(unknown stack)", true});
  ASSERT_TRUE(packed);
  const Decoded d = Decode(Gunzip(*packed));
  ASSERT_FALSE(d.strings.empty());
  EXPECT_EQ(d.strings[0], "");
  ASSERT_EQ(d.types.size(), 4u);
  EXPECT_EQ(d.strings[static_cast<size_t>(d.types[3].first)], "inuse_space");
  EXPECT_EQ(d.strings[static_cast<size_t>(d.types[3].second)], "bytes");
  EXPECT_EQ(d.strings[static_cast<size_t>(d.default_type)], "inuse_space");
  EXPECT_EQ(d.strings[static_cast<size_t>(d.drop_frames)], "malloc|calloc");
  EXPECT_EQ(d.period, 524288);
  ASSERT_EQ(d.mapping_files.size(), 2u);
  EXPECT_EQ(d.strings[static_cast<size_t>(d.mapping_files[0])], "/bin/main") << "the program first";

  ASSERT_EQ(d.samples.size(), 2u) << "rows without a value are left out";
  EXPECT_EQ(d.samples[0].first, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(d.samples[0].second, (std::vector<int64_t>{10, 1001, 1, 100}));
  ASSERT_EQ(d.locations.at(1).size(), 2u);
  EXPECT_EQ(d.locations.at(1)[0].second, 7);
  EXPECT_EQ(d.addresses.at(1), 0x1000u) << "the call, not the return address";
  const int64_t name = d.functions.at(d.locations.at(1)[1].first);
  EXPECT_EQ(d.strings[static_cast<size_t>(name)], "outer(int)");
  const uint64_t unknown = d.samples[1].first.at(0);
  const int64_t unknown_name = d.functions.at(d.locations.at(unknown)[0].first);
  EXPECT_EQ(d.strings[static_cast<size_t>(unknown_name)], "(unknown stack)");
}

TEST(PprofWriter, LeavesOutRowsThatWereNotSelected) {
  const auto packed = Write(Sample(), {"", {false, true, true}, "", true});
  ASSERT_TRUE(packed);
  EXPECT_EQ(Decode(Gunzip(*packed)).samples.size(), 1u);
}

TEST(PprofWriter, AnEmptyProfileIsAProfile) {
  Profile profile;
  profile.sample_types = HeapSampleTypes();
  const auto packed = Write(profile, {});
  ASSERT_TRUE(packed);
  EXPECT_EQ(Decode(Gunzip(*packed)).types.size(), 4u);
}

// All that a profile says, without the numbers that files give to things.
std::string Dump(const Profile& p) {
  std::string text;
  const auto add = [&](const auto&... parts) { ((text += parts, text += ' '), ...); };
  const auto n = [](auto value) { return std::to_string(value); };
  const auto unknown = [&](UnknownFields::Owner owner, uint32_t id) {
    for (const UnknownFields& u : p.unknown_fields) {
      if (u.owner == owner && u.id == id) add("unknown", u.bytes);
    }
  };
  for (const SampleType& type : p.sample_types) add(type.name, type.unit);
  add(n(p.default_type), p.period_type.name, p.period_type.unit, n(p.period), n(p.time_ns));
  add(n(p.duration_ns), p.drop_frames, p.keep_frames, p.doc_url);
  for (const std::string& comment : p.comments) add(comment);
  unknown(UnknownFields::Owner::kProfile, 0);
  for (ModuleId m = 0; m < p.modules.size(); ++m) {
    const Module& module = p.modules[m];
    add("\nmodule", module.path, module.build_id, n(module.start), n(module.end));
    add(n(module.offset), n(module.has_functions), n(module.has_files), n(module.has_lines));
    add(n(module.has_inlines));
    unknown(UnknownFields::Owner::kModule, m);
  }
  std::vector<LocationId> stack;
  for (RowId row = 0; row < p.rows.size(); ++row) {
    add("\nrow");
    for (size_t type = 0; type < p.sample_types.size(); ++type) add(n(p.value(row, type)));
    for (const Label& label : p.LabelsOf(row)) {
      add(p.strings[label.key], label.is_number() ? n(label.number) : p.strings[label.text]);
      add(label.unit == kNone ? "-" : p.strings[label.unit]);
    }
    unknown(UnknownFields::Owner::kSample, row);
    p.StackOf(row, &stack);
    for (const LocationId id : stack) {
      const Location& location = p.locations[id];
      add("\n ", n(location.address), n(location.module), n(location.folded));
      unknown(UnknownFields::Owner::kLocation, id);
      for (uint32_t i = 0; i < location.frame_count; ++i) {
        const Frame& frame = p.frames[location.first_frame + i];
        const Function& f = p.functions[frame.function];
        add("/", f.name, f.system_name, f.file, n(f.start_line), n(f.no_system_name));
        add(n(frame.line), n(frame.column), n(frame.inlined));
        unknown(UnknownFields::Owner::kFunction, frame.function);
      }
    }
  }
  return text;
}

TEST(PprofWriter, WritesWhatWasRead) {
  // What no field number of today stands for, and columns, on top of one of everything.
  testing::ProtoBuilder b;
  b.out().add_string(100, "profile");
  {
    protozero::pbf_writer m(b.out(), profile_proto::kSample);
    m.add_uint64(1, 7);
    m.add_uint64(1, 77);
    m.add_int64(2, 5);
    m.add_int64(2, 6);
    m.add_string(50, "sample");
  }
  {
    protozero::pbf_writer m(b.out(), profile_proto::kSample);  // an empty stack
    m.add_int64(2, 5);
    m.add_int64(2, 6);
  }
  {
    protozero::pbf_writer m(b.out(), profile_proto::kLocation);
    m.add_uint64(1, 77);
    m.add_string(50, "location");
    protozero::pbf_writer line(m, profile_proto::kLocationLine);
    line.add_uint64(1, 78);
    line.add_int64(2, 5);
    line.add_int64(3, 12);
  }
  {
    protozero::pbf_writer m(b.out(), profile_proto::kFunction);
    m.add_uint64(1, 78);
    m.add_string(50, "function");
  }
  {
    protozero::pbf_writer m(b.out(), profile_proto::kMapping);
    m.add_uint64(1, 79);
    m.add_string(50, "mapping");
  }
  const std::string bytes = testing::EverythingProto() + b.bytes();
  const auto first = ReadPprof(StreamOf(bytes).get(), "first");
  ASSERT_TRUE(first) << first.error().message;
  const auto packed = Write(*first, {});
  ASSERT_TRUE(packed);
  auto stream = Decompressed(StreamOf(*packed), "second");
  ASSERT_TRUE(stream);
  const auto second = ReadPprof(stream->get(), "second");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(Dump(*second), Dump(*first));
  for (const char* owner : {"profile", "sample", "location", "function", "mapping"}) {
    EXPECT_NE(Dump(*first).find(owner), std::string::npos) << owner;
  }
}

TEST(PprofWriter, RowsStayApart) {
  Profile profile = Sample();
  profile.rows[2].leaf = profile.rows[0].leaf;
  profile.value(2, 0) = 1;
  EXPECT_EQ(Decode(Gunzip(Write(profile, {}).value())).samples.size(), 3u);
}

TEST(PprofWriter, AProfileMayBeLeftUncompressed) {
  PprofWriteOptions options;
  options.gzip = false;
  EXPECT_EQ(Decode(Write(Sample(), options).value()).types.size(), 4u);
}

TEST(PprofWriter, StopsWhereTheSinkDoes) {
  class FullSink final : public TextSink {
   public:
    Status Write(std::string_view) override { return Fail(ErrorCode::kIo, "full"); }
  } full;
  EXPECT_EQ(WritePprof(Sample(), {}, &full).error().message, "full");
}

}  // namespace
}  // namespace heapgauge
