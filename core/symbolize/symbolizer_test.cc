// Looks up this test program's own functions, as a profile of it would name them.

#include "core/symbolize/symbolizer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/elf/elf_file.h"
#include "core/os/process.h"

namespace symbolizer_test {

int g_calls = 0;

inline __attribute__((always_inline)) void* Inner() {
  ++g_calls;
  return __builtin_return_address(0);
}
// The address behind the call in Caller(); the marker keeps the compiler from merging the
// functions.
extern "C" __attribute__((noinline)) void* HereForSymbolizer() {
  ++g_calls;
  return __builtin_return_address(0);
}
__attribute__((noinline)) void* Caller(int n) {
  void* here = HereForSymbolizer();  // line A
  g_calls += n;
  return here;
}
inline __attribute__((always_inline)) void* Inlined(int n) {
  void* here = HereForSymbolizer();  // line B
  g_calls += n;
  return here;
}
__attribute__((noinline)) void* Outer(int n) {
  void* here = Inlined(n);  // line C
  g_calls += 2 * n;
  return here;
}

// Overloads that gcc's DWARF has no linkage name for, all of them inlined.
namespace {
inline __attribute__((always_inline)) void* Overload(int n) {
  void* here = HereForSymbolizer();
  g_calls += n;
  return here;
}
inline __attribute__((always_inline)) void* Overload(const char* text) {
  void* here = HereForSymbolizer();
  g_calls += *text;
  return here;
}
struct Local {
  __attribute__((always_inline)) void* Overload(int n) {
    void* here = HereForSymbolizer();
    g_calls += 3 * n;
    return here;
  }
};
}  // namespace
__attribute__((noinline)) std::vector<void*> CallOverloads(int n) {
  std::vector<void*> places = {Overload(n), Overload("x"), Local().Overload(n)};
  const auto first = [](int k) __attribute__((always_inline)) {
    void* here = HereForSymbolizer();
    g_calls += k;
    return here;
  };
  const auto second = [](int k) __attribute__((always_inline)) {
    void* here = HereForSymbolizer();
    g_calls += 5 * k;
    return here;
  };
  places.push_back(first(n));
  places.push_back(second(n));
  return places;
}

}  // namespace symbolizer_test

