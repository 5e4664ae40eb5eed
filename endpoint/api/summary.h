// What there is to look at: GET api/v1/sources, GET api/v1/summary, and the figures that views can
// be about.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "endpoint/api/source.h"
#include "endpoint/api/subject.h"

namespace heapgauge::endpoint::api {

// The figures that all views of a source can be about (live bytes, allocated blocks, ...), each
// with the parameters that ask for it.
//
// Pure.

struct FigureChoice {
  std::string title;
  Headers parameters;  // none for the figure that is shown first
};

std::vector<FigureChoice> FigureChoices(Source::Kind kind, const Subject& subject);

}  // namespace heapgauge::endpoint::api
