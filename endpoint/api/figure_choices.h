// The figures that all views of a source can be about (live bytes, allocated blocks, ...), each
// with the parameters that ask for it.
//
// Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "endpoint/api/source.h"
#include "endpoint/api/subject.h"

namespace heapgauge::endpoint::api {

struct FigureChoice {
  std::string title;
  Headers parameters;  // none for the figure that is shown first
};

std::vector<FigureChoice> FigureChoices(Source::Kind kind, const Subject& subject);

}  // namespace heapgauge::endpoint::api
