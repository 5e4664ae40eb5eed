#include "examples/demo_service/session_store.h"

#include <cstring>

namespace demo {

void SessionStore::Login(uint64_t user) {
  const uint64_t slot = user % 64;
  Token* token = LeakSessionToken(user);
  const std::lock_guard lock(mutex_);
  Logout(slot);
  by_slot_[slot] = token;
}

SessionStore::Token* SessionStore::LeakSessionToken(uint64_t user) {
  auto* token = new Token;
  token->user = user;
  std::memset(token->secret, 's', sizeof token->secret);
  account_.Allocated(sizeof(Token));
  return token;
}

void SessionStore::Logout(uint64_t slot) {
  by_slot_.erase(slot);  // the bug: the token itself is never deleted
}

}  // namespace demo
