// Code that was unloaded and replaced: the same addresses, other rules.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "agent/unwind/plain_walk.h"
#include "agent/unwind/walker.h"
#include "tests/unwind/probe.h"
#include "tests/unwind/reference_unwind.h"

namespace heapgauge::agent {
namespace {

using PluginCall = void (*)(void* context, void (*function)(void*));

struct Comparison {
  std::unique_ptr<Walker> walker{new Walker()};
  StackMemory memory;
  bool remembered_right = false;  // the Walker's stack is libgcc's
  bool plain_right = false;       // that of a plain walk with cached rules is
  uint32_t unchanged = 0;
  ProbeAction action{&Comparison::Take, this};

  static void Take(const Registers& registers, void* argument) {
    auto* self = static_cast<Comparison*>(argument);
    std::vector<PlainFrame> libgcc(512), plain(512);
    libgcc.resize(WalkWithLibgcc(registers, libgcc.data(), 512));
    plain.resize(WalkPlain(registers, RuleSource::kCache, &self->memory, plain.data(), 512).count);
    const Stack stack = self->walker->Walk(registers);
    self->unchanged = stack.unchanged;
    // One frame more at the outer end is libgcc's way.
    const auto size_right = [&libgcc](size_t count) {
      return count > 3 && (count == libgcc.size() || count + 1 == libgcc.size());
    };
    self->remembered_right = size_right(stack.count);
    for (uint32_t i = 0; self->remembered_right && i < stack.count; ++i) {
      self->remembered_right = stack.frames[stack.count - 1 - i].pc == libgcc[i].pc &&
                               stack.frames[stack.count - 1 - i].sp == libgcc[i].sp;
    }
    self->plain_right = size_right(plain.size());
    for (size_t i = 0; self->plain_right && i < plain.size(); ++i) {
      self->plain_right = plain[i].pc == libgcc[i].pc && plain[i].sp == libgcc[i].sp;
    }
  }
};

struct Plugin {
  explicit Plugin(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) return;
    call = reinterpret_cast<PluginCall>(dlsym(handle, "hg_plugin_call"));
  }
  void* handle;
  PluginCall call = nullptr;
};

// Two calls from here would be two call sites: the address of the caller must be the same as well.
[[gnu::noinline]] void CallFromOnePlace(PluginCall call, Comparison* comparison) {
  call(&comparison->action, hg_probe);
  __asm__ volatile("");
}

TEST(Plugin, ReplacedAtTheSameAddressIsWalkedByItsOwnRules) {
  Comparison comparison;
  Plugin first(HG_PLUGIN_A);
  ASSERT_NE(first.call, nullptr) << dlerror();
  const PluginCall first_call = first.call;
  CallFromOnePlace(first.call, &comparison);
  EXPECT_TRUE(comparison.remembered_right);
  EXPECT_TRUE(comparison.plain_right);
  dlclose(first.handle);

  Plugin second(HG_PLUGIN_B);
  ASSERT_NE(second.call, nullptr) << dlerror();
  if (second.call != first_call) {
    GTEST_SKIP() << "the second plug-in was not loaded where the first one had been";
  }
  // Without a word to the unwinder the cached rule is the first plug-in's: that is the danger.
  CallFromOnePlace(second.call, &comparison);
  EXPECT_FALSE(comparison.plain_right);

  InvalidateUnwindRules();
  CallFromOnePlace(second.call, &comparison);
  EXPECT_EQ(comparison.unchanged, 0u);
  EXPECT_TRUE(comparison.remembered_right);
  EXPECT_TRUE(comparison.plain_right);
  CallFromOnePlace(second.call, &comparison);
  EXPECT_GT(comparison.unchanged, 0u);
  EXPECT_TRUE(comparison.remembered_right);
  dlclose(second.handle);
}

}  // namespace
}  // namespace heapgauge::agent
