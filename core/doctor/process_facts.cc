// Gathers ProcessFacts out of /proc.

#include <elf.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>
#include <string_view>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/doctor/command.h"
#include "core/doctor/executable.h"
#include "core/doctor/process.h"
#include "core/gauge/gauge_directory.h"
#include "core/os/memory_maps.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"

namespace heapgauge {
namespace {

constexpr size_t kMaxEnvironment = 4 << 20;
constexpr size_t kMaxSmall = 64 << 10;
constexpr uint32_t kKernelThreadFlag = 0x00200000;  // PF_KTHREAD in /proc/PID/stat

std::string Proc(uint32_t pid, const char* name) { return ProcessDirectory(pid) + "/" + name; }

std::string ReadSmall(const std::string& path) {
  return ReadWholeFile(path, kMaxSmall).value_or("");
}

uint64_t Number(std::string_view text) { return TakeNumber<uint64_t>(&text).value_or(0); }

std::vector<std::string> SplitZero(const std::string& text) {
  std::vector<std::string> parts;
  for (std::string_view rest = text; !rest.empty();) parts.emplace_back(TakeUntil(&rest, '\0'));
  return parts;
}

std::map<std::string, std::string> TellingVariables(const std::string& text) {
  std::map<std::string, std::string> variables;
  for (const std::string& entry : SplitZero(text)) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    if (name == "LD_PRELOAD" || name == "XDG_RUNTIME_DIR" || name == "container" ||
        name == "VALGRIND_LAUNCHER" || name == "PYTHONMALLOC" || name.starts_with("HEAPGAUGE_")) {
      variables.emplace(name, entry.substr(equals + 1));
    }
  }
  return variables;
}

void AddGauge(const std::string& path, ProcessFacts* facts) {
  const auto gauge = GaugeInMemoryAt(facts->pid, facts->root, path);
  if (gauge) facts->gauges.push_back(*gauge);
}

void ReadMaps(ProcessFacts* facts) {
  const auto maps = ReadSmaps(Proc(facts->pid, "maps"));
  if (!maps) return;
  facts->maps_readable = true;
  std::set<std::string, std::less<>> seen;
  size_t shared = 0;
  for (const MappingUsage& m : maps->mappings) {
    const size_t slash = m.name.find('/');
    if (slash == std::string::npos) continue;
    const std::string_view path = std::string_view(m.name).substr(slash);
    const std::string_view name = BaseName(path);
    // A load that failed half-way leaves the first part of the file mapped, without its code.
    if (name.starts_with("libheapgauge.so") && m.executable &&
        std::find(facts->agents.begin(), facts->agents.end(), path) == facts->agents.end()) {
      facts->agents.emplace_back(path);
    }
    if (seen.count(path) != 0) continue;
    seen.insert(std::string(path));
    if (name.starts_with("vgpreload_")) facts->valgrind = std::string(path);
    for (const char* library : {"libasan.so", "libtsan.so", "liblsan.so", "libclang_rt.asan"}) {
      if (name.starts_with(library)) facts->sanitizer = std::string(path);
    }
    const bool is_shared = m.readable && m.writable && !m.executable && m.shared;
    if (is_shared && ++shared <= 64) AddGauge(std::string(path), facts);
  }
}

void ReadSecure(ProcessFacts* facts) {
  const auto bytes = ReadWholeFile(Proc(facts->pid, "auxv"), kMaxSmall);
  if (!bytes) return;
  for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= bytes->size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry{};
    std::memcpy(&entry, bytes->data() + at, sizeof entry);
    if (entry.a_type == AT_SECURE) facts->secure = entry.a_un.a_val != 0;
  }
}

void ReadAncestors(ProcessFacts* facts) {
  uint32_t pid = facts->parent;
  for (int depth = 0; depth < 8 && pid > 1 && facts->ancestor_with_agent.empty(); ++depth) {
    const auto environment = ReadWholeFile(Proc(pid, "environ"), kMaxEnvironment);
    if (environment) {
      const auto variables = TellingVariables(*environment);
      const auto preload = variables.find("LD_PRELOAD");
      if (preload != variables.end() &&
          preload->second.find("libheapgauge.so") != std::string::npos) {
        facts->ancestor_with_agent = StatusField(ReadStatus(ProcessDirectory(pid)), "Name") +
                                     " (pid " + std::to_string(pid) + ")";
      }
    }
    // `run` itself does not carry what it gives to the program.
    const std::vector<std::string> command =
        SplitZero(ReadWholeFile(Proc(pid, "cmdline"), kMaxSmall).value_or(""));
    if (IsWatcher(command)) {
      facts->ancestor_with_agent = "heapgauge run (pid " + std::to_string(pid) + ")";
    }
    const auto info = ReadProcess(pid);
    if (!info) break;
    pid = info->parent;
  }
}

