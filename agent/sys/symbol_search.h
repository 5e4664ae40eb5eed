// Where the next definition of a symbol is.
//
// dlsym(RTLD_NEXT) would do, but it allocates, and it finds nothing for the operators that a C++
// plugin brings into a C program with RTLD_LOCAL. So the symbol tables are searched here. Linked
// into a program, the agent knows all of it from the linker: symbol_search_linked.cc.
//
// Allocation-free. FindNext takes the dynamic linker's lock for the list of objects (as every C++
// throw does): call it with no lock held. The others are lock-free.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

#include "agent/sys/loaded_object.h"

namespace heapgauge::agent {

// A definition of a function in some object.
struct Definition {
  void* address = nullptr;
  size_t bytes = 0;     // of its code; 0 unknown
  uintptr_t start = 0;  // range of the defining object
  uintptr_t end = 0;
  const char* path = "";
};

// For each name, its first definition in load order among the objects behind the one that
// `self` lies in; those not found stay as they are. Definitions in the objects themselves, not
// what relocations made of them, so that other interposers are honoured in order.
void FindNext(const void* self, const char* const* names, Definition* definitions, size_t count);

// The same for the time before the program begins: goes through the dynamic linker's list as a
// debugger does, without its lock and without a call that a sanitizer may have hooked.
void FindNextAtStart(const void* self, const char* const* names, Definition* definitions,
                     size_t count);

// The definition in the C library itself, whoever else defines it. REQUIRES: as FindNextAtStart.
void* FindInLibc(const char* name);

// A variable of the dynamic linker's, where that itself keeps it. A program that names one has a
// copy, to which everybody is bound and which is empty until the program is relocated, last of all.
void* FindInLinker(const char* name);
// The dynamic linker's list. REQUIRES: as FindNextAtStart.
const link_map* FirstObject();

// Changes what a function that this library exports means to everything that is bound from now on:
// its entry in our symbol table leads to `target`, or, with nullptr, becomes an undefined one, so
// that the next definition is found. False if that is not possible.
bool BindOwnSymbol(const char* name, const void* target);

// The definition of `name` in the object that holds `address`; nullptr if it has none.
void* FindIn(uintptr_t address, const char* name);

}  // namespace heapgauge::agent
