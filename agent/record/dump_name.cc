#include "agent/record/dump_name.h"

#include <cstring>

#include "agent/sys/os.h"

namespace heapgauge::agent {
namespace {

// The path as an absolute one, seen from `base`.
template <size_t kBytes>
bool CopyFrom(const char* base, const char* path, char (&field)[kBytes]) {
  FixedText<kBytes> text;
  if (path[0] != '/') {
    text.Add(base);
    if (path[0] != '\0') text.Add('/');
  }
  text.Add(path);
  return CopyText(field, text.c_str()) && !text.cut();
}

void AddFourDigits(uint32_t number, DumpNames::Path* path) {
  for (uint32_t least = 1000; least > 1 && number < least; least /= 10) path->Add('0');
  path->Add(uint64_t{number});
}

}  // namespace

bool DumpNames::Remember(const DumpSettings& settings, const char* exe, const char* gauge_path) {
  char current[1024];
  if (os::CurrentDirectory(current, sizeof current) <= 0 || current[0] != '/') {
    CopyText(current, "/");
  }
  bool whole = CopyFrom(current, settings.directory, directory_[0]);
  directory_[1][0] = prefix_[0] = '\0';
  if (settings.prefix[0] != '\0') {
    whole = CopyFrom(directory_[0], settings.prefix, prefix_) && whole;
    // The temporary file goes beside it.
    const size_t length = static_cast<size_t>(BaseName(prefix_) - prefix_);
    memcpy(directory_[0], prefix_, length);
    directory_[0][length] = '\0';
  } else if (settings.directory[0] == '\0') {
    const size_t length = static_cast<size_t>(BaseName(gauge_path) - gauge_path);
    if (length > 1 && length < sizeof directory_[1]) {
      memcpy(directory_[1], gauge_path, length - 1);
      directory_[1][length - 1] = '\0';
    }
  }
  CopyText(program_, BaseName(exe));
  return whole;
}

void DumpNames::Final(uint32_t place, uint32_t pid, uint32_t sequence, wire::DumpReason reason,
                      Path* path) const {
  path->Clear();
  if (prefix_[0] != '\0') {
    path->Add(prefix_).Add('.');
    AddFourDigits(sequence, path);
  } else {
    path->Add(directory_[place]).Add('/').Add(program_).Add('.').Add(uint64_t{pid}).Add('.');
    AddFourDigits(sequence, path);
    path->Add('.').Add(wire::DumpReasonName(reason));
  }
  path->Add(".hg");
}

void DumpNames::Temporary(uint32_t place, uint32_t pid, Path* path) const {
  path->Clear();
  path->Add(directory_[place]).Add("/.").Add(program_).Add('.').Add(uint64_t{pid}).Add(".hg.tmp");
}

}  // namespace heapgauge::agent