void ReadNamespaces(const std::string& status, ProcessFacts* facts) {
  const std::string mounts = LinkTarget(Proc(facts->pid, "ns/mnt"));
  facts->other_mount_namespace = !mounts.empty() && mounts != LinkTarget("/proc/self/ns/mnt");
  const std::string users = LinkTarget(Proc(facts->pid, "ns/user"));
  facts->other_user_namespace = !users.empty() && users != LinkTarget("/proc/self/ns/user");
  facts->root = RootOf(facts->pid);
  const uint32_t inner = InnermostPid(status);
  if (inner != 0 && inner != facts->pid) facts->inner_pid = inner;
}

void TakeStatus(const std::string& status, ProcessFacts* facts) {
  facts->name = StatusField(status, "Name");
  std::istringstream uids(StatusField(status, "Uid"));
  uids >> facts->uid >> facts->effective_uid;
  facts->gid = static_cast<uint32_t>(Number(StatusField(status, "Gid")));
  facts->address_space = StatusBytes(status, "VmSize");
  facts->seccomp = static_cast<uint32_t>(Number(StatusField(status, "Seccomp")));
  const std::string parent = ReadStatus(ProcessDirectory(facts->parent));
  facts->parent_name = StatusField(parent, "Name");
  facts->seccomp_is_its_own = facts->seccomp > Number(StatusField(parent, "Seccomp")) ||
                              Number(StatusField(status, "Seccomp_filters")) >
                                  Number(StatusField(parent, "Seccomp_filters"));
}

bool IsKernelThread(uint32_t pid) {
  constexpr int kFlags = 9;
  const int64_t flags = StatField(ReadStat(ProcessDirectory(pid)), kFlags);
  return flags >= 0 && (flags & kKernelThreadFlag) != 0;
}

// "name.service" out of a line such as "0::/system.slice/name.service".
std::string UnitOf(const std::string& cgroups) {
  const size_t end = cgroups.find(".service");
  if (end == std::string::npos) return "";
  const size_t slash = cgroups.rfind('/', end);
  return slash == std::string::npos ? "" : cgroups.substr(slash + 1, end - slash - 1) + ".service";
}

}  // namespace

void ReadMemoryLimit(uint32_t pid, uint64_t* limit, uint64_t* usage) {
  const auto cgroup = ReadCgroupMemory(pid);
  if (!cgroup || !cgroup->has_limit()) return;
  *limit = cgroup->limit;
  *usage = cgroup->held();
}

std::string ContainerEvidence(const std::string& root, const std::string& cgroups) {
  for (const char* file : {"/.dockerenv", "/run/.containerenv"}) {
    if (access((root + file).c_str(), F_OK) == 0) return std::string("there is a file ") + file;
  }
  for (const char* word : {"docker", "kubepods", "containerd", "libpod", "/lxc"}) {
    if (cgroups.find(word) != std::string::npos) {
      return std::string("its cgroup is one of ") + word;
    }
  }
  return "";
}

ProcessFacts ReadProcessFacts(uint32_t pid) {
  ProcessFacts facts;
  facts.pid = pid;
  const auto info = ReadProcess(pid);
  if (!info) return facts;
  facts.exists = true;
  facts.state = info->state;
  facts.parent = info->parent;
  facts.kernel_thread = IsKernelThread(pid);
  // Of the first thread: others have numbers of their own in it.
  const std::string status = ReadStatus("/proc/" + std::to_string(pid));
  TakeStatus(status, &facts);
  if (facts.kernel_thread || info->ended()) return facts;
  facts.exe = ProcessExecutable(pid);
  facts.command_line = SplitZero(ReadWholeFile(Proc(pid, "cmdline"), kMaxSmall).value_or(""));
  const auto children = ChildrenOf(Proc(pid, ("task/" + std::to_string(pid)).c_str()));
  facts.first_child = children.empty() ? 0 : children[0];
  ReadNamespaces(status, &facts);
  ReadMaps(&facts);
  if (const auto environment = ReadWholeFile(Proc(pid, "environ"), kMaxEnvironment)) {
    facts.environment_readable = true;
    facts.environment = TellingVariables(*environment);
    // The agent takes paths as from the directory it was started in; this is the best guess at it.
    for (const char* name : {"HEAPGAUGE_DIR", "HEAPGAUGE_OUT"}) {
      const auto path = facts.environment.find(name);
      if (path == facts.environment.end() || path->second.empty() || path->second[0] == '/')
        continue;
      path->second = LinkTarget(Proc(pid, "cwd")) + "/" + path->second;
    }
    const auto preload = facts.environment.find("LD_PRELOAD");
    if (preload != facts.environment.end()) {
      facts.preload = ReadPreload(preload->second, facts.root, facts.uid);
    }
  }
  ReadSecure(&facts);
  if (!facts.agent_loaded()) ReadAncestors(&facts);
  const std::string limits = ReadSmall(Proc(pid, "limits"));
  facts.file_size_limit = SoftLimit(limits, "Max file size").value_or(kNoLimit);
  facts.address_space_limit = SoftLimit(limits, "Max address space").value_or(kNoLimit);
  const std::string cgroups = ReadSmall(Proc(pid, "cgroup"));
  facts.unit = UnitOf(cgroups);
  ReadMemoryLimit(pid, &facts.memory_limit, &facts.memory_usage);
  facts.container_evidence = ContainerEvidence(facts.root, cgroups);
  if (facts.container_evidence.empty() && facts.environment.count("container") != 0) {
    facts.container_evidence = "its environment says container=" + facts.environment["container"];
  }
  facts.in_container = !facts.container_evidence.empty();
  return facts;
}

