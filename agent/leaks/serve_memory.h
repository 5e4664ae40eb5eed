// Hands out the memory of this process through two pipes, for a reader whom the kernel does not let
// read it. The reader has made them beside the gauge file, PATH.ask and PATH.say, for its user
// alone. A question is an address and a length, 16 bytes; the answer a number of bytes, 8 bytes,
// and then as many from the address on: less than asked where memory ends, 0 where there is none.
//
// Allocation-free. For a copy that does nothing else.
#pragma once

namespace heapgauge::agent {

namespace internal {
// The pipes, if they are there and a user's that may ask.
bool OpenPipes(const char* path, int pipes[2]);
// One question; false if there will be no more.
bool AnswerOne(const int pipes[2], const int probe[2]);
bool MakeProbe(int probe[2]);
void ClosePair(const int fds[2]);
// Waits a little while; true if there is a question.
bool HasQuestion(int fd);
}  // namespace internal

// Returns at once if nobody has made pipes; otherwise when they are closed, or `goes_on` says so.
template <typename GoesOn>
void ServeMemory(const char* path, GoesOn goes_on) {
  int pipes[2];
  if (!internal::OpenPipes(path, pipes)) return;
  int probe[2];
  if (internal::MakeProbe(probe)) {
    while (goes_on()) {
      if (internal::HasQuestion(pipes[0]) && !internal::AnswerOne(pipes, probe)) break;
    }
    internal::ClosePair(probe);
  }
  internal::ClosePair(pipes);
}

}  // namespace heapgauge::agent
