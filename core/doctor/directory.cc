#include "core/doctor/directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kFull = kMiB;         // not even room for a small gauge file
constexpr uint64_t kTight = 16 * kMiB;   // left
constexpr uint64_t kSmall = 128 * kMiB;  // in all; containers have 64 MB in /dev/shm
constexpr uint32_t kXfsMagic = 0x58465342;

std::string FileSystemName(uint64_t magic) {
  switch (static_cast<uint32_t>(magic)) {
    case TMPFS_MAGIC:
      return "tmpfs";
    case RAMFS_MAGIC:
      return "ramfs";
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case BTRFS_SUPER_MAGIC:
      return "btrfs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    case NFS_SUPER_MAGIC:
      return "nfs";
    case kXfsMagic:
      return "xfs";
    default:
      return fmt::format("file system 0x{:x}", magic);
  }
}

std::string Parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

bool MayWrite(const std::string& path, const struct stat& st, uint32_t uid) {
  if (uid == geteuid()) return faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  if (uid == 0) return true;
  // Groups of another process are not looked into: its user's own bits, or everybody's.
  const uint32_t bits = st.st_uid == uid ? 0300u : 0003u;
  return (st.st_mode & bits) == bits;
}

bool OthersMayWrite(const DirectoryFacts& facts) {
  return (facts.mode & (S_IWGRP | S_IWOTH)) != 0 && (facts.mode & S_ISVTX) == 0;
}

bool WrongOwner(const DirectoryFacts& facts) {
  return facts.owner != facts.uid && facts.owner != 0;
}

Finding WhyUnusable(const DirectoryFacts& facts) {
  const std::string quoted = "'" + facts.path + "'";
  if (!facts.exists) {
    return Found("directory-missing",
                 fmt::format("the gauge directory {} does not exist and cannot be made", quoted),
                 facts.error,
                 fmt::format("make it: install -d -m 700 -o {} {}", facts.uid, facts.path));
  }
  if (!facts.is_directory) {
    return Found("directory-missing", fmt::format("{} is not a directory", quoted),
                 "the agent follows no symbolic link here", "set HEAPGAUGE_DIR to a directory");
  }
  if (!facts.any_owner && WrongOwner(facts)) {
    return Found("directory-owner",
                 fmt::format("the gauge directory {} belongs to user {}, not to user {} who runs "
                             "the program; the agent does not trust it",
                             quoted, facts.owner, facts.uid),
                 fmt::format("stat {}", facts.path),
                 fmt::format("chown {} {}", facts.uid, facts.path));
  }
  if (!facts.any_owner && OthersMayWrite(facts)) {
    return Found("directory-mode",
                 fmt::format("others may write into the gauge directory {}; the agent does not "
                             "trust it",
                             quoted),
                 fmt::format("its mode is {:o}", facts.mode & 07777),
                 fmt::format("chmod 700 {}", facts.path));
  }
  if (!facts.writable) {
    return Found(
        "directory-not-writable",
        fmt::format("user {} may not make files in the gauge directory {}", facts.uid, quoted),
        fmt::format("it belongs to user {}, its mode is {:o}", facts.owner, facts.mode & 07777),
        fmt::format("chown {} {}, or set HEAPGAUGE_DIR to a directory of that user", facts.uid,
                    facts.path));
  }
  return Found("directory-full", fmt::format("there is no room for gauge files in {}", quoted),
               fmt::format("{} of {} are free", FormatBytes(static_cast<double>(facts.free_bytes)),
                           FormatBytes(static_cast<double>(facts.total_bytes))),
               "remove old files: heapgauge ps --prune; or set HEAPGAUGE_DIR elsewhere");
}

