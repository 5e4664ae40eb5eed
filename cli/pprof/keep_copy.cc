#include "cli/pprof/keep_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/formats/pprof/pprof_writer.h"

namespace heapgauge::cli {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::string> CopyDirectory(const Say& say) {
  std::vector<std::string> candidates;
  if (const std::string chosen = Environment("PPROF_TMPDIR"); !chosen.empty()) {
    candidates.push_back(chosen);
  }
  if (const std::string home = Environment("HOME"); !home.empty()) {
    candidates.push_back(home + "/pprof");
  }
  candidates.push_back(TemporaryDirectory());
  for (const std::string& directory : candidates) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (!error) return directory;
    say("Could not use temp dir " + directory + ": " + error.message());
  }
  return Fail(ErrorCode::kIo, "there is no directory for it; set PPROF_TMPDIR");
}

Result<std::string> Keep(const Profile& profile, const Say& say) {
  HG_ASSIGN(const std::string directory, CopyDirectory(say));
  std::string prefix = "pprof.";
  if (!profile.modules.empty() && !profile.modules.front().path.empty()) {
    prefix += std::string(BaseName(profile.modules.front().path)) + ".";
  }
  for (const SampleType& type : profile.sample_types) prefix += type.name + ".";
  for (char& c : prefix) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '_';  // names are the server's
  }
  prefix.resize(std::min<size_t>(prefix.size(), 200));
  StringSink sink;
  HG_TRY(WritePprof(profile, {}, &sink));
  HG_ASSIGN(const NewFile file, MakeNumberedFile(directory, prefix, ".pb.gz"));
  const Status status = WriteToDescriptor(file.fd, sink.text(), file.path);
  close(file.fd);
  if (!status) return tl::unexpected<Error>(status.error());
  return file.path;
}

}  // namespace

std::string TemporaryDirectory() {
  const std::string directory = Environment("TMPDIR");
  return directory.empty() ? "/tmp" : directory;
}

Result<NewFile> MakeNumberedFile(const std::string& directory, const std::string& prefix,
                                 const std::string& suffix) {
  for (int i = 1; i < 10000; ++i) {
    std::string number = std::to_string(i);
    if (number.size() < 3) number.insert(0, 3 - number.size(), '0');
    const std::string name = prefix + number + suffix;
    const std::string path = directory.empty() ? name : directory + "/" + name;
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return NewFile{fd, path};
    if (errno != EEXIST) {
      return tl::unexpected<Error>(SystemError("cannot create '" + Printable(path) + "'", errno));
    }
  }
  return Fail(ErrorCode::kIo,
              "cannot create '" + Printable(prefix) + "NNN" + suffix + "': all numbers are taken");
}

void KeepCopy(const Profile& profile, const Say& say) {
  const auto path = Keep(profile, say);
  say(path ? "Saved profile in " + *path : "Could not save profile: " + path.error().message);
}

}  // namespace heapgauge::cli
