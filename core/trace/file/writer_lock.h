// Whether somebody writes a trace at this moment. Its writer holds a lock on the open file, which
// the kernel takes away however the writer ends; readers only ask, and hold up nobody.
//
// Advisory. On file systems without locks a trace counts as not being written.
#pragma once

namespace heapgauge::trace {

// Until the descriptor, which is open for writing, and all that were made of it are closed. False
// if there is another writer.
bool LockAsWriter(int fd);

// Any descriptor of the file but the writer's own.
bool HasWriter(int fd);

}  // namespace heapgauge::trace
