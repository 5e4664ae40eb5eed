// What somebody wants to know about, opened: a file of any format, a process, a trace that is still
// being written, a server.
//
//   HG_ASSIGN(Recording recording, Recording::Open("server.hgt@12.3s"));
//   HG_ASSIGN(const Profile profile, recording.ReadProfile(options));
//
// Open() finds out what was named and tells the format by the first bytes, once; no name of a file
// decides. A recording has a profile, and, by what it is, the events of a trace or the snapshots of
// massif: to ask for what it does not have is an Error that says why.
//
// Every reader treats its input as hostile: an error is one line with format, name and the byte or
// line where it was noticed; time and memory are bounded by the size of the input.
//
// Movable, owned by one thread at a time. Servers are asked at the same time, each from a thread of
// its own; messages come from the caller's thread alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/fetch/http.h"
#include "core/formats/massif/massif_file.h"
#include "core/model/profile.h"
#include "core/recording/read_profile.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {

// Where a recording is that somebody names: a file, the number of a process, a directory of gauge
// files; with a moment or range of it behind an '@'.
//
// Reads directories and headers of gauge files. Any thread.

// The file that `spec` means. A directory must hold exactly one gauge file, unless `pick` says
// which: "newest" or "oldest".
Result<std::string> LocateFile(const std::string& spec, const std::string& pick = "");

// The same words for the trace, if every call of the process that `spec` means goes into one;
// anything else stays what it is. "PID@MOMENT" too. Fails if that trace is not written any more, or
// cannot be found: the gauge file would say that the process has no memory.
Result<std::string> MeantTrace(const std::string& spec, const std::string& pick = "");

struct NamedPlace {
  std::string spec;    // as MeantTrace has it
  std::string path;    // "-": standard input
  std::string moment;  // "12.3s", "2s..5s"; "" the whole
};
// A moment is one of a file that is there. What exists under the whole name is that file.
Result<NamedPlace> Locate(const std::string& spec, const std::string& pick = "");

// Fails if a moment or range of a file is named, and says what to do instead.
Status CheckWhole(const std::string& spec, const std::string& instead);
// Both.
Result<std::string> MeantWhole(const std::string& spec, const std::string& pick,
                               const std::string& instead);

// Anything under that name: a file, a device, a directory.
bool Exists(const std::string& path);
// "server.hgt@12.3s", "server.hg@peak".
bool NamesMoment(const std::string& spec);

struct OpenOptions {
  std::string pick;  // of a directory: newest or oldest
  // Of servers: what one without a path is asked for, how long it shall record, how long to wait.
  std::string default_path = "/debug/pprof/heap";
  int seconds = -1;
  int timeout = -1;
  HttpOptions http;
  std::function<void(const std::string&)> say;  // tells the user a line meanwhile; may be empty
};

class Recording {
 public:
  // "4242", "server.hgt@12.3s", "-" for standard input, "dumps/", "host:6060".
  static Result<Recording> Open(const std::string& spec, const OpenOptions& options = {});
  // The file of that name and nothing else, or standard input.
  static Result<Recording> OpenFile(const std::string& path);
  // Opens one after the other and hands each over; asks servers side by side, 64 at a time.
  static void OpenEach(const std::vector<std::string>& specs, const OpenOptions& options,
                       const std::function<void(Result<Recording>)>& take);

  // As it was named; of a process whose every call is recorded, the trace.
  const std::string& spec() const { return place_.spec; }
  const std::string& path() const { return place_.path; }
  const std::string& moment() const { return place_.moment; }
  const std::optional<Url>& url() const { return url_; }  // of the server that it came from

  // kUnknown where the first bytes are those of no format.
  ProfileFormat format() const { return format_; }
  // As it stands in a file, not compressed: gauge files and traces are read by position.
  bool is_gauge() const { return by_position_ && format_ == ProfileFormat::kGauge; }
  bool is_trace() const { return by_position_ && format_ == ProfileFormat::kTrace; }
  bool is_whole_trace() const { return is_trace() && moment().empty(); }
  bool is_file() const { return is_file_; }  // a regular one
  bool is_massif() const { return is_file_ && format_ == ProfileFormat::kMassif; }

  // The profile of the moment that the spec or the options name.
  Result<Profile> ReadProfile(const ReadOptions& options = {});
  // Every allocation and free.
  Result<std::shared_ptr<const trace::TraceFile>> Trace() const;
  // All snapshots of a massif file.
  Result<MassifFile> Massif();
  // Its bytes, decompressed.
  Result<std::unique_ptr<PeekingStream>> Bytes();

 private:
  Recording() = default;
  static Result<Recording> OfServer(NamedPlace place, Url url, std::string body);
  Status Begin();

  NamedPlace place_;
  std::string name_;  // for messages
  ProfileFormat format_ = ProfileFormat::kUnknown;
  bool is_file_ = false;
  bool by_position_ = false;
  std::optional<Url> url_;
  std::shared_ptr<const std::string> body_;  // of a server's answer
  std::unique_ptr<PeekingStream> bytes_;     // until somebody reads them
};

// The format of a file as it stands, by its first bytes. Of what is no regular file, which may be
// read once alone: kUnknown.
ProfileFormat FormatAt(const std::string& path);

// All of them, added up; fails if one cannot be read. `meant` gets what each is (Recording::spec).
Result<Profile> ReadMerged(const std::vector<std::string>& specs, const OpenOptions& options,
                           const ReadOptions& read, std::vector<std::string>* meant = nullptr);

}  // namespace heapgauge