void CheckUsable(const DirectoryFacts& facts, Findings* findings) {
  const std::string quoted = "'" + facts.path + "'";
  const std::string room =
      facts.total_bytes == 0
          ? "no limit of its own"
          : fmt::format("{} of {} free", FormatBytes(static_cast<double>(facts.free_bytes)),
                        FormatBytes(static_cast<double>(facts.total_bytes)));
  const bool tight =
      facts.total_bytes != 0 && (facts.total_bytes < kSmall || facts.free_bytes < kTight);
  if (tight) {
    findings->push_back(Found(
        "directory-small",
        fmt::format("the file system of {} is small; when it is full, samples get lost", quoted),
        facts.file_system + ", " + room,
        "give the container more (docker run --shm-size=256m), or set HEAPGAUGE_DIR elsewhere"));
  }
  const bool goes = facts.in_memory || facts.file_system == "overlay";
  if (facts.in_container && goes) {
    findings->push_back(Found(
        "directory-vanishes",
        fmt::format("{} goes with the container, and the profile of a program that was killed "
                    "with it",
                    quoted),
        facts.container_evidence + "; " + facts.file_system,
        "set HEAPGAUGE_DIR to a directory on a volume"));
  }
  if (facts.in_memory && facts.memory_limit != ~uint64_t{0}) {
    findings->push_back(
        Found("directory-charged",
              fmt::format("gauge files in {} are memory: they count towards the limit of {}",
                          quoted, FormatBytes(static_cast<double>(facts.memory_limit))),
              facts.file_system + " in a memory cgroup",
              "as a rule that is 1 to 10 MB; where it matters, set HEAPGAUGE_DIR to a disk"));
  }
  if (!facts.in_memory && facts.file_system != "overlay") {
    findings->push_back(Found(
        "directory-on-disk",
        fmt::format("{} is on a disk: a slow one can hold up the program now and then", quoted),
        facts.file_system, "where that matters, use tmpfs: HEAPGAUGE_DIR=/dev/shm/NAME"));
  }
  if (!tight) {
    findings->push_back(Fine("gauge files go to " + quoted, facts.file_system + ", " + room));
  }
}

}  // namespace

bool DirectoryFacts::usable() const {
  if (!exists) return can_be_made;
  if (!is_directory || !writable) return false;
  if (!any_owner && (WrongOwner(*this) || OthersMayWrite(*this))) return false;
  return total_bytes == 0 || free_bytes >= kFull;
}

std::vector<DirectoryChoice> GaugeDirectoryChoices(
    const std::map<std::string, std::string>& environment, uint32_t uid) {
  const auto value = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  if (const std::string file = value("HEAPGAUGE_OUT"); !file.empty()) {
    return {{Parent(file), true}};
  }
  if (const std::string directory = value("HEAPGAUGE_DIR"); !directory.empty()) {
    return {{directory, false}};
  }
  std::vector<DirectoryChoice> choices;
  if (const std::string run = value("XDG_RUNTIME_DIR"); !run.empty() && run[0] == '/') {
    choices.push_back({run + "/heapgauge", false});
  }
  choices.push_back({fmt::format("/dev/shm/heapgauge-{}", uid), false});
  choices.push_back({fmt::format("/tmp/heapgauge-{}", uid), false});
  return choices;
}

DirectoryFacts ReadDirectory(const DirectoryChoice& choice, uint32_t uid, const std::string& root) {
  DirectoryFacts facts;
  facts.path = choice.path;
  facts.any_owner = choice.any_owner;
  facts.uid = uid;
  std::string seen = root + choice.path;
  struct stat st {};
  facts.exists = lstat(seen.c_str(), &st) == 0;
  if (facts.exists && S_ISLNK(st.st_mode) && choice.any_owner) {
    facts.exists = stat(seen.c_str(), &st) == 0;
  }
  if (!facts.exists) {
    facts.error = std::strerror(errno);
    seen = root + Parent(choice.path);
    facts.can_be_made = stat(seen.c_str(), &st) == 0 && S_ISDIR(st.st_mode) &&
                        MayWrite(seen, st, uid) && !choice.any_owner;
    // The kernel's own file systems let nobody make directories, whatever their mode says.
    struct statfs fs {};
    if (statfs(seen.c_str(), &fs) == 0 &&
        (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC)) {
      facts.can_be_made = false;
    }
  } else {
    facts.is_directory = S_ISDIR(st.st_mode);
    facts.owner = st.st_uid;
    facts.mode = st.st_mode;
    facts.writable = facts.is_directory && MayWrite(seen, st, uid);
  }
  struct statfs fs {};
  if (statfs(seen.c_str(), &fs) == 0) {
    facts.file_system = FileSystemName(static_cast<uint64_t>(fs.f_type));
    facts.in_memory = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
    const auto block = static_cast<uint64_t>(fs.f_bsize);
    facts.total_bytes = fs.f_blocks * block;
    facts.free_bytes = fs.f_bavail * block;
  }
  struct statvfs flags {};
  if (statvfs(seen.c_str(), &flags) == 0 && (flags.f_flag & ST_RDONLY) != 0) {
    facts.writable = facts.can_be_made = false;
  }
  return facts;
}

Findings CheckDirectories(const std::vector<DirectoryFacts>& choices) {
  Findings findings;
  for (const DirectoryFacts& facts : choices) {
    if (facts.usable()) {
      // Those before it are passed over: worth a word where somebody meant them.
      for (Finding& finding : findings) finding.severity = Severity::kWarning;
      CheckUsable(facts, &findings);
      return findings;
    }
    findings.push_back(WhyUnusable(facts));
  }
  return findings;
}

}  // namespace heapgauge
