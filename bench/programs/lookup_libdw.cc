// Names of addresses by libdw, printed as `lookup_addresses` prints ours:
//
//   lookup_libdw FILE < ADDRESSES
//
// For each address (hexadecimal, one per line): the address, then function and file:line of each
// frame, innermost first. It collects the functions of each unit once. For an address it descends
// only into its function, because dwarf_getscopes would walk the unit again for each address.
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Function {
  Dwarf_Addr end;
  Dwarf_Die die;
};
using Functions = std::map<Dwarf_Addr, Function>;  // by start

// gcc puts the definitions of lambdas and local classes inside types and blocks.
void Collect(Dwarf_Die* parent, Functions* functions) {
  Dwarf_Die die;
  if (dwarf_child(parent, &die) != 0) return;
  do {
    const int tag = dwarf_tag(&die);
    if (tag == DW_TAG_subprogram) {
      Dwarf_Addr base = 0, start = 0, end = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;) {
        (*functions)[start] = {end, die};
      }
    }
    if (tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
        tag == DW_TAG_structure_type || tag == DW_TAG_class_type) {
      Collect(&die, functions);
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

// Adds the inlined calls around the address, outermost first.
void Descend(Dwarf_Die parent, Dwarf_Addr address, std::vector<Dwarf_Die>* frames) {
  Dwarf_Die die;
  if (dwarf_child(&parent, &die) != 0) return;
  do {
    const int tag = dwarf_tag(&die);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
    if (dwarf_haspc(&die, address) <= 0) continue;
    if (tag == DW_TAG_inlined_subroutine) frames->push_back(die);
    return Descend(die, address, frames);
  } while (dwarf_siblingof(&die, &die) == 0);
}

// Each different name is demangled once.
const std::string& Readable(const char* name) {
  static std::unordered_map<const char*, std::string> known;
  auto [at, is_new] = known.try_emplace(name);
  if (is_new) {
    char* text = name[0] == '_' ? abi::__cxa_demangle(name, nullptr, nullptr, nullptr) : nullptr;
    at->second = text != nullptr ? text : name;
    std::free(text);
  }
  return at->second;
}

const char* Name(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
  return name != nullptr ? name : dwarf_diename(die);
}

Dwarf_Word Number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  dwarf_formudata(dwarf_attr(die, name, &attribute), &value);
  return value;
}

void Print(const char* name, const char* file, int line) {
  std::printf("%s\n%s:%d\n", name != nullptr ? Readable(name).c_str() : "??",
              file != nullptr ? file : "??", line);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Dwfl_Callbacks callbacks{};
  callbacks.find_elf = dwfl_build_id_find_elf;
  callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  callbacks.section_address = dwfl_offline_section_address;
  Dwfl* dwfl = dwfl_begin(&callbacks);
  Dwfl_Module* module = dwfl_report_offline(dwfl, "", argv[1], -1);
  dwfl_report_end(dwfl, nullptr, nullptr);
  Dwarf_Addr bias = 0;
  if (module == nullptr || dwfl_module_getdwarf(module, &bias) == nullptr) {
    std::fprintf(stderr, "lookup_libdw: %s: %s\n", argv[1], dwfl_errmsg(-1));
    return 2;
  }
  std::map<Dwarf_Off, Functions> units;
  std::vector<Dwarf_Die> frames;
  unsigned long long asked = 0;
  while (std::scanf("%llx", &asked) == 1) {
    std::printf("0x%llx\n", asked);
    Dwarf_Addr unit_bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module, asked + bias, &unit_bias);
    frames.clear();
    if (unit != nullptr) {
      const auto [at, is_new] = units.try_emplace(dwarf_dieoffset(unit));
      auto& functions = at->second;
      if (is_new) Collect(unit, &functions);
      const auto after = functions.upper_bound(asked);
      if (after != functions.begin() && asked < std::prev(after)->second.end) {
        frames.push_back(std::prev(after)->second.die);
        Descend(frames.back(), asked, &frames);
      }
    }
    if (frames.empty()) {
      GElf_Off offset = 0;
      GElf_Sym symbol{};
      const char* name =
          dwfl_module_addrinfo(module, asked + bias, &offset, &symbol, nullptr, nullptr, nullptr);
      Print(offset < symbol.st_size ? name : nullptr, nullptr, 0);
      continue;
    }
    Dwarf_Line* row = dwarf_getsrc_die(unit, asked);
    const char* file = dwarf_linesrc(row, nullptr, nullptr);
    int line = 0;
    dwarf_lineno(row, &line);
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (dwarf_getsrcfiles(unit, &files, &count) != 0) return 1;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      Print(Name(&*frame), file, line);
      file = dwarf_filesrc(files, Number(&*frame, DW_AT_call_file), nullptr, nullptr);
      line = static_cast<int>(Number(&*frame, DW_AT_call_line));
    }
  }
  std::fflush(stdout);
  std::_Exit(0);  // as ours: the system frees it all faster
}
