// The heap that leak checks are compared on: blocks of 32 to 480 bytes, 256 on average, a third of
// them lost. Two thirds hang in a table of chains, as in any service; the rest in chains whose
// heads were forgotten. Every other block is a node with three pointers; its value is text and
// numbers.
//
// Where chains go up and down in memory is random, as it is in a heap that has been in use.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace leak_heap {

struct Node {
  Node* next;
  uint64_t* value;
  Node* other;  // any recent one of the same fate, as links of values are
};

// All that leads to blocks.
inline struct Globals { Node** table; } globals;

constexpr uint64_t kBuckets = 1 << 16;
constexpr uint64_t kLostChain = 20;

inline uint64_t random_state = 88172645463325252;
inline uint64_t Random() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

// Told of every block; does nothing in a program that is measured by others.
using OnBlock = void (*)(void* block, size_t size);

inline void* Allocate(uint64_t pointers, OnBlock on_block) {
  const size_t size = (32 + Random() % 449) / 8 * 8;
  auto* words = static_cast<uint64_t*>(malloc(size));
  for (size_t i = pointers; i < size / 8; ++i) {
    switch (Random() % 4) {
      case 0:
        words[i] = 0;
        break;
      case 1:
        words[i] = Random() % 1000;
        break;
      default:
        memcpy(&words[i], &"some text of a record"[Random() % 13], 8);
    }
  }
  if (on_block != nullptr) on_block(words, size);
  return words;
}

// Returns how many blocks are lost.
__attribute__((noinline)) inline uint64_t Build(uint64_t blocks, uint64_t links, OnBlock on_block) {
  constexpr uint64_t kRecent = 4096;
  globals.table = static_cast<Node**>(calloc(kBuckets, sizeof(Node*)));
  if (on_block != nullptr) on_block(globals.table, kBuckets * sizeof(Node*));
  // On the stack, and wiped: nothing of it may lead to lost blocks afterwards.
  Node* volatile chains[256] = {};  // lost ones, being built
  uint64_t length[256] = {};
  Node* volatile kept[kRecent] = {};
  Node* volatile lost[kRecent] = {};
  uint64_t lost_blocks = 0;
  for (uint64_t i = 0; i < blocks / 2; ++i) {
    const bool is_lost = i % 3 == 0;
    auto* node = static_cast<Node*>(Allocate(3, on_block));
    node->value = static_cast<uint64_t*>(Allocate(links, on_block));
    Node* volatile* recent = is_lost ? lost : kept;
    node->other = recent[Random() % kRecent];
    for (uint64_t link = 0; link < links; ++link) {
      node->value[link] = reinterpret_cast<uint64_t>(recent[Random() % kRecent]);
    }
    recent[Random() % kRecent] = node;
    if (!is_lost) {
      Node** head = &globals.table[Random() % kBuckets];
      // Half of the chains grow at their heads, half behind them.
      Node** at = *head != nullptr && Random() % 2 == 0 ? &(*head)->next : head;
      node->next = *at;
      *at = node;
      continue;
    }
    lost_blocks += 2;
    const uint64_t chain = Random() % 256;
    if (++length[chain] > kLostChain) {
      chains[chain] = nullptr;
      length[chain] = 1;
    }
    node->next = chains[chain];
    chains[chain] = node;
  }
  for (Node* volatile& node : chains) node = nullptr;
  for (Node* volatile& node : lost) node = nullptr;
  for (Node* volatile& node : kept) node = nullptr;
  return lost_blocks;
}

}  // namespace leak_heap
