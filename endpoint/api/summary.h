// The figures that all views of a source can be about: live bytes, allocated blocks and others.
//
// Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "endpoint/api/source.h"
#include "endpoint/api/subject.h"

namespace heapgauge::endpoint::api {

// A figure with the parameters that request it.
struct FigureChoice {
  std::string title;
  Headers parameters;  // none for the figure that is shown first
};

std::vector<FigureChoice> FigureChoices(Source::Kind kind, const Subject& subject);

}  // namespace heapgauge::endpoint::api
