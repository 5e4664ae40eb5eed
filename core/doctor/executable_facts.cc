// Gathers ExecutableFacts. libelf checks offsets and sizes; what it cannot make sense of is left
// out.

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/doctor/command.h"
#include "core/doctor/executable.h"

namespace heapgauge {
namespace {

// The names that tell something about a program or library.
const std::set<std::string, std::less<>>& TellingNames() {
  static const std::set<std::string, std::less<>> names = {
      "malloc",           "free",           "calloc",       "mallctl",        "mallocx",
      "je_malloc",        "je_mallctl",     "_rjem_malloc", "_rjem_mallctl",  "_rjem_mallocx",
      "tc_malloc",        "tc_version",     "mi_malloc",    "mi_heap_malloc", "__asan_init",
      "__tsan_init",      "__msan_init",    "__lsan_init",  "__hwasan_init",  "PyObject_Malloc",
      "runtime.mallocgc", "snmalloc_alloc", "rpmalloc",     "scalable_malloc"};
  return names;
}

constexpr size_t kMaxConstants = 64 << 20;

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

ElfHandle OpenElf(const File& file) {
  if (elf_version(EV_CURRENT) == EV_NONE) return nullptr;
  ElfHandle elf(elf_begin(file.fd(), ELF_C_READ, nullptr));
  return elf != nullptr && elf_kind(elf.get()) == ELF_K_ELF ? std::move(elf) : nullptr;
}

void ForEachSection(Elf* elf, const std::function<void(Elf_Scn*, const GElf_Shdr&)>& visit) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr) visit(section, header);
  }
}

const char* SectionName(Elf* elf, const GElf_Shdr& header) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return "";
  const char* name = elf_strptr(elf, names, header.sh_name);
  return name != nullptr ? name : "";
}

void ReadSymbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
                 std::set<std::string>* defined) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const size_t count = std::min<size_t>(data->d_size / header.sh_entsize, 1 << 27);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC)) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && TellingNames().count(std::string_view(name)) != 0) {
      defined->insert(name);
    }
  }
}

// Messages that the allocators have among their constants, also when they are stripped.
void ReadMarks(Elf_Scn* section, std::vector<std::string>* marks) {
  Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return;
  const std::string_view text(static_cast<const char*>(data->d_buf),
                              std::min<size_t>(data->d_size, kMaxConstants));
  constexpr std::pair<const char*, const char*> kMarks[] = {
      {"<jemalloc>: ", "jemalloc"}, {"mimalloc: ", "mimalloc"}, {"tcmalloc: large", "tcmalloc"}};
  for (const auto& [mark, name] : kMarks) {
    if (text.find(mark) == std::string_view::npos) continue;
    if (std::find(marks->begin(), marks->end(), name) == marks->end()) marks->push_back(name);
  }
}

std::vector<std::string> LibraryPath(const std::string& list, const std::string& file) {
  std::vector<std::string> directories;
  for (std::string directory : WordsOf(list, ":")) {
    for (const char* word : {"$ORIGIN", "${ORIGIN}"}) {
      const size_t found = directory.find(word);
      if (found == std::string::npos) continue;
      directory.replace(found, std::strlen(word), file.substr(0, file.rfind('/')));
    }
    if (!directory.empty()) directories.push_back(directory);
  }
  return directories;
}

bool HasVersion(const std::string& library, std::string_view version) {
  const auto file = File::OpenForReading(library);
  if (!file) return true;  // nothing is known, so nothing is said
  const ElfHandle elf = OpenElf(*file);
  if (elf == nullptr) return true;
  bool found = false;
  bool any = false;
  ForEachSection(elf.get(), [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type != SHT_STRTAB || std::strcmp(SectionName(elf.get(), header), ".dynstr") != 0)
      return;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    const std::string_view text(static_cast<const char*>(data->d_buf), data->d_size);
    any = any || text.find("GLIBC_2") != std::string_view::npos;
    found = found || text.find(version) != std::string_view::npos;
  });
  return found || !any;
}

void FindLibc(const std::string& run_path, const std::string& root, ExecutableFacts* facts) {
  std::vector<std::string> directories = LibraryPath(run_path, facts->path);
  for (const char* directory :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"}) {
    directories.push_back(root + directory);
  }
  for (const std::string& directory : directories) {
    const std::string candidate = directory + "/libc.so.6";
    if (access(candidate.c_str(), R_OK) != 0) continue;
    facts->libc = candidate;
    facts->libc_is_old = !HasVersion(candidate, "GLIBC_2.35");
    return;
  }
}

void ReadDynamic(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::string* run_path,
                 ExecutableFacts* facts) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  for (size_t i = 0; i < data->d_size / header.sh_entsize; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL) break;
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RUNPATH && entry.d_tag != DT_RPATH) continue;
    const char* text = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    if (text == nullptr) continue;
    if (entry.d_tag == DT_NEEDED) {
      facts->needed.insert(text);
    } else {
      *run_path = text;
    }
  }
}

