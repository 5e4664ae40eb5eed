// Sessions of logged-in users, with the slow leak of the demo.
//
// A login makes a token and an index entry. A logout removes the entry, and somebody forgot that
// the token is owned by nobody else: it stays in memory for good. Threads: any.
#ifndef HEAPGAUGE_EXAMPLES_DEMO_SERVICE_SESSION_STORE_H_
#define HEAPGAUGE_EXAMPLES_DEMO_SERVICE_SESSION_STORE_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "examples/demo_service/accounting.h"

namespace demo {

class SessionStore {
 public:
  // Opens a session for `user` and closes the oldest of the same slot.
  void Login(uint64_t user);

  const Account& account() const { return account_; }

 private:
  struct Token {
    uint64_t user;
    char secret[4088];
  };

  // Hands out a token that, after the logout, nothing points to. Not inlined, like its counterparts
  // in the other parts, so that it has a line of its own in a profile without inlined frames.
  [[gnu::noinline]] Token* LeakSessionToken(uint64_t user);
  void Logout(uint64_t slot);

  std::mutex mutex_;
  std::unordered_map<uint64_t, Token*> by_slot_;
  Account account_;
};

}  // namespace demo

#endif  // HEAPGAUGE_EXAMPLES_DEMO_SERVICE_SESSION_STORE_H_