namespace heapgauge {
namespace {

std::string Self() { return ProcessExecutable(static_cast<uint32_t>(getpid())); }

Profile ProfileOf(void* address, const std::string& path, const std::string& build_id) {
  Dl_info info{};
  link_map* map = nullptr;
  dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  Profile profile;
  Module module;
  module.path = path;
  module.build_id = build_id;
  module.start = reinterpret_cast<uint64_t>(info.dli_fbase);
  module.end = module.start + (64 << 20);
  module.load_bias = map->l_addr;
  profile.modules.push_back(module);
  Location location;
  location.address = reinterpret_cast<uint64_t>(address);
  location.module = 0;
  profile.locations.push_back(location);
  return profile;
}

std::string BuildIdOf(const std::string& path) {
  const auto file = ElfFile::Open(path);
  return file ? (*file)->build_id() : "";
}

std::string Name(const Profile& profile, uint32_t frame = 0) {
  const Location& location = profile.locations[0];
  return frame < location.frame_count
             ? profile.functions[profile.frames[location.first_frame + frame].function].name
             : "";
}

TEST(Symbolizer, NamesFunctionFileAndLine) {
  Profile profile = ProfileOf(symbolizer_test::Caller(1), Self(), BuildIdOf(Self()));
  const SymbolizeReport report = Symbolize({}, &profile);
  EXPECT_TRUE(report.notes.empty()) << report.notes[0];
  EXPECT_EQ(Name(profile), "symbolizer_test::Caller(int)");
  const Frame& frame = profile.frames[profile.locations[0].first_frame];
  EXPECT_TRUE(profile.modules[0].has_functions);
  if (frame.line == 0) GTEST_SKIP() << "built without debug information";
  EXPECT_NE(profile.functions[frame.function].file.find("symbolizer_test.cc"), std::string::npos);
  EXPECT_GT(frame.line, 20u);
  EXPECT_LT(frame.line, 60u);
}

TEST(Symbolizer, ShowsInlinedCalls) {
  Profile profile = ProfileOf(symbolizer_test::Outer(1), Self(), BuildIdOf(Self()));
  Symbolize({}, &profile);
  if (!profile.modules[0].has_lines) GTEST_SKIP() << "built without debug information";
  ASSERT_EQ(profile.locations[0].frame_count, 2u);
  EXPECT_EQ(Name(profile, 0), "symbolizer_test::Inlined(int)");
  EXPECT_EQ(Name(profile, 1), "symbolizer_test::Outer(int)");
  const uint32_t first = profile.locations[0].first_frame;
  EXPECT_TRUE(profile.frames[first].inlined);
  EXPECT_FALSE(profile.frames[first + 1].inlined);
  EXPECT_GT(profile.frames[first + 1].line, profile.frames[first].line) << "where it was inlined";
  EXPECT_TRUE(profile.Check() || profile.values.empty());
}

TEST(Symbolizer, OverloadsWithoutALinkersNameStayApart) {
  std::set<FunctionId> functions;
  std::set<std::string> identities;
  std::vector<std::string> names;
  Profile profile;
  for (void* place : symbolizer_test::CallOverloads(1)) {
    const Profile one = ProfileOf(place, Self(), BuildIdOf(Self()));
    profile.modules = one.modules;
    profile.locations.push_back(one.locations[0]);
  }
  Symbolize({}, &profile);
  if (!profile.modules[0].has_lines) GTEST_SKIP() << "built without debug information";
  for (const Location& location : profile.locations) {
    ASSERT_GE(location.frame_count, 2u);
    const Frame& frame = profile.frames[location.first_frame];
    EXPECT_TRUE(frame.inlined);
    const Function& function = profile.functions[frame.function];
    functions.insert(frame.function);
    identities.insert(function.system_name.empty() ? function.name : function.system_name);
    names.push_back(function.name);
  }
  EXPECT_EQ(functions.size(), 5u);
  EXPECT_EQ(identities.size(), 5u) << testing::PrintToString(names);
  EXPECT_EQ(names[0], "symbolizer_test::(anonymous namespace)::Overload(int)");
  EXPECT_EQ(names[1], "symbolizer_test::(anonymous namespace)::Overload(char const*)");
  EXPECT_EQ(names[2], "symbolizer_test::(anonymous namespace)::Local::Overload(int)");
  EXPECT_TRUE(names[3].starts_with("symbolizer_test::CallOverloads(int)::")) << names[3];
}

TEST(Symbolizer, UsesTheDynamicSymbolsOfALibrary) {
  void* address = reinterpret_cast<char*>(dlsym(RTLD_DEFAULT, "getsubopt")) + 4;
  Dl_info info{};
  ASSERT_NE(dladdr(address, &info), 0);
  const std::string path = std::filesystem::canonical(info.dli_fname).string();
  Profile profile = ProfileOf(address, path, BuildIdOf(path));
  SymbolizeOptions options;
  options.debug_dirs.clear();
  Symbolize(options, &profile);
  EXPECT_EQ(Name(profile), "getsubopt");
}

// The vDSO as a profile records it: mapped, without a file.
Profile ProfileOfVdso(const char* symbol) {
  void* library = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* place = library == nullptr ? nullptr : dlsym(library, symbol);
  if (place == nullptr) return {};
  Profile profile = ProfileOf(place, "[vdso]", "");
  profile.locations[0].address += 1;
  const uint64_t base = profile.modules[0].start;
  const auto* bytes = reinterpret_cast<const uint8_t*>(base);
  const auto file = ElfFile::FromBytes({bytes, bytes + sysconf(_SC_PAGESIZE)}, "[vdso]");
  if (file) profile.modules[0].build_id = (*file)->build_id();
  return profile;
}

TEST(Symbolizer, NamesFunctionsOfTheVdso) {
  Profile profile = ProfileOfVdso("__vdso_clock_gettime");
  if (profile.modules.empty()) GTEST_SKIP() << "this process has no vDSO";
  ASSERT_NE(profile.modules[0].build_id, "");
  const SymbolizeReport report = Symbolize({}, &profile);
  EXPECT_TRUE(report.notes.empty()) << report.notes[0];
  EXPECT_NE(Name(profile).find("clock_gettime"), std::string::npos) << Name(profile);
}

TEST(Symbolizer, TheVdsoOfAnotherKernelIsNotUsed) {
  Profile profile = ProfileOfVdso("__vdso_clock_gettime");
  if (profile.modules.empty()) GTEST_SKIP() << "this process has no vDSO";
  profile.modules[0].build_id = "0123456789abcdef";
  Symbolize({}, &profile);
  EXPECT_TRUE(Name(profile).starts_with("[vdso]+0x")) << Name(profile);
}

TEST(Symbolizer, AnotherBuildIsRefused) {
  Profile profile = ProfileOf(symbolizer_test::Caller(1), Self(), "00112233");
  const SymbolizeReport report = Symbolize({}, &profile);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("another build"), std::string::npos) << report.notes[0];
  EXPECT_EQ(Name(profile).find("Caller"), std::string::npos) << "no wrong names";
  EXPECT_NE(Name(profile).find("+0x"), std::string::npos) << "module and offset: " << Name(profile);
}

TEST(Symbolizer, AMissingFileGivesModuleAndOffset) {
  Profile profile = ProfileOf(symbolizer_test::Caller(1), "/no/such/server", "");
  profile.modules[0].load_bias = profile.locations[0].address - 0x101;
  const SymbolizeReport report = Symbolize({}, &profile);
  EXPECT_EQ(Name(profile), "server+0x100") << "the call, not the return address";
  EXPECT_EQ(report.notes.size(), 1u);
  profile = ProfileOf(symbolizer_test::Caller(1), "linux-vdso.so.1", "");
  EXPECT_TRUE(Symbolize({}, &profile).notes.empty());
  profile.locations[0] = Location();
  profile.locations[0].address = 0x1234;
  Symbolize({}, &profile);
  EXPECT_EQ(Name(profile), "0x1234");
}

TEST(Symbolizer, FilesThatAreNoElfAreNoHarm) {
  for (const char* path : {"/etc/passwd", "/dev/zero", "/proc/self/mem", "/"}) {
    Profile profile = ProfileOf(symbolizer_test::Caller(1), path, "");
    EXPECT_EQ(Symbolize({}, &profile).notes.size(), 1u) << path;
  }
}

TEST(Symbolizer, NamesFromTheCacheAreTheSame) {
  std::string dir = ::testing::TempDir() + "heapgauge.XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  SymbolizeOptions options;
  options.cache_dir = dir + "/cache";
  Profile first = ProfileOf(symbolizer_test::Outer(1), Self(), BuildIdOf(Self()));
  if (first.modules[0].build_id.empty()) GTEST_SKIP() << "linked without a build-id";
  Symbolize(options, &first);
  EXPECT_TRUE(
      std::filesystem::exists(options.cache_dir + "/" + first.modules[0].build_id + ".names"));
  Profile second = ProfileOf(symbolizer_test::Outer(1), Self(), BuildIdOf(Self()));
  Symbolize(options, &second);
  ASSERT_EQ(second.frames.size(), first.frames.size());
  for (size_t i = 0; i < first.frames.size(); ++i) {
    EXPECT_EQ(second.frames[i].line, first.frames[i].line);
    EXPECT_EQ(second.functions[second.frames[i].function].name,
              first.functions[first.frames[i].function].name);
  }
  EXPECT_EQ(second.modules[0].has_lines, first.modules[0].has_lines);
  // Another address of the same module is added to what is there.
  Profile other = ProfileOf(symbolizer_test::Caller(1), Self(), BuildIdOf(Self()));
  Symbolize(options, &other);
  EXPECT_EQ(Name(other), "symbolizer_test::Caller(int)");
  std::filesystem::remove_all(dir);
}

// This program as a file of its own that can be built again.
class RebuiltProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "heapgauge.XXXXXX";
    ASSERT_NE(mkdtemp(dir_.data()), nullptr);
    options_.cache_dir = dir_ + "/cache";
    path_ = dir_ + "/program";
    std::filesystem::copy_file(Self(), path_);
    build_id_ = BuildIdOf(path_);
    if (build_id_.empty()) GTEST_SKIP() << "linked without a build-id";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  void BuildAgain() {
    std::filesystem::copy_file("/bin/sh", path_, std::filesystem::copy_options::overwrite_existing);
  }
  std::string NameOf(void* place) {
    Profile profile = ProfileOf(place, path_, build_id_);
    notes_ = Symbolize(options_, &profile).notes;
    return Name(profile);
  }

