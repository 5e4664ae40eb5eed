#include <gtest/gtest.h>

#include <random>

#include "core/formats/mappings/mappings.h"

namespace heapgauge {
namespace {

std::vector<Module> Parse(std::initializer_list<std::string_view> lines) {
  MappingParser parser;
  for (const std::string_view line : lines) parser.Line(line);
  return parser.Take();
}

void ExpectModule(const Module& m, uint64_t start, uint64_t end, uint64_t offset,
                  const std::string& path, const std::string& build_id = "") {
  EXPECT_EQ(m.start, start);
  EXPECT_EQ(m.end, end);
  EXPECT_EQ(m.offset, offset);
  EXPECT_EQ(m.path, path);
  EXPECT_EQ(m.build_id, build_id);
  EXPECT_FALSE(m.load_bias_known);
}

Module Range(uint64_t start, uint64_t end, uint64_t offset = 0, std::string path = "") {
  Module m;
  m.start = start;
  m.end = end;
  m.offset = offset;
  m.path = std::move(path);
  return m;
}

TEST(MappingParser, ReadsLinesOfProcMaps) {
  const auto modules = Parse({
      "55d0a0-55d0b0 r-xp 00001000 fe:01 12 /usr/bin/program",
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0",
      "7f0000002000-7f0000003000 r-xs 00000000 00:0f 33     /dev/zero (deleted)",
      "7f0000004000-7f0000005000 r-xp 00002000 fe:01 12 /opt/my program/lib.so",
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]",
  });
  ASSERT_EQ(modules.size(), 4u);
  ExpectModule(modules[0], 0x55d0a0, 0x55d0b0, 0x1000, "/usr/bin/program");
  ExpectModule(modules[1], 0x7f0000002000, 0x7f0000003000, 0, "/dev/zero");
  ExpectModule(modules[2], 0x7f0000004000, 0x7f0000005000, 0x2000, "/opt/my program/lib.so");
  ExpectModule(modules[3], 0xffffffffff600000, 0xffffffffff601000, 0, "[vsyscall]");
}

TEST(MappingParser, ReadsBriefForms) {
  const auto modules = Parse({
      "0x40000-0x80000 /path/to/binary (@FF00) abc123456",
      "40000-80000: file",
      "0x40000 0x80000 r-xp file",
      "40000-80000",
      "0x40000-0x80000 r--p file",
  });
  ASSERT_EQ(modules.size(), 4u);
  ExpectModule(modules[0], 0x40000, 0x80000, 0xff00, "/path/to/binary", "abc123456");
  ExpectModule(modules[1], 0x40000, 0x80000, 0, "file");
  ExpectModule(modules[2], 0x40000, 0x80000, 0, "file");
  ExpectModule(modules[3], 0x40000, 0x80000, 0, "");
}

TEST(MappingParser, ExpandsVariablesAndDropsPrefixesOfLoggers) {
  const auto modules = Parse({
      "  build = /out ",
      "sub=$build/lib",
      "I0101 12:00:00.000 77 profile.cc:88] 40000-80000: $sub/a.so$",
      "$unknown",
  });
  ASSERT_EQ(modules.size(), 1u);
  ExpectModule(modules[0], 0x40000, 0x80000, 0, "/out/lib/a.so$");
}

TEST(MappingParser, IsNotBlownUpByVariablesInVariables) {
  MappingParser parser;
  parser.Line("x0=0123456789");
  for (int i = 1; i < 1000; ++i) {
    const std::string last = "$x" + std::to_string(i - 1);
    parser.Line("x" + std::to_string(i) + "=" + last + last + last);
  }
  parser.Line("40000-80000: ok");
  EXPECT_EQ(parser.Take().size(), 1u);
}

TEST(MappingParser, LeavesOutWhatIsNoMapping) {
  EXPECT_TRUE(Parse({"", "hello", "= =", "fffffffffffffffff-1ffffffffffffffffff x", "#"}).empty());
}

TEST(TidyModules, JoinsNeighboursOfOneFile) {
  std::vector<Module> modules = {
      Range(0x1000, 0x2000, 0x1000, "/a"), Range(0x2000, 0x3000, 0x2000, "/a"),
      Range(0x3000, 0x4000, 0x9000, "/a"), Range(0x4000, 0x5000, 0, "/b")};
  TidyModules(&modules);
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_EQ(modules[0].end, 0x3000u);
}

TEST(TidyModules, PutsTheProgramFirst) {
  std::vector<Module> modules = {Range(1, 2, 0, ""),
                                 Range(3, 4, 0, "[vdso]"),
                                 Range(5, 6, 0, "/lib/libc.so.6"),
                                 Range(7, 8, 0, "/lib/x.so"),
                                 Range(9, 10, 0, "/lib/y.so_1"),
                                 Range(11, 12, 0, "/bin/program")};
  TidyModules(&modules);
  EXPECT_EQ(modules[0].path, "/bin/program");
  EXPECT_EQ(modules[5].path, "");
}

// The rules in the plainest words, one address after the other over the whole list.
std::vector<ModuleId> Plainly(std::vector<Module> modules, const std::vector<uint64_t>& addresses) {
  std::vector<ModuleId> found;
  ModuleId fake = kNone;
  for (const uint64_t a : addresses) {
    ModuleId id = kNone;
    for (ModuleId i = 0; i < modules.size() && id == kNone; ++i) {
      if (modules[i].start <= a && a < modules[i].end) id = i;
    }
    for (ModuleId i = 0; i < modules.size() && id == kNone; ++i) {
      Module& m = modules[i];
      if (m.offset != 0 && m.start - m.offset <= a && a < m.start) {
        m.start -= m.offset;
        m.offset = 0;
        id = i;
      }
    }
    if (id == kNone) {
      if (fake == kNone) {
        fake = static_cast<ModuleId>(modules.size());
        modules.push_back(Range(0, ~uint64_t{0}));
      }
      id = fake;
    }
    found.push_back(a == 0 ? kNone : id);
  }
  return found;
}

TEST(AssignModules, AgreesWithAWalkOverTheListForAnyOverlaps) {
  std::mt19937 random(7);
  const auto below = [&](uint64_t n) { return random() % n; };
  for (int round = 0; round < 400; ++round) {
    std::vector<Module> modules;
    for (uint64_t i = 0, count = below(8); i < count; ++i) {
      const uint64_t start = below(100);
      // Libraries, so that none is moved to the front; names apart, so that none are joined.
      modules.push_back(Range(start, start + below(30), below(3) == 0 ? below(130) : 0,
                              "/lib" + std::to_string(i) + ".so"));
    }
    Profile profile;
    std::vector<uint64_t> addresses;
    for (int i = 0; i < 60; ++i) {
      addresses.push_back(1 + below(140));
      Location location;
      location.address = addresses.back();
      location.exact = true;
      profile.locations.push_back(location);
    }
    const std::vector<ModuleId> expected = Plainly(modules, addresses);
    AssignModules(modules, &profile);
    for (size_t i = 0; i < addresses.size(); ++i) {
      ASSERT_EQ(profile.locations[i].module, expected[i]) << "round " << round << " address " << i;
    }
  }
}

TEST(AssignModules, FoldsTheOffsetOfAProgramAtItsUsualPlace) {
  Profile profile;
  profile.locations.resize(1);
  profile.locations[0].address = 0x400500;
  AssignModules({Range(0x401000, 0x402000, 0x1000, "/bin/program")}, &profile);
  ASSERT_EQ(profile.modules.size(), 1u);
  EXPECT_EQ(profile.modules[0].start, 0x400000u);
  EXPECT_EQ(profile.modules[0].offset, 0u);
  EXPECT_EQ(profile.locations[0].module, 0u);
}

TEST(AssignModules, DropsHugePagesBeforeTheProgram) {
  Profile profile;
  AssignModules({Range(0x1000, 0x2000, 0, "/anon_hugepage (deleted)"),
                 Range(0x2000, 0x3000, 0x1000, "/lib.so")},
                &profile);
  ASSERT_EQ(profile.modules.size(), 1u);
  EXPECT_EQ(profile.modules[0].path, "/lib.so");
}

TEST(AssignModules, GivesLocationsWithoutMappingsOneThatSpansAll) {
  Profile profile;
  profile.locations.resize(2);
  profile.locations[0].address = 0x1234;
  AssignModules({}, &profile);
  ASSERT_EQ(profile.modules.size(), 1u);
  EXPECT_EQ(profile.modules[0].end, ~uint64_t{0});
  EXPECT_EQ(profile.locations[0].module, 0u);
  EXPECT_EQ(profile.locations[1].module, kNone) << "no address, no module";
}

}  // namespace
}  // namespace heapgauge
