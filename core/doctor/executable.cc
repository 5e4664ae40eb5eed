#include "core/doctor/executable.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/text.h"

namespace heapgauge {
namespace {

using Kind = ExecutableFacts::Kind;

bool Has(const std::set<std::string>& names, const char* name) { return names.count(name) != 0; }

std::string InQuotes(const std::string& path) { return "'" + path + "'"; }

std::string MachineName(const ExecutableFacts& facts) {
  switch (facts.machine) {
    case EM_386:
      return "a 32-bit x86 program";
    case EM_X86_64:
      return facts.is_64_bit ? "an x86-64 program" : "an x32 program";
    case EM_AARCH64:
      return "an ARM64 program";
    case EM_ARM:
      return "a 32-bit ARM program";
    case EM_RISCV:
      return "a RISC-V program";
    default:
      return "for machine number " + std::to_string(facts.machine);
  }
}

// The program as a sentence names it; with the script that it runs, where there is one.
std::string Subject(const ExecutableFacts& facts) {
  const std::string file = InQuotes(facts.path);
  if (facts.scripts.empty()) return file;
  return file + ", which runs the script " + InQuotes(facts.scripts.front()) + ",";
}

std::string SanitizerOf(const ExecutableFacts& facts) {
  constexpr std::array<std::array<const char*, 3>, 5> kSanitizers = {{
      {"__asan_init", "libasan", "AddressSanitizer"},
      {"__tsan_init", "libtsan", "ThreadSanitizer"},
      {"__msan_init", "libmsan", "MemorySanitizer"},
      {"__lsan_init", "liblsan", "LeakSanitizer"},
      {"__hwasan_init", "libhwasan", "HWAddressSanitizer"},
  }};
  for (const auto& [symbol, library, name] : kSanitizers) {
    if (Has(facts.defined, symbol)) return name;
    for (const std::string& needed : facts.needed) {
      if (needed.find(library) != std::string::npos ||
          (needed.find("libclang_rt") != std::string::npos &&
           needed.find(library + 3) != std::string::npos)) {
        return name;
      }
    }
  }
  return "";
}

void CheckAllocator(const ExecutableFacts& facts, Findings* findings) {
  const std::string file = Subject(facts);
  const std::string name = AllocatorOf(facts.defined);
  if (Has(facts.defined, "malloc")) {
    findings->push_back(Found(
        "own-allocator",
        file + " has " + (name.empty() ? "a malloc of its own" : name) +
            " inside, and a program's own malloc comes before any that is preloaded: the agent "
            "sees no calls, unless that malloc passes them on",
        "it defines malloc" + (name.empty() ? "" : " and further functions of " + name),
        name.empty() ? "link the program without its own malloc, or build that as a shared library"
                     : "link " + name + " as a shared library: its calls are then seen (-l" + name +
                           " without -static or .a)"));
    return;
  }
  std::string evidence;
  std::string found = name;
  if (!name.empty()) {
    for (const std::string& symbol : facts.defined) {
      if (symbol.find("malloc") != std::string::npos) evidence = "it defines " + symbol;
    }
  } else if (!facts.marks.empty()) {
    found = facts.marks.front();
    evidence = "it is stripped, and has messages of " + found + " among its constants";
  }
  if (found.empty()) return;
  findings->push_back(Found(
      "private-allocator",
      file + " has " + found +
          " inside under names of its own: what the program allocates by it is not seen, only what "
          "C code and other libraries allocate",
      evidence,
      "build it with the system's allocator (in Rust: remove the #[global_allocator], then "
      "preload " +
          found + " if it is wanted)"));
}

void CheckRuntime(const ExecutableFacts& facts, Findings* findings) {
  const std::string file = Subject(facts);
  if (facts.is_go) {
    findings->push_back(Found("own-heap",
                              file + " is a Go program: Go's own heap does not come from malloc, "
                                     "only what C code in it allocates is seen",
                              "it has Go's build information",
                              "for Go's heap use its own profiler: import net/http/pprof"));
  }
  bool python = Has(facts.defined, "PyObject_Malloc");
  for (const std::string& needed : facts.needed) {
    python = python || needed.compare(0, 9, "libpython") == 0;
    if (needed.compare(0, 6, "libjli") == 0) {
      findings->push_back(Found("own-heap",
                                file + " starts a Java machine: Java objects do not come from "
                                       "malloc, only what native code allocates is seen",
                                "it needs " + needed,
                                "for Java objects use jcmd PID GC.heap_info"));
    }
  }
  if (!python) return;
  Finding finding = Found(
      "own-heap",
      "Python takes small objects out of arenas of its own, which malloc does not see; larger "
      "ones and those of C extensions are seen",
      "the interpreter is " + facts.path,
      "for every object: PYTHONMALLOC=malloc heapgauge run -- ...");
  finding.severity = Severity::kHint;
  findings->push_back(std::move(finding));
}

void CheckRights(const ExecutableFacts& facts, Findings* findings) {
  if (facts.no_set_user_id) return;
  const std::string file = Subject(facts);
  const bool user = (facts.mode & S_ISUID) != 0 && facts.owner != facts.uid;
  const bool group =
      (facts.mode & S_ISGID) != 0 && (facts.mode & S_IXGRP) != 0 && facts.group != facts.gid;
  if (user || group) {
    findings->push_back(Found(
        "set-user-id",
        file + " is " + (user ? "set-user-id" : "set-group-id") +
            ": the system ignores LD_PRELOAD for it",
        user ? "it belongs to user " + std::to_string(facts.owner) + ", you are user " +
                   std::to_string(facts.uid)
             : "it belongs to group " + std::to_string(facts.group) + ", you are in group " +
                   std::to_string(facts.gid),
        user ? "run it as the user it belongs to, or profile a copy: cp keeps no set-user-id bit"
             : "profile a copy: cp keeps no set-group-id bit"));
  }
  if (facts.has_capabilities && facts.uid != 0) {
    findings->push_back(Found("file-capabilities",
                              file + " has file capabilities: the system ignores LD_PRELOAD for it",
                              "getcap " + facts.path + " shows them",
                              "profile a copy (cp does not copy them), or give the capabilities to "
                              "the service: AmbientCapabilities= in its unit"));
  }
}

bool IsMusl(const ExecutableFacts& facts) {
  return BaseName(facts.interpreter).substr(0, 7) == "ld-musl";
}

// Why the file is not even a program; true if it is none.
bool IsNoProgram(const ExecutableFacts& facts, Findings* findings) {
  const std::string file = Subject(facts);
  switch (facts.kind) {
    case Kind::kMissing:
      findings->push_back(
          Found("not-found", file + " does not exist", facts.error, "check the path, or $PATH"));
      return true;
    case Kind::kUnreadable:
      findings->push_back(
          Found("not-permitted", file + " cannot be read", facts.error, "ask again as root"));
      return true;
    case Kind::kNotExecutable:
      findings->push_back(Found("not-a-program", file + " cannot be executed",
                                "it is no regular file, or has no x permission",
                                "chmod +x, or name the program itself"));
      return true;
    case Kind::kOther:
      findings->push_back(Found("not-a-program",
                                file + " is neither an ELF program nor a script with #! that leads "
                                       "to one",
                                "its first bytes", "name the program itself"));
      return true;
    case Kind::kElf:
      return false;
  }
  return false;
}

}  // namespace

std::string AllocatorOf(const std::set<std::string>& defined) {
  if (Has(defined, "mallctl") || Has(defined, "mallocx") || Has(defined, "je_malloc") ||
      Has(defined, "je_mallctl") || Has(defined, "_rjem_malloc") || Has(defined, "_rjem_mallctl") ||
      Has(defined, "_rjem_mallocx")) {
    return "jemalloc";
  }
  if (Has(defined, "tc_malloc") || Has(defined, "tc_version")) return "tcmalloc";
  if (Has(defined, "mi_malloc") || Has(defined, "mi_heap_malloc")) return "mimalloc";
  if (Has(defined, "snmalloc_alloc")) return "snmalloc";
  if (Has(defined, "rpmalloc")) return "rpmalloc";
  if (Has(defined, "scalable_malloc")) return "tbbmalloc";
  return "";
}

Findings CheckExecutable(const ExecutableFacts& facts) {
  Findings findings;
  if (IsNoProgram(facts, &findings)) return findings;
  const std::string file = Subject(facts);
  if (facts.machine != EM_X86_64 || !facts.is_64_bit) {
    findings.push_back(
        Found("wrong-architecture",
              file + " is " + MachineName(facts) + "; heapgauge profiles x86-64 programs",
              "its ELF header", "use an x86-64 build of it"));
    return findings;
  }
  CheckRights(facts, &findings);
  if (facts.interpreter.empty()) {
    findings.push_back(Found(
        "static-executable", file + " is linked statically, so nothing can be preloaded into it",
        facts.is_dynamic ? "it names no dynamic linker (static-pie)" : "it names no dynamic linker",
        facts.is_go
            ? "for Go's heap use its own profiler: import net/http/pprof"
            : "link it dynamically (without -static; in Rust: the -gnu target, not -musl)"));
    return findings;
  }
  if (BaseName(facts.interpreter) != "ld-linux-x86-64.so.2") {
    const bool musl = IsMusl(facts);
    findings.push_back(Found("other-libc",
                             file + " runs on " + (musl ? "musl" : "another C library") +
                                 "; the agent needs glibc 2.35 or newer",
                             "its dynamic linker is " + facts.interpreter,
                             musl ? "build it for glibc, or take an image that has glibc (Debian "
                                    "in place of Alpine)"
                                  : "build it for glibc"));
    return findings;
  }
  if (facts.libc_is_old) {
    findings.push_back(
        Found("old-glibc", file + " runs on a glibc older than 2.35, too old for the agent",
              facts.libc + " does not have the version GLIBC_2.35",
              "run it on a newer system or image (Debian 12, Ubuntu 22.04 or later)"));
  }
  if (const std::string sanitizer = SanitizerOf(facts); !sanitizer.empty()) {
    findings.push_back(Found("sanitizer",
                             file + " was built with " + sanitizer +
                                 ", which has a malloc of its own and does not go with the agent",
                             "its symbols and needed libraries", "build it without -fsanitize"));
  } else {
    CheckAllocator(facts, &findings);
  }
  CheckRuntime(facts, &findings);
  if (findings.empty()) {
    findings.push_back(Fine(file + " can be profiled", "x86-64, glibc, dynamically linked"));
  }
  return findings;
}

bool RefusesAgent(const ExecutableFacts& facts) {
  if (facts.kind != Kind::kElf || facts.interpreter.empty()) return false;
  // As a shared library AddressSanitizer ends a program where it does not come first.
  const bool sanitized =
      std::any_of(facts.needed.begin(), facts.needed.end(), [](const std::string& library) {
        return library.find("libasan") != std::string::npos ||
               library.find("libclang_rt.asan") != std::string::npos;
      });
  return IsMusl(facts) || facts.libc_is_old || sanitized;
}

}  // namespace heapgauge
