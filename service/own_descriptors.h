// The descriptors of the debug port, and the proof that they still are ours.
//
// Programs close descriptors that they do not know, and then use their numbers for something else.
// A server that does not notice would accept the program's own connections, and close its files. So
// every socket that this library opens is remembered with what tells it from all others, and every
// call on it checks that first: a number that has changed hands is as good as closed. When the
// listening socket is lost the thread sleeps for good.
//
// The calls themselves (socket, accept4, recv ...) are bound to own_descriptors.cc for this library
// alone. Lock-free.
#pragma once

namespace heapgauge::service {

// In a forked child: closes those that are still ours, and forgets all.
void CloseOwnDescriptors();

}  // namespace heapgauge::service
