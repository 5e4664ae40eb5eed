// Writes a massif.out file, as ms_print and massif-visualizer read it.
//
// Written piece by piece. ms_print takes '#' for the beginning of a comment wherever it is, so
// names get a blank in its place.
#pragma once

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/formats/massif/massif_file.h"

namespace heapgauge {

Status WriteMassif(const MassifFile& file, TextSink* out);

}  // namespace heapgauge
