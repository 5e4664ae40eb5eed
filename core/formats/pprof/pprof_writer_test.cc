#include "core/formats/pprof/pprof_writer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <protozero/pbf_reader.hpp>

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
  const auto packed = WritePprof(profile, {"malloc|calloc", {}});
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
  const auto packed = WritePprof(Sample(), {"", {false, true, true}});
  ASSERT_TRUE(packed);
  EXPECT_EQ(Decode(Gunzip(*packed)).samples.size(), 1u);
}

TEST(PprofWriter, AnEmptyProfileIsAProfile) {
  Profile profile;
  profile.sample_types = HeapSampleTypes();
  const auto packed = WritePprof(profile, {});
  ASSERT_TRUE(packed);
  EXPECT_EQ(Decode(Gunzip(*packed)).types.size(), 4u);
}

}  // namespace
}  // namespace heapgauge
