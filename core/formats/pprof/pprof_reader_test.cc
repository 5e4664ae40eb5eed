#include "core/formats/pprof/pprof_reader.h"

#include <gtest/gtest.h>

#include "core/formats/pprof/testing/proto_builder.h"

namespace heapgauge {
namespace {

using testing::EverythingProto;
using testing::ProtoBuilder;

Result<Profile> Read(const std::string& bytes) {
  auto profile = ReadPprof(StreamOf(bytes).get(), "x.pb");
  if (profile) {
    EXPECT_TRUE(profile->Check()) << profile->Check().error().message;
  }
  return profile;
}

std::string ErrorOf(const std::string& bytes) {
  const auto profile = Read(bytes);
  return profile ? "" : profile.error().message;
}

std::vector<std::string> StackNames(const Profile& p, RowId row) {
  std::vector<LocationId> stack;
  p.StackOf(row, &stack);
  std::vector<std::string> names;
  for (const LocationId id : stack) {
    for (uint32_t i = 0; i < p.locations[id].frame_count; ++i) {
      const Frame& frame = p.frames[p.locations[id].first_frame + i];
      names.push_back(p.functions[frame.function].name + ":" + std::to_string(frame.line));
    }
  }
  return names;
}

std::string LabelText(const Profile& p, RowId row) {
  std::string text;
  for (const Label& label : p.LabelsOf(row)) {
    text += p.strings[label.key] + "=";
    text += label.is_number() ? std::to_string(label.number) : p.strings[label.text];
    if (label.unit != kNone) text += p.strings[label.unit];
    text += " ";
  }
  return text;
}

TEST(PprofReader, ReadsEveryField) {
  const auto read = Read(EverythingProto());
  ASSERT_TRUE(read) << read.error().message;
  const Profile& p = *read;
  ASSERT_EQ(p.sample_types.size(), 2u);
  EXPECT_EQ(p.sample_types[1].name, "inuse_space");
  EXPECT_EQ(p.sample_types[1].unit, "bytes");
  EXPECT_EQ(p.default_type, 0u);
  EXPECT_EQ(p.period_type.name, "space");
  EXPECT_EQ(p.period, 524288);
  EXPECT_EQ(p.time_ns, 1700000000000000000);
  EXPECT_EQ(p.duration_ns, 5000000000);
  EXPECT_EQ(p.comments, std::vector<std::string>{"hello"});
  EXPECT_EQ(p.drop_frames, "malloc");
  EXPECT_EQ(p.keep_frames, "mallocator");
  EXPECT_EQ(p.doc_url, "https://example.com/");
  EXPECT_TRUE(p.estimates.empty());
  EXPECT_TRUE(p.notes.empty());
  EXPECT_EQ(p.recording.program, "/bin/main");

  ASSERT_EQ(p.modules.size(), 2u);
  EXPECT_EQ(p.modules[0].path, "/bin/main");
  EXPECT_EQ(p.modules[0].build_id, "abcd");
  EXPECT_EQ(p.modules[0].start, 0x400000u);
  EXPECT_EQ(p.modules[0].end, 0x500000u);
  EXPECT_EQ(p.modules[0].offset, 0x1000u);
  EXPECT_TRUE(p.modules[0].has_functions);
  EXPECT_FALSE(p.modules[0].has_files);
  EXPECT_FALSE(p.modules[0].has_lines);
  EXPECT_TRUE(p.modules[0].has_inlines);
  EXPECT_FALSE(p.modules[0].load_bias_known);

  ASSERT_EQ(p.rows.size(), 3u);
  EXPECT_EQ(StackNames(p, 0), (std::vector<std::string>{"inner:10", "outer:20", "outer:25"}));
  EXPECT_EQ(StackNames(p, 1),
            (std::vector<std::string>{"lib:30", "inner:10", "outer:20", "outer:25"}));
  EXPECT_EQ(p.rows[0].leaf, p.rows[2].leaf);
  EXPECT_EQ(p.value(0, 0), 100);
  EXPECT_EQ(p.value(1, 1), -5);
  EXPECT_EQ(LabelText(p, 0), "thread=main bytes=64bytes ");
  EXPECT_EQ(LabelText(p, 1), "");
  EXPECT_EQ(LabelText(p, 2), "thread=x zone=b bytes=8 ") << "texts first, each sorted by key";

  const Location& leaf = p.locations[p.nodes[p.rows[0].leaf].location];
  EXPECT_EQ(leaf.lookup_address(), 0x401000u);
  EXPECT_TRUE(p.frames[leaf.first_frame].inlined);
  EXPECT_FALSE(p.frames[leaf.first_frame + 1].inlined);
  EXPECT_TRUE(p.locations[p.nodes[p.rows[1].leaf].location].folded);
  const Function& inner = p.functions[p.frames[leaf.first_frame].function];
  EXPECT_EQ(inner.system_name, "_Z5innerv");
  EXPECT_EQ(inner.start_line, 5);
  EXPECT_EQ(inner.file, "a.cc");
  EXPECT_FALSE(inner.no_system_name);
  EXPECT_EQ(p.functions[p.frames[leaf.first_frame + 1].function].system_name, "");
}

TEST(PprofReader, DefinitionsMayComeBeforeAndIdsMayBeHuge) {
  ProtoBuilder b;
  b.Type("space", "bytes");
  b.Function(~uint64_t{0}, "f");
  b.Location(uint64_t{1} << 63, 0x10, {{~uint64_t{0}, 3}});
  b.Location(5'000'000'000, 0x20, {{~uint64_t{0}, 4}});
  b.Sample({uint64_t{1} << 63, 5'000'000'000}, {1});
  const auto p = Read(b.Build());
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(StackNames(*p, 0), (std::vector<std::string>{"f:3", "f:4"}));
}

TEST(PprofReader, RepeatedNumbersMayBePackedOrNotOrBoth) {
  ProtoBuilder b;
  b.Type("a", "count");
  b.Type("b", "count");
  b.Location(1, 0x10);
  b.Location(2, 0x20);
  {
    protozero::pbf_writer m(b.out(), profile_proto::kSample);
    m.add_uint64(1, 1);
    m.add_int64(2, -7);
    const std::vector<uint64_t> more = {2};
    m.add_packed_uint64(1, more.begin(), more.end());
    m.add_int64(2, 8);
  }
  const auto p = Read(b.Build());
  ASSERT_TRUE(p) << p.error().message;
  std::vector<LocationId> stack;
  p->StackOf(0, &stack);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(p->locations[stack[1]].address, 0x20u);
  EXPECT_EQ(p->value(0, 0), -7);
  EXPECT_EQ(p->value(0, 1), 8);
}

TEST(PprofReader, EqualSetsOfLabelsAreKeptOnce) {
  ProtoBuilder b;
  b.Type("a", "count");
  b.Location(1, 0x10);
  b.Sample({1}, {1}, {{"k", "v", 0, ""}, {"n", "", 3, ""}});
  b.Sample({1}, {2}, {{"n", "", 3, ""}, {"k", "v", 0, ""}});
  b.Sample({1}, {2}, {{"n", "", 4, ""}, {"k", "v", 0, ""}});
  const auto p = Read(b.Build());
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->rows.size(), 3u) << "reading does not add up";
  EXPECT_EQ(p->rows[0].labels, p->rows[1].labels);
  EXPECT_NE(p->rows[0].labels, p->rows[2].labels);
}

TEST(PprofReader, FieldsOfTheFutureAreKept) {
  ProtoBuilder b;
  b.Type("a", "count");
  b.out().add_string(100, "profile");
  {
    protozero::pbf_writer m(b.out(), profile_proto::kSample);
    m.add_uint64(1, 1);
    m.add_int64(2, 1);
    m.add_fixed64(99, 5);
    m.add_string(98, "s");
  }
  {
    protozero::pbf_writer m(b.out(), profile_proto::kLocation);
    m.add_uint64(77, 5);
    m.add_uint64(1, 1);
  }
  const auto p = Read(b.Build());
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->unknown_fields.size(), 3u);
  EXPECT_EQ(p->unknown_fields[0].owner, UnknownFields::Owner::kProfile);
  EXPECT_EQ(p->unknown_fields[0].bytes.substr(3), "profile");
  EXPECT_EQ(p->unknown_fields[1].owner, UnknownFields::Owner::kSample);
  EXPECT_EQ(p->unknown_fields[1].bytes.size(), 10u + 4u);
  EXPECT_EQ(p->unknown_fields[2].owner, UnknownFields::Owner::kLocation);
}

TEST(PprofReader, WhatPprofLetsPassIsNoted) {
  ProtoBuilder b;
  b.Type("a\xff", "count");
  b.Location(1, 0x10, {}, 17);
  b.Sample({1}, {1});
  const auto p = Read(b.Build());
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->notes.size(), 2u);
  EXPECT_EQ(p->notes[0], "x.pb: 1 locations name mappings that are not in the file");
  EXPECT_EQ(p->notes[1], "x.pb: 1 texts are not UTF-8");
}

TEST(PprofReader, AMissingLocationIsAnErrorWithItsPlace) {
  ProtoBuilder b;
  b.Type("a", "count");
  b.Location(1, 0x10);
  b.Sample({1}, {1});
  const size_t at = b.size();
  b.Sample({1, 17}, {1});
  EXPECT_EQ(ErrorOf(b.Build()),
            "pprof protobuf: x.pb: byte " + std::to_string(at) +
                ": a sample names the location with the id 17, which is not there");
}

TEST(PprofReader, SaysWhatIsWrong) {
  const auto with = [](auto change) {
    ProtoBuilder b;
    b.Type("a", "count");
    b.Location(1, 0x10);
    change(&b);
    return ErrorOf(b.Build());
  };
  const auto expect = [](const std::string& error, const std::string& part) {
    EXPECT_NE(error.find("pprof protobuf: x.pb: byte "), std::string::npos) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  };
  expect(with([](ProtoBuilder* b) { b->Location(1, 0x20); }), "two locations with the id 1");
  expect(with([](ProtoBuilder* b) { b->Location(0, 0x20); }), "a location has the id 0");
  expect(with([](ProtoBuilder* b) {
           for (int i = 0; i < 1000; ++i) b->Type("a", "count");
         }),
         "more than 1000 sample types");
  expect(with([](ProtoBuilder* b) { b->Function(0, "f"); }), "a function has the id 0");
  expect(with([](ProtoBuilder* b) { b->Mapping(0, "f"); }), "a mapping has the id 0");
  expect(with([](ProtoBuilder* b) { b->Location(2, 1, {{0, 1}}); }), "line without a function");
  expect(with([](ProtoBuilder* b) { b->Location(2, 1, {{5, 1}}); }), "function with the id 5");
  expect(with([](ProtoBuilder* b) {
           b->Sample({1}, {1, 2});
         }),
         "samples have 2 values, but there are 1 sample types");
  expect(with([](ProtoBuilder* b) {
           b->Sample({1}, {1});
           b->Sample({1}, {});
         }),
         "a sample has 0 values, those before have 1");
  expect(with([](ProtoBuilder* b) { b->Sample({0}, {1}); }), "location with the id 0");
  expect(with([](ProtoBuilder* b) { b->out().add_int64(7, 1000); }), "text 1000 is named");
  expect(with([](ProtoBuilder* b) { b->out().add_int64(7, -1); }), "text 18446744073709551615");
  expect(with([](ProtoBuilder* b) { b->out().add_int64(2, 1); }), "a text or message is expected");
  expect(with([](ProtoBuilder* b) { b->out().add_string(12, "x"); }), "a number is expected");
  expect(with([](ProtoBuilder* b) { b->out().add_string(2, "\x0a\x7f"); }),
         "longer than the message it is in");
  expect(with([](ProtoBuilder* b) {
           b->out().add_int64(9, 1);
           b->out().add_int64(9, 1);
         }),
         "a second profile begins");
  expect(with([](ProtoBuilder* b) { b->out().add_string(6, "no empty text"); }),
         "does not begin with an empty one");
  expect(with([](ProtoBuilder* b) { b->Sample(std::vector<uint64_t>(65536, 1), {1}); }),
         "a stack has 65536 frames");
  expect(ErrorOf(""), "the file is empty");
  expect(ErrorOf("\x50\x01"), "no table of texts");
  expect(ErrorOf("\x0a\xff\xff\xff\xff\xff\x7f"), "claims to have");
  expect(ErrorOf(std::string("\x0a\x80\x80\x80\x01xx", 7)), "the file ends 2097150 bytes before");
  ProtoBuilder untyped;
  untyped.Location(1, 1);
  untyped.Sample({1}, {});
  expect(ErrorOf(untyped.Build()), "nothing says what their values are");
}

// 200 kB that would be a gigabyte of names.
TEST(PprofReader, ALongTextThatManyNameIsRefused) {
  const std::string longest(100'000, 'x');
  for (const bool comments : {false, true}) {
    ProtoBuilder b;
    b.Type("inuse_space", "bytes");
    const int64_t text = b.Text(longest);
    for (uint64_t i = 1; i <= 10'000; ++i) {
      if (comments) {
        b.out().add_int64(profile_proto::kComment, text);
      } else {
        b.Function(i, longest);
      }
    }
    const std::string bytes = b.Build();
    EXPECT_LT(bytes.size(), 300'000u);
    const std::string error = ErrorOf(bytes);
    const std::string place = std::to_string(bytes.find(longest) - 4);  // its field begins there
    EXPECT_NE(error.find("byte " + place +
                         ": the longest text, of 97.7 kB, and others are named so "
                         "often that they would take 95"),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("record it again"), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(PprofReader, LongPathsThatManyShareAreRead) {
  ProtoBuilder b;
  b.Type("inuse_space", "bytes");
  const std::string path = "/" + std::string(4000, 'p') + ".cc";
  for (uint64_t i = 1; i <= 10'000; ++i) b.Function(i, "f", "_Z1fv", path);
  const auto p = Read(b.Build());
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->functions.size(), 10'000u);
  EXPECT_EQ(p->functions.back().file, path);
}

TEST(PprofReader, ADeepStackIsReadWhole) {
  ProtoBuilder b;
  b.Type("a", "count");
  b.Location(1, 0x10);
  b.Sample(std::vector<uint64_t>(Profile::kMaxDepth, 1), {1});
  const auto p = Read(b.Build());
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->nodes.size(), Profile::kMaxDepth);
}

TEST(PprofReader, AFileThatIsCutAnywhereIsReadOrRefused) {
  const std::string whole = EverythingProto();
  size_t refused = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto p = Read(whole.substr(0, size));
    if (p) continue;
    ++refused;
    EXPECT_EQ(p.error().message.find("pprof protobuf: x.pb: byte "), 0u) << p.error().message;
  }
  EXPECT_GT(refused, whole.size() - 20) << "all that depends on texts fails without them";
}

TEST(PprofReader, AnyDamagedByteIsReadOrRefused) {
  const std::string whole = EverythingProto();
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x80, 0x7f, 0xff}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      refused += Read(bytes) ? 0 : 1;
    }
  }
  EXPECT_GT(refused, whole.size());
}

// Gives one byte at a time, or fails in the end.
class SlowStream final : public ByteStream {
 public:
  SlowStream(std::string_view bytes, bool fail) : bytes_(bytes), fail_(fail) {}
  Result<size_t> Read(char* buffer, size_t) override {
    if (at_ == bytes_.size() && fail_) return Fail(ErrorCode::kIo, "the disk is gone", at_);
    if (at_ == bytes_.size()) return 0u;
    *buffer = bytes_[at_++];
    return 1u;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool fail_;
};

TEST(PprofReader, TheStreamMayComeInPieces) {
  const std::string whole = EverythingProto();
  SlowStream slow(whole, false);
  const auto p = ReadPprof(&slow, "x.pb");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->rows.size(), 3u);
  SlowStream failing(whole, true);
  const auto failed = ReadPprof(&failing, "x.pb");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the disk is gone");
}

// Enough samples for a thread of their own.
TEST(PprofReader, KeepsTheOrderOfManySamples) {
  constexpr uint64_t kSamples = 20'000;
  constexpr uint64_t kLocations = 991;
  const auto stack_of = [](uint64_t sample) {
    std::vector<uint64_t> ids;
    for (uint64_t depth = 0; depth < sample % 7; ++depth) {
      ids.push_back(1 + (sample * 31 + depth * 17) % kLocations);
    }
    return ids;
  };
  ProtoBuilder b;
  b.Type("space", "bytes");
  for (uint64_t i = 0; i < kSamples; ++i) b.Sample(stack_of(i), {static_cast<int64_t>(i)});
  for (uint64_t id = 1; id <= kLocations; ++id) b.Location(id, 0x1000 * id);
  const auto p = Read(b.Build());
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->rows.size(), kSamples);
  std::vector<LocationId> stack;
  for (RowId row = 0; row < kSamples; ++row) {
    p->StackOf(row, &stack);
    std::vector<uint64_t> ids;
    for (const LocationId id : stack) ids.push_back(p->locations[id].address / 0x1000);
    ASSERT_EQ(ids, stack_of(row)) << row;
    ASSERT_EQ(p->value(row, 0), static_cast<int64_t>(row));
  }
}

}  // namespace
}  // namespace heapgauge