  std::string dir_;
  std::string path_;
  std::string build_id_;
  SymbolizeOptions options_;
  std::vector<std::string> notes_;
};

TEST_F(RebuiltProgram, NamesThatWereFoundBeforeStay) {
  EXPECT_EQ(NameOf(symbolizer_test::Caller(1)), "symbolizer_test::Caller(int)");
  BuildAgain();
  EXPECT_EQ(NameOf(symbolizer_test::Caller(1)), "symbolizer_test::Caller(int)");
  EXPECT_TRUE(notes_.empty()) << notes_[0];
  std::filesystem::remove(path_);
  EXPECT_EQ(NameOf(symbolizer_test::Caller(1)), "symbolizer_test::Caller(int)");
}

TEST_F(RebuiltProgram, NamesThatWereNotFoundBeforeAreLostAndTheNoteSaysHowToKeepThem) {
  EXPECT_EQ(NameOf(symbolizer_test::Caller(1)), "symbolizer_test::Caller(int)");
  BuildAgain();
  EXPECT_TRUE(NameOf(symbolizer_test::Outer(1)).starts_with("program+0x"));
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_TRUE(notes_[0].starts_with("1 of 1 places in " + path_ + " have no name: ")) << notes_[0];
  EXPECT_NE(notes_[0].find("is another build"), std::string::npos) << notes_[0];
  EXPECT_NE(notes_[0].find("heapgauge save"), std::string::npos) << notes_[0];
}