void ReadElf(const File& file, const std::string& root, bool with_names, ExecutableFacts* facts) {
  const ElfHandle elf = OpenElf(file);
  GElf_Ehdr header;
  if (elf == nullptr || gelf_getehdr(elf.get(), &header) == nullptr ||
      (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
    facts->kind = ExecutableFacts::Kind::kOther;
    return;
  }
  facts->kind = ExecutableFacts::Kind::kElf;
  facts->is_64_bit = gelf_getclass(elf.get()) == ELFCLASS64;
  facts->machine = header.e_machine;
  size_t segments = 0;
  if (elf_getphdrnum(elf.get(), &segments) != 0) segments = 0;
  for (size_t i = 0; i < std::min<size_t>(segments, 0xffff); ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr) break;
    if (segment.p_type == PT_DYNAMIC) facts->is_dynamic = true;
    if (segment.p_type != PT_INTERP) continue;
    char text[512] = {};
    const size_t wanted = std::min<size_t>(segment.p_filesz, sizeof text - 1);
    file.ReadAt(segment.p_offset, text, wanted);
    facts->interpreter = text[0] != 0 ? text : "?";
  }
  std::string run_path;
  std::vector<Elf_Scn*> constants;
  ForEachSection(elf.get(), [&](Elf_Scn* section, const GElf_Shdr& s) {
    if (s.sh_type == SHT_DYNAMIC) ReadDynamic(elf.get(), section, s, &run_path, facts);
    if (!with_names) return;
    if (s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM) {
      ReadSymbols(elf.get(), section, s, &facts->defined);
    }
    if (s.sh_type == SHT_SYMTAB) facts->has_symtab = true;
    if (s.sh_type != SHT_PROGBITS && s.sh_type != SHT_NOTE) return;
    const std::string_view name = SectionName(elf.get(), s);
    if (name == ".go.buildinfo" || name == ".note.go.buildid") facts->is_go = true;
    if (name == ".rodata") constants.push_back(section);
  });
  if (!facts->has_symtab) {
    for (Elf_Scn* section : constants) ReadMarks(section, &facts->marks);
  }
  if (!facts->interpreter.empty()) FindLibc(run_path, root, facts);
}

// The program that a "#!" line names: what env would start, where it is env.
std::string ScriptInterpreter(const std::string& head, const std::string& root) {
  const std::string line = head.substr(2, head.find('\n') - 2);
  const std::vector<std::string> words = WordsOf(line, " \t");
  if (words.empty()) return "";
  if (BaseName(words[0]) != "env") return root + words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i][0] == '-' || words[i].find('=') != std::string::npos) continue;
    const std::string found = FindCommand(words[i]);
    return found.empty() ? words[i] : root + found;
  }
  return root + words[0];
}

}  // namespace

std::set<std::string> DefinedSymbols(const std::string& path) {
  std::set<std::string> defined;
  const auto file = File::OpenForReading(path);
  if (!file) return defined;
  const ElfHandle elf = OpenElf(*file);
  if (elf == nullptr) return defined;
  ForEachSection(elf.get(), [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type == SHT_DYNSYM) ReadSymbols(elf.get(), section, header, &defined);
  });
  return defined;
}

ExecutableFacts ReadExecutable(const std::string& path, const std::string& root, bool with_names) {
  ExecutableFacts facts;
  facts.path = path;
  facts.uid = getuid();
  facts.gid = getgid();
  constexpr int kMaxScripts = 4;  // as the kernel has it
  for (int depth = 0;; ++depth) {
    struct stat st {};
    if (facts.path.empty() || stat(facts.path.c_str(), &st) != 0) {
      facts.kind =
          errno == EACCES ? ExecutableFacts::Kind::kUnreadable : ExecutableFacts::Kind::kMissing;
      facts.error = std::strerror(errno);
      return facts;
    }
    facts.mode = st.st_mode;
    facts.owner = st.st_uid;
    facts.group = st.st_gid;
    if (!S_ISREG(st.st_mode) || (st.st_mode & 0111) == 0) {
      facts.kind = ExecutableFacts::Kind::kNotExecutable;
      return facts;
    }
    const auto head = ReadWholeFile(facts.path, 256);
    if (!head) {
      facts.kind = ExecutableFacts::Kind::kUnreadable;
      facts.error = head.error().message;
      return facts;
    }
    if (head->compare(0, 2, "#!") != 0) break;
    if (depth == kMaxScripts) {
      facts.kind = ExecutableFacts::Kind::kOther;
      return facts;
    }
    facts.scripts.push_back(facts.path);
    facts.path = ScriptInterpreter(*head, root);
  }
  facts.has_capabilities = getxattr(facts.path.c_str(), "security.capability", nullptr, 0) > 0;
  struct statvfs fs {};
  facts.no_set_user_id = statvfs(facts.path.c_str(), &fs) == 0 && (fs.f_flag & ST_NOSUID) != 0;
  if (const auto file = File::OpenForReading(facts.path)) {
    ReadElf(*file, root, with_names, &facts);
  } else {
    facts.kind = ExecutableFacts::Kind::kUnreadable;
    facts.error = file.error().message;
  }
  return facts;
}

}  // namespace heapgauge
