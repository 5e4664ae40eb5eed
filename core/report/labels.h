// What the entities of a report are called in it. Names are short by default, and short names can
// be equal where the functions are not: those get parameters, template arguments, or where they are
// from, until each name of the report is one thing.
//
// Built once for the entities that a report shows; read-only afterwards.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/fold/frames.h"
#include "core/model/profile.h"
#include "core/report/styled_text.h"

namespace heapgauge {

class Labels {
 public:
  Labels() = default;
  // `shown` may name an entity more than once, and kNone.
  Labels(const Profile& profile, const Entities& entities, std::vector<EntityId> shown, Names names,
         const Layout& layout);

  // REQUIRES: `id` is one of `shown`. For kNone: "(unknown stack)".
  const std::string& operator[](EntityId id) const { return labels_.at(id); }

 private:
  std::unordered_map<EntityId, std::string> labels_;
};

// The source position of a frame, "server.cc:42", or "" where it is not known or the label says it.
std::string PlaceOf(const Profile& profile, Granularity granularity, uint32_t frame);

// A name for each of the profile's frames, for formats that know nothing but names; by line it
// includes the place.
std::vector<std::string> FrameNames(const Profile& profile, Granularity granularity, Names names);

// Label and place in `width` columns. The place is dropped, then the label is cut in its middle, or
// a path at its front.
StyledText FitLabel(std::string_view label, std::string_view place, Granularity granularity,
                    size_t width, const Layout& layout);

}  // namespace heapgauge