TEST_F(RebuiltProgram, AReportOnOtherAddressesLosesNoneThatWereFoundBefore) {
  EXPECT_EQ(NameOf(symbolizer_test::Caller(1)), "symbolizer_test::Caller(int)");
  // The file is another one, though of the same build: what was kept may be out of date.
  std::filesystem::remove(path_);
  std::filesystem::copy_file(Self(), path_);
  const std::string outer = NameOf(symbolizer_test::Outer(1));
  BuildAgain();
  EXPECT_EQ(NameOf(symbolizer_test::Caller(1)), "symbolizer_test::Caller(int)");
  EXPECT_EQ(NameOf(symbolizer_test::Outer(1)), outer);
}

TEST(Symbolizer, GeneratedCodeIsNamedByItsMapOrSaysThatThereIsNone) {
  Profile profile;
  profile.recording.pid = static_cast<uint32_t>(getpid());
  profile.recording.uid = getuid();
  Location location;
  location.address = 0x7001;
  profile.locations.push_back(location);
  Profile without = profile;
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  const SymbolizeReport report = Symbolize({}, &without);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find(path), std::string::npos) << report.notes[0];
  EXPECT_EQ(Name(without), "0x7001");
  std::ofstream(path) << "7000 10 js:Render\n";
  EXPECT_TRUE(Symbolize({}, &profile).notes.empty());
  std::filesystem::remove(path);
  EXPECT_EQ(Name(profile), "js:Render");
}

TEST(Symbolizer, ADeletedProgramIsReadThroughItsProcess) {
  Profile profile = ProfileOf(symbolizer_test::Caller(1), "/no/such/server", BuildIdOf(Self()));
  if (profile.modules[0].build_id.empty()) GTEST_SKIP() << "linked without a build-id";
  SymbolizeOptions options;
  options.pid = static_cast<uint32_t>(getpid());
  EXPECT_TRUE(Symbolize(options, &profile).notes.empty());
  EXPECT_EQ(Name(profile), "symbolizer_test::Caller(int)");
}

TEST(Symbolizer, APluginThatIsNotFoundIsNotTakenForTheProgram) {
  for (const std::string path : {"/no/such/plugin.so", "plugins/plugin.so"}) {
    Profile profile = ProfileOf(symbolizer_test::Caller(1), path, "0123456789abcdef");
    profile.modules[0].start = 0x1000;  // not where the program is
    profile.modules[0].end = 0x2000;
    SymbolizeOptions options;
    options.pid = static_cast<uint32_t>(getpid());
    const SymbolizeReport report = Symbolize(options, &profile);
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_NE(report.notes[0].find("'" + path + "'"), std::string::npos) << report.notes[0];
    EXPECT_EQ(report.notes[0].find("/exe"), std::string::npos) << report.notes[0];
  }
}

