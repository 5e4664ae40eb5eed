// Adds up the reports of one run, prints them and judges: show_report MIN_WALKS FILE...
// Exit code 0 if at least 99.9 % of the frames agree with libunwind, none of the remembered stacks
// differs from the plain walk, and there were enough walks to say so.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/unwind/real_programs/report.h"

int main(int argc, char** argv) {
  using heapgauge::agent::Report;
  if (argc < 3) {
    fprintf(stderr, "usage: show_report MIN_WALKS FILE...\n");
    return 2;
  }
  Report sum = {};
  for (int i = 2; i < argc; ++i) {
    Report one = {};
    FILE* file = fopen(argv[i], "rb");
    if (file == nullptr || fread(&one, sizeof one, 1, file) != 1) {
      fprintf(stderr, "show_report: cannot read %s\n", argv[i]);
      return 2;
    }
    fclose(file);
    const auto* from = reinterpret_cast<const uint64_t*>(&one);
    auto* to = reinterpret_cast<uint64_t*>(&sum);
    for (size_t word = 0; word < offsetof(Report, notes) / sizeof(uint64_t); ++word) {
      to[word] += from[word];
    }
    for (uint64_t note = 0; note < one.notes && note < heapgauge::agent::kNotes; ++note) {
      printf("  %s\n", one.note[note]);
    }
  }
  const auto percent = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  const double agree = percent(sum.reference_same, sum.reference_frames);
  printf("walks %lu, frames %lu, of these unchanged %.1f %%, incomplete walks %lu\n", sum.walks,
         sum.frames, percent(sum.unchanged, sum.frames), sum.incomplete);
  printf("remembered != plain: %lu\n", sum.remembered_differs);
  printf("against libunwind: %lu walks, %lu frames, %.4f %% agree (fp %.4f %%)\n",
         sum.reference_walks, sum.reference_frames, agree,
         percent(sum.fp_same, sum.reference_frames));
  printf("walks that differ: %lu (libgcc with us %lu, with libunwind %lu, with neither %lu)\n",
         sum.reference_differs, sum.libgcc_with_us, sum.libgcc_against_us, sum.libgcc_with_neither);
  const bool enough = sum.reference_walks >= strtoull(argv[1], nullptr, 10);
  if (!enough) printf("too few walks to judge\n");
  return enough && agree >= 99.9 && sum.remembered_differs == 0 ? 0 : 1;
}
