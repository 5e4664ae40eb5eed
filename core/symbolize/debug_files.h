// The files of a module: the module itself as it ran, and where separate debug information for it
// may be. A file whose build-id is not the recorded one is refused: no name is better than a wrong
// one.
//
// Every place that is looked at is noted in a StampList. Owned by one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/elf/elf_file.h"
#include "core/model/types.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/symbolize_options.h"

namespace heapgauge {

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

}  // namespace heapgauge
