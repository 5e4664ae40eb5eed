// The objects in the address space: which one holds an address, and where the next definition of a
// symbol is.
//
// dlsym(RTLD_NEXT) would do the second, but it allocates, and it finds nothing for the operators that a
// C++ plugin brings into a C program with RTLD_LOCAL. So the symbol tables are searched here.
//
// Allocation-free. ObjectAt is lock-free and async-signal-safe. FindNext takes the dynamic
// linker's lock for the list of objects (as every C++ throw does): call it with no lock held.
#ifndef HEAPGAUGE_AGENT_SYS_LOADED_OBJECTS_H_
#define HEAPGAUGE_AGENT_SYS_LOADED_OBJECTS_H_

#include <cstddef>
#include <cstdint>

namespace heapgauge::agent {

struct LoadedObject {
  uintptr_t start = 0;  // mapped range
  uintptr_t end = 0;
  uintptr_t load_bias = 0;
  const char* path = "";      // the dynamic linker's; empty for the main program
  const void* identity = nullptr;  // differs for two objects that are loaded at the same time
};

// The object that holds `address`; false if none does.
bool ObjectAt(uintptr_t address, LoadedObject* object);

// Copies the build-id of an object that is loaded now; 0 if it has none or it does not fit.
size_t BuildId(const LoadedObject& object, uint8_t* build_id, size_t capacity);

// A definition of a function in some object.
struct Definition {
  void* address = nullptr;
  uintptr_t start = 0;  // range of the defining object
  uintptr_t end = 0;
  const char* path = "";
};

// For each name, its first definition in load order among the objects behind the one that
// `self` lies in; those not found stay as they are. Definitions in the objects themselves, not
// what relocations made of them, so that other interposers are honoured in order.
void FindNext(const void* self, const char* const* names, Definition* definitions, size_t count);

// The definition of `name` in the object that holds `address`; nullptr if it has none.
void* FindIn(uintptr_t address, const char* name);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_SYS_LOADED_OBJECTS_H_