// The program itself cut at many places: libdw meets section tables that point nowhere.
TEST(Symbolizer, DamagedProgramsAreNoHarm) {
  std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
  close(mkstemp(pattern.data()));
  std::ifstream in(Self(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  void* address = symbolizer_test::Caller(1);
  for (int part = 0; part < 16; ++part) {
    std::ofstream(pattern, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size() * part / 16));
    Profile profile = ProfileOf(address, pattern, BuildIdOf(pattern));
    Symbolize({}, &profile);
    EXPECT_EQ(profile.locations[0].frame_count, 1u);
  }
  std::filesystem::remove(pattern);
}

// As a foreign format has it: which part of the file is mapped where, and no more.
Profile ForeignProfileOf(void* address, const std::string& path) {
  Profile profile = ProfileOf(address, path, "");
  Module& module = profile.modules[0];
  module.load_bias = 0;
  module.load_bias_known = false;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long low = 0, high = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %*s %llx", &low, &high, &offset) != 3) continue;
    const auto wanted = reinterpret_cast<uint64_t>(address);
    if (wanted < low || wanted >= high) continue;
    module.start = low;
    module.end = high;
    module.offset = offset;
  }
  return profile;
}

TEST(Symbolizer, FindsTheLoadBiasOfAForeignProfile) {
  Profile profile = ForeignProfileOf(symbolizer_test::Caller(1), Self());
  const SymbolizeReport report = Symbolize({}, &profile);
  EXPECT_NE(Name(profile).find("Caller"), std::string::npos) << Name(profile);
  EXPECT_TRUE(profile.modules[0].load_bias_known);
  EXPECT_EQ(profile.modules[0].build_id, "") << "the profile is as it was";
  EXPECT_TRUE(report.notes.empty());
}

TEST(Symbolizer, TakesTheProgramThatItIsTold) {
  Profile profile = ForeignProfileOf(symbolizer_test::Caller(1), "/gone/elsewhere");
  SymbolizeOptions options;
  Profile without = profile;
  Symbolize(options, &without);
  EXPECT_TRUE(Name(without).starts_with("elsewhere+0x")) << Name(without);
  options.program_path = Self();
  Profile with = profile;
  EXPECT_TRUE(Symbolize(options, &with).notes.empty());
  EXPECT_NE(Name(with).find("Caller"), std::string::npos) << Name(with);
  profile.modules[0].build_id = "0123";
  const SymbolizeReport report = Symbolize(options, &profile);
  EXPECT_NE(Name(profile).find("Caller"), std::string::npos) << Name(profile);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("another build"), std::string::npos) << report.notes[0];
}

TEST(Symbolizer, LooksForBinariesInDirectories) {
  const std::string dir = ::testing::TempDir() + "/binaries" + std::to_string(getpid());
  const std::string id = BuildIdOf(Self());
  for (const std::string& place :
       {std::string("elsewhere"), id + "/elsewhere", std::string("gone/elsewhere")}) {
    if (place.front() == '/') GTEST_SKIP() << "this program was linked without a build-id";
    const std::string path = dir + "/" + place;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::filesystem::create_symlink(Self(), path);
    Profile profile = ForeignProfileOf(symbolizer_test::Caller(1), "/gone/elsewhere");
    if (place.starts_with(id)) profile.modules[0].build_id = id;
    SymbolizeOptions options;
    options.binary_dirs = {dir};
    Symbolize(options, &profile);
    EXPECT_NE(Name(profile).find("Caller"), std::string::npos) << place;
    std::filesystem::remove_all(dir);
  }
}

TEST(Symbolizer, LeavesNamesAlone) {
  Profile profile = ForeignProfileOf(symbolizer_test::Caller(1), Self());
  profile.functions = {{"known", "", ""}};
  profile.frames = {{0, 7, false}};
  profile.locations[0].frame_count = 1;
  Symbolize({}, &profile);
  EXPECT_EQ(Name(profile), "known");
  EXPECT_EQ(profile.functions.size(), 1u);
}

}  // namespace
}  // namespace heapgauge
