// What preload.cc counts in a program and show_report.cc prints. Lives in a mapped file.
#pragma once

#include <cstdint>

namespace heapgauge::agent {

inline constexpr uint64_t kNotes = 24;

struct Report {
  uint64_t walks;               // by the Walker, each compared with a plain walk
  uint64_t frames;              // of these
  uint64_t unchanged;           // of these, taken over from the walk before
  uint64_t remembered_differs;  // walks that differ from the plain one
  uint64_t incomplete;          // walks that did not reach the outermost frame

  uint64_t reference_walks;    // compared with libunwind
  uint64_t reference_frames;   // of these
  uint64_t reference_same;     // frames with equal pc and sp
  uint64_t fp_same;            // frames with equal fp
  uint64_t reference_differs;  // walks with a difference, and what libgcc says to them:
  uint64_t libgcc_with_us;
  uint64_t libgcc_against_us;
  uint64_t libgcc_with_neither;

  uint64_t notes;
  char note[kNotes][240];
};

}  // namespace heapgauge::agent
