// What pprof lets its users choose about a report, under pprof's names. Flags, the shell and the
// web pages all fill in one of these.
//
// Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace heapgauge::pprof {

enum class ReportKind {
  kTop,  // also called text
  kTree,
  kPeek,
  kTraces,
  kTags,
  kList,
  kWeblist,
  kDisasm,
  kDot,
  kCallgrind,
  kProto,
  kTopProto,
  kRaw,
  kComments,
};

enum class Shape { kFunctions, kFileFunctions, kFiles, kLines, kAddresses };

struct Config {
  // Values.
  std::string sample_index;  // name or number; "" the profile's default
  bool mean = false;
  double divide_by = 1;
  std::string unit = "minimum";
  bool normalize = false;
  bool drop_negative = false;
  bool relative_percentages = false;

  // Shape.
  bool sort_by_cum = false;
  Shape granularity = Shape::kFunctions;
  bool no_inlines = false;
  bool show_columns = false;
  bool call_tree = false;
  int node_count = -1;  // -1: as the report has it
  double node_fraction = 0.005;
  double edge_fraction = 0.001;
  bool trim = true;
  bool compact_labels = false;
  bool intel_syntax = false;

  // Filters; regular expressions (RE2).
  std::string focus;
  std::string ignore;
  std::string hide;
  std::string show;
  std::string show_from;
  std::string prune_from;
  std::string tag_focus;
  std::string tag_ignore;
  std::string tag_show;
  std::string tag_hide;
  std::string tag_root;  // names of labels, separated by commas
  std::string tag_leaf;

  // Where sources are looked for.
  std::string source_path;
  std::string trim_path;
};

}  // namespace heapgauge::pprof
