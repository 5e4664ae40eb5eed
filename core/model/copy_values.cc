#include "core/model/copy_values.h"

#include "core/base/huge_pages.h"

namespace heapgauge {

Profile CopyOfValues(const Profile& profile) {
  Profile copy;
  copy.recording = profile.recording;
  copy.sample_types = profile.sample_types;
  copy.default_type = profile.default_type;
  copy.period_type = profile.period_type;
  copy.period = profile.period;
  copy.time_ns = profile.time_ns;
  copy.duration_ns = profile.duration_ns;
  copy.modules = profile.modules;
  copy.locations = profile.locations;
  copy.functions = profile.functions;
  copy.frames = profile.frames;
  ReserveHuge(profile.nodes.size(), &copy.nodes);
  copy.nodes = profile.nodes;
  copy.distinct_nodes = profile.distinct_nodes;
  ReserveHuge(profile.rows.size(), &copy.rows);
  copy.rows = profile.rows;
  ReserveHuge(profile.values.size(), &copy.values);
  copy.values = profile.values;
  copy.strings = profile.strings;
  copy.label_sets = profile.label_sets;
  copy.labels = profile.labels;
  copy.comments = profile.comments;
  copy.drop_frames = profile.drop_frames;
  copy.keep_frames = profile.keep_frames;
  copy.doc_url = profile.doc_url;
  copy.unknown_fields = profile.unknown_fields;
  return copy;
}

}  // namespace heapgauge
