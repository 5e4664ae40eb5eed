// The debug port of a program: the endpoint behind the HTTP server, in one thread that takes no
// signals and whose memory is not profiled.
//
// The thread is started once and runs until the process ends, however that comes about: nothing it
// uses is ever destroyed. A forked child has no such thread; it closes the sockets, and may open a
// port of its own. Programs that are executed inherit nothing.
//
// Threads: any.
#pragma once

#include <string>

#include "core/base/result.h"

namespace heapgauge::service {

// "%p" in the address stands for the number of the process. The same address again is no error.
Status OpenPort(const std::string& address, const std::string& token_file, bool insecure);

// In a forked child: there is no port any more. Also drops the parent's endpoint.
void ForgetPort();

// The program ends: removes a unix socket.
void EndPort();

// As a client would write it; "" if there is none. Good until the port is opened in a forked child.
const char* PortUrl();

}  // namespace heapgauge::service
