// Brings libheapgauge_service.so into the process when it is first needed, from the directory that
// the agent itself lies in or the one that HEAPGAUGE_LIBDIR names. A program that never asks for a
// profile of itself never has it mapped.
//
// It is loaded by the C library's dlopen, so this is not for signal handlers, nor for the time
// before the C library has started. What it allocates is not profiled. It is never unloaded.
#pragma once

#include "agent/record/settings.h"
#include "wire/service_api.h"

namespace heapgauge::agent {

// Copies what is needed later: a program may overwrite its environment. By the constructor, which
// tells whether there is a gauge file.
void RememberService(const Settings& settings, bool started);

// The service, loaded if need be; nullptr, with hg_last_error set, if that is not possible. A
// failure is final.
const wire::Service* LoadService();

// The service if it has been loaded, else nullptr.
const wire::Service* LoadedService();

// Opens the port that HEAPGAUGE_HTTP names, if it does. The program runs on whatever comes of it;
// with HEAPGAUGE_VERBOSE=1 a line on stderr tells.
void OpenDebugPort();

// The token file and whether to do without one, for heapgauge_serve().
const char* TokenFile();
bool MayServeInsecurely();

}  // namespace heapgauge::agent
