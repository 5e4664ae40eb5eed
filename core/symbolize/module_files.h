// The files of a module: itself, its debug files, the package that has these, and where it was
// loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/elf/elf_file.h"
#include "core/model/types.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/symbolize_options.h"

namespace heapgauge {

// The files of a module: the module itself as it ran, and where separate debug information for it
// may be. A file whose build-id is not the recorded one is refused: no name is better than a wrong
// one.
//
// Every place that is looked at is noted in a StampList. Owned by one thread.

// Opens `path` if it is the recorded build of the module. A file without a build-id cannot be told
// apart from another build; one is only accepted if none was recorded either.
Result<std::unique_ptr<ElfFile>> OpenBuild(const std::string& path, const std::string& build_id);

// The module as it ran: at its path, through the running process (another mount namespace, deleted
// since), the kernel's vDSO, or its debug file if only that is left. One without a build-id must
// not be younger than the recording. The error tells the most telling reason.
Result<std::unique_ptr<ElfFile>> OpenModule(const Module& module, const SymbolizeOptions& options,
                                            StampList* stamps);

// The same for a module of a foreign profile: a build-id that was not recorded may be any, and
// `program_path`, if not "", is the file in any case. `note` is told if its build-id is another.
Result<std::unique_ptr<ElfFile>> OpenForeignModule(const Module& module,
                                                   const std::string& program_path,
                                                   const SymbolizeOptions& options,
                                                   StampList* stamps, std::string* note);

// The separate debug file of a module without DWARF: by build-id, by debug link, from debuginfod.
// Null if there is none.
std::unique_ptr<ElfFile> OpenDebugFile(const ElfFile& elf, const SymbolizeOptions& options,
                                       StampList* stamps);

// The dwz file that `elf` refers to, or null.
std::unique_ptr<ElfFile> OpenAltFile(ElfFile* elf, const SymbolizeOptions& options,
                                     StampList* stamps);

// The symbols that Fedora's packages carry compressed in .gnu_debugdata, or null.
std::unique_ptr<ElfFile> OpenMiniDebugInfo(ElfFile* elf);

// "DIR/.build-id/ab/cdef.debug".
std::string BuildIdPath(const std::string& directory, const std::string& build_id);

// Which package has the debug file of an installed program or library, on Debian and its relatives.
//
// dpkg keeps a list of files for each package. All lists are read once for all questions, and only
// when a report has something to say about a file without names: some 20 ms.
//
// The name of the debug package for each path; "" if no package owns the file. Bounded: a very
// large database is read in part.
std::vector<std::string> DebugPackagesOf(const std::vector<std::string>& paths,
                                         const std::string& info_dir = "/var/lib/dpkg/info");

// Where a file was loaded, for profiles that tell only which part of it was mapped where.
//
// A mapping of file offset f at address a belongs to a segment with offset o and linked address v;
// there the load bias is a - (f - o + v). Which segment it is has to be guessed where several
// share a page, or where the writer of the profile stretched the mapping down to offset 0 while the
// segments' addresses do not keep the distance of their offsets (as lld lays them out). So each
// guess is tried, and the one that puts the most addresses of the profile into code wins; among
// equals, the one whose code ends where the mapping does.
//
// `addresses` are some of the profile's in that module. Pure.
uint64_t FindLoadBias(const ElfFile& file, const Module& module,
                      const std::vector<uint64_t>& addresses);

}  // namespace heapgauge
