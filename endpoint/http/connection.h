// One client: its bytes in, its answers out, and the time it may take for each. Knows HTTP, but not
// what is asked; the server takes a complete request from it and hands an answer back.
//
// Owned by one thread; never blocks. Memory: the head, the body as far as it has come, and the
// answer as far as it has not gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "endpoint/base/message.h"
#include "endpoint/http/answer.h"
#include "endpoint/http/limits.h"
#include "endpoint/http/listener.h"
#include "endpoint/http/request_parser.h"

namespace heapgauge::endpoint {

class Connection {
 public:
  enum class State {
    kIdle,      // nothing of a request yet
    kHead,      // in the middle of a head
    kBody,      // in the middle of a body
    kReady,     // a request is complete; to be taken
    kWorking,   // somebody makes the answer
    kPromised,  // an answer will be made at due_ns()
    kWriting,   // the answer goes out
    kDraining,  // it has gone; what the client still sends is thrown away, so that it reads it
    kClosed,
  };

  // Looks at a head before its body is read; an answer refuses it.
  using Gate = std::function<std::optional<Response>(const RequestHead&, const Connection&)>;

  // Takes over the descriptor. Options and gate must outlive the connection.
  Connection(uint64_t id, int fd, const Address& peer, const ServerOptions* options,
             const Gate* gate, uint64_t now_ns);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  uint64_t id() const { return id_; }
  int fd() const { return fd_; }
  uint64_t peer_key() const { return peer_key_; }
  State state() const { return state_; }
  uint64_t since_ns() const { return since_ns_; }  // in this state
  uint64_t deadline_ns() const { return deadline_ns_; }
  size_t held_bytes() const;
  short events() const;  // to poll for
  // Whether there is input left to look at, though nothing new may come.
  bool has_more() const { return state_ == State::kIdle && !input_.empty(); }

  // After poll, or because of has_more(). `scratch` is room to read into.
  void Advance(short events, std::string* scratch, uint64_t now_ns);
  // The deadline has passed: the client was too slow.
  void OnDeadline(uint64_t now_ns);

  // In kReady; then it is kWorking.
  Request TakeRequest(uint64_t now_ns);
  AnswerOptions answer_options() const;
  // In kWorking; then it is kPromised.
  void Promise(std::function<Response()> later, uint64_t due_ns, uint64_t now_ns);
  uint64_t due_ns() const { return due_ns_; }
  // In kPromised; then it is kWorking again.
  std::function<Response()> TakePromise(uint64_t now_ns);
  void Send(Answer answer, uint64_t now_ns);
  // An answer of the server's own, after which the connection ends.
  void Refuse(const Response& response, uint64_t now_ns);
  void Close();

 private:
  void Enter(State state, uint64_t now_ns, unsigned allowed_ms);
  void Receive(std::string* scratch, uint64_t now_ns);
  void Parse(uint64_t now_ns);
  void ParseHead(uint64_t now_ns);
  void ParseBody(uint64_t now_ns);
  void Write(uint64_t now_ns);
  void Finish(uint64_t now_ns);

  const uint64_t id_;
  int fd_;
  const std::string peer_;
  const uint64_t peer_key_;
  const ServerOptions& options_;
  const Gate& gate_;
  State state_ = State::kIdle;
  uint64_t since_ns_ = 0;
  uint64_t deadline_ns_ = 0;

  std::string input_;  // from the start of the request, or of what is not taken of its body
  HeadParser parser_;
  std::optional<ChunkDecoder> chunks_;
  RequestHead head_;
  std::string body_;
  bool takes_gzip_ = false;
  bool closing_ = false;  // after this answer

  std::function<Response()> later_;
  uint64_t due_ns_ = 0;
  Answer answer_;
  size_t sent_ = 0;
};

}  // namespace heapgauge::endpoint
