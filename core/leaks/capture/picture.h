// The memory and the registers of a running program, all of one instant, and a search of that
// memory by the copy itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/capture/searching_copy.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class SavedMemory;

struct PictureOptions {
  // Called while the program stands still, from another thread than the caller's: be quick.
  std::function<void()> while_stopped;
  bool in_place = false;  // make no copy
  // Where no copy is made: its memory is saved here, and it goes on. nullptr: it stands still until
  // Release().
  SavedMemory* save_to = nullptr;
  bool may_look_in_place = true;  // if no copy can be made; otherwise ErrorCode::kUnsupported
  bool may_wait = false;          // the program waits anyway: it is no news that it stood still
};

// The memory and the registers of a running program, all of one instant.
//
// The threads are stopped, their registers read, and one of them is made to fork. The program then
// goes on, and the copy, which runs nothing of it, is read as long as it takes, or searches itself
// (searching_copy.h); pages are shared with the program until one of them is written to. Afterwards
// the copy is killed.
//
// The program hardly notices: the copy is a child that sends no signal when it ends, and wait()
// does not see such children (only __WALL and __WCLONE do, which debuggers use). It is made with
// the same table of open files and then gets an empty one of its own, so that what the program
// closes is closed, and its connections and locks end with it. When the copy is dead a second,
// short stop of one thread waits for it, so that no zombie stays. Forking by way of a middle
// process that ends at once would need no second stop; but the copy would become the child of the
// next subreaper above or of process 1 with SIGCHLD, and in a container that is often the program
// itself. What does show is the copy's processor time and memory among that of ended children
// (getrusage with RUSAGE_CHILDREN, times).
//
// Calls that it waits in go on as if nothing had been. Those that the kernel cannot resume begin
// anew, and with them their timeouts, so they may last longer: epoll, semop, sigtimedwait,
// io_getevents, io_uring_enter, and sockets that have a timeout (SO_RCVTIMEO, SO_SNDTIMEO).
//
// If we are killed, at any moment, the program goes on unharmed (machine.h) and the copy dies. What
// may happen then: a zombie stays until the next picture or the end of the program (a picture does
// not wait for such a copy if it is still about to end); and if all threads were in timed waits
// (nanosleep, poll with a timeout), the one that forked may see EINTR.
//
// Where no copy can be made (a filter of system calls, no room for a process), memory can be saved
// to memory of ours while the program stands still (saved_memory.h), or read in place.
//
// Threads: ptrace belongs to the thread that uses it, so a picture has one of its own. Read() of
// the memory is thread-safe, the rest is for one thread.
class Picture {
 public:
  static Result<std::unique_ptr<Picture>> Take(uint32_t process, const PictureOptions& options);
  ~Picture();
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  // Whose memory is to be read: the copy's, or the program's own. Where it was saved it runs.
  uint32_t memory_process() const;
  Look look() const;
  const std::vector<CapturedThread>& threads() const;

  // Makes the copy ready to search its own memory; false if it cannot.
  bool PrepareSearch(const SearchingCopy::Means& means = {});
  // Has the thread that traces the copy do something with it, and returns at once. REQUIRES:
  // PrepareSearch was true, and what was asked for before was waited for.
  void AskCopy(std::function<void(SearchingCopy*)> work);
  void WaitForCopy();

  // Whether the memory is still there: a copy may be killed when memory is short.
  bool intact() const;

  // Ends the copy, or lets the program go on. From here on there is no memory to be read.
  void Release();
  // How long the program stood still, in all. Complete after Release().
  uint64_t pause_ns() const;
  // What is doubtful; complete after Release().
  const std::vector<std::string>& notes() const;

 private:
  class Tracer;
  explicit Picture(std::unique_ptr<Tracer> tracer);
  std::unique_ptr<Tracer> tracer_;
};

// A search of the memory of a copy by the copy itself, in pieces: while one is looked at by
// whoever asked, the copy searches for the next.
//
// Owned by one thread; the picture's own works for it.
class CopySearch final : public WordSearch {
 public:
  // `image` is the copy's, for what it cannot read by itself. Both must outlive this. REQUIRES: the
  // picture is prepared.
  CopySearch(Picture* picture, const MemoryImage& image, std::vector<AddressRange> ranges,
             uint64_t low, uint64_t span);
  ~CopySearch() override;
  CopySearch(const CopySearch&) = delete;
  CopySearch& operator=(const CopySearch&) = delete;

  bool Next(Found* found) override;
  bool failed() const override { return failed_; }
  uint64_t searched_bytes() const override { return searched_bytes_; }
  uint64_t unreadable_bytes() const override { return unreadable_bytes_; }
  uint64_t cpu_ns() const override { return cpu_ns_; }

 private:
  // What is found at a time.
  struct Piece {
    uint64_t* values = nullptr;  // the copy's buffers
    uint32_t* places = nullptr;
    size_t count = 0;
    uint64_t base = 0;
  };

  // By the picture's thread.
  void Work(SearchingCopy* copy);
  void Fill(SearchingCopy* copy);
  void ReadPart(uint64_t from, uint64_t to, Piece* piece);

  Picture* picture_;
  const MemoryImage& image_;
  const std::vector<AddressRange> ranges_;
  const uint64_t low_;
  const uint64_t span_;
  size_t first_ = 0;     // of the ranges that the copy has
  size_t last_ = 0;      // one behind
  bool ended_ = false;   // nothing more is to be found
  bool failed_ = false;  // as the copy has ended, or does not do as it is told
  std::array<Piece, 2> pieces_;
  size_t filling_ = 0;
  uint64_t searched_bytes_ = 0;
  uint64_t unreadable_bytes_ = 0;
  uint64_t cpu_ns_ = 0;
};

// The memory of a copy, which searches itself.
class CopyImage final : public ProcessMemoryImage {
 public:
  // The picture must outlive this.
  explicit CopyImage(Picture* picture);

  // One at a time.
  std::unique_ptr<WordSearch> Search(std::vector<AddressRange> ranges, uint64_t low,
                                     uint64_t span) const override;

 private:
  Picture* picture_;
};

}  // namespace heapgauge::leaks
