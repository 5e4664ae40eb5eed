// The settings file: $HEAPGAUGE_CONFIG, else /etc/heapgauge.conf. Lines of `key = value`; keys are
// the names of the environment's variables in lower case, without HEAPGAUGE_:
//
//   # comment
//   sample = 512K
//   http = 127.0.0.1:9700
//
// It is turned into entries of the kind that an environment has, and these are put behind the real
// ones, so that the environment wins and nobody else has to know about files. Lines that make no
// sense are passed over. The file must belong to root or to the user of the process, and not be
// writable by everybody; otherwise, and in programs with elevated rights, there is none.
// HEAPGAUGE_CONFIG set to nothing means no file.
//
// Reads without libc or heap, at most 16 KiB and 64 settings. By one thread, before the program
// starts.
#pragma once

#include <cstddef>

namespace heapgauge::agent {

// The settings of the environment followed by those of the file; `environment` itself if there is
// no file. Stays valid until the next call.
char** WithSettingsFile(char** environment);

// Turns the text of a file into entries "HEAPGAUGE_KEY=value", ended by nullptr, in `bytes` of
// memory at `out`; returns how many. `entries` has room for `most` and the nullptr.
size_t ParseSettings(const char* text, char* out, size_t bytes, char** entries, size_t most);

}  // namespace heapgauge::agent
