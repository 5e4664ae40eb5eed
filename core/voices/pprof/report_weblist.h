// The page around a weblist: style and script. It needs nothing from elsewhere, follows the light
// or dark preference of the reader, and is readable without the script. A click on a line, or Enter
// on it, shows the code under it; the two buttons do so for all lines.
#pragma once

namespace heapgauge::pprof {

// A format for fmt with the title.
extern const char kWeblistStart[];
extern const char kWeblistEnd[];

}  // namespace heapgauge::pprof
