// Prints a profile as its reader sees it, or writes it in another format; for comparisons with
// other tools.
//
//   heapgauge_show_profile [--thread T] [--perl] [--symbols [--program FILE]] [--write
//   gperftools|jemalloc
//                          [--symbolized]] FILE
//
// One line for each row: values, apart by blanks; a tab; addresses as they are looked up, innermost
// first; a tab; the label `bytes`. With --perl the values are the estimates of the perl tools. With
// --symbols a line "F address name" follows for each location.

#include <cstdio>
#include <cstring>
#include <string>

#include "core/formats/heap_text/heap_text.h"
#include "core/formats/jemalloc/jemalloc.h"
#include "core/recording/recording.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge {
namespace {

void PrintRows(const Profile& profile, bool perl) {
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    for (size_t type = 0; type < profile.sample_types.size(); ++type) {
      if (perl) {
        std::printf("%.3f ", profile.estimate(row, type).value);
      } else {
        std::printf("%lld ", static_cast<long long>(profile.value(row, type)));
      }
    }
    std::printf("\t");
    profile.StackOf(row, &stack);
    for (const LocationId id : stack) {
      std::printf("%llx ", static_cast<unsigned long long>(profile.locations[id].lookup_address()));
    }
    long long bytes = -1;
    for (const Label& label : profile.LabelsOf(row)) {
      if (profile.strings[label.key] == "bytes") bytes = static_cast<long long>(label.number);
    }
    std::printf("\t%lld\n", bytes);
  }
}

int Main(int argc, char** argv) {
  ReadOptions options;
  SymbolizeOptions symbolize;
  TextWriteOptions text;
  bool symbols = false;
  bool perl = false;
  std::string write;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--thread") {
      options.text.thread = next;
      ++i;
    } else if (word == "--program") {
      symbolize.program_path = next;
      ++i;
    } else if (word == "--write") {
      write = next;
      ++i;
    } else if (word == "--perl") {
      perl = true;
      options.text.dialect = TextDialect::kJeprof;
    } else if (word == "--symbols") {
      symbols = true;
    } else if (word == "--symbolized") {
      text.symbolized = symbols = true;
    } else {
      path = word;
    }
  }
  const auto read = [&]() -> Result<Profile> {
    HG_ASSIGN(Recording recording, Recording::OpenFile(path));
    return recording.ReadProfile(options);
  };
  auto profile = read();
  if (!profile) {
    std::fprintf(stderr, "%s\n", profile.error().message.c_str());
    return 2;
  }
  if (symbols) Symbolize(symbolize, &*profile);
  if (!write.empty()) {
    StringSink sink;
    const Status status = write == "jemalloc" ? WriteJemalloc(*profile, text, &sink)
                                              : WriteHeapText(*profile, text, &sink);
    if (!status) {
      std::fprintf(stderr, "%s\n", status.error().message.c_str());
      return 2;
    }
    std::fwrite(sink.text().data(), 1, sink.text().size(), stdout);
    return 0;
  }
  PrintRows(*profile, perl);
  for (const Location& location : profile->locations) {
    if (!symbols) break;
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const Frame& frame = profile->frames[location.first_frame + i];
      std::printf("F %llx %s\n", static_cast<unsigned long long>(location.lookup_address()),
                  profile->functions[frame.function].name.c_str());
    }
  }
  return 0;
}

}  // namespace
}  // namespace heapgauge

int main(int argc, char** argv) { return heapgauge::Main(argc, argv); }