// The libraries that LD_PRELOAD names: would the dynamic linker load them for this user, and do
// they define malloc?

namespace {

// Whether the mode gives the user this right (4 to read, 1 to pass). Groups of others are not
// looked into: what any group may do counts as allowed.
bool Allows(const struct stat& st, uint32_t uid, uint32_t right) {
  if (uid == 0) return true;
  if (st.st_uid == uid) return (st.st_mode & right << 6) != 0;
  return (st.st_mode & (right << 3 | right)) != 0;
}

// Why `uid` cannot read the file; "" if it can. `root` is not part of what is checked.
std::string WhyNotReadable(const std::string& path, size_t root_length, uint32_t uid) {
  struct stat st {};
  for (size_t at = path.find('/', root_length + 1); at != std::string::npos;
       at = path.find('/', at + 1)) {
    const std::string directory = path.substr(0, at);
    if (stat(directory.c_str(), &st) == 0 && !Allows(st, uid, 1)) {
      return "user " + std::to_string(uid) + " may not enter " + directory.substr(root_length);
    }
  }
  if (stat(path.c_str(), &st) != 0) return std::strerror(errno);
  if (!Allows(st, uid, 4)) return "user " + std::to_string(uid) + " may not read it";
  struct statvfs fs {};
  if (statvfs(path.c_str(), &fs) == 0 && (fs.f_flag & ST_NOEXEC) != 0) {
    return "its file system is mounted noexec";
  }
  return "";
}

std::string WhyNoLibrary(const std::string& path) {
  const auto head = ReadWholeFile(path, 20);
  if (!head) return head.error().message;
  if (head->size() < 20 || head->compare(0, SELFMAG, ELFMAG) != 0) {
    return "it is not a shared library";
  }
  if ((*head)[EI_CLASS] != ELFCLASS64 || (*head)[18] != EM_X86_64) {
    return "it is a library for another architecture";
  }
  return "";
}

// A name without a slash is searched for by the dynamic linker.
std::string Located(const std::string& name, const std::string& root) {
  if (name.find('/') != std::string::npos) return root + name;
  for (const char* directory : {"/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/",
                                "/usr/local/lib/", "/usr/lib64/", "/usr/lib/"}) {
    std::string path = root + directory + name;
    if (access(path.c_str(), F_OK) == 0) return path;
  }
  return root + "/usr/lib/" + name;
}

}  // namespace

std::vector<PreloadEntry> ReadPreload(const std::string& list, const std::string& root,
                                      uint32_t uid) {
  constexpr size_t kMaxEntries = 64;
  std::vector<PreloadEntry> entries;
  for (const std::string& name : WordsOf(list, ": ")) {
    if (entries.size() == kMaxEntries) break;
    PreloadEntry entry;
    entry.name = name;
    entry.is_agent = BaseName(entry.name).substr(0, 15) == "libheapgauge.so";
    const std::string path = Located(entry.name, root);
    entry.problem = WhyNotReadable(path, root.size(), uid);
    if (entry.problem.empty()) entry.problem = WhyNoLibrary(path);
    if (entry.problem.empty()) {
      const auto defined = DefinedSymbols(path);
      entry.defines_malloc = defined.count("malloc") != 0;
      entry.allocator = AllocatorOf(defined);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace heapgauge
