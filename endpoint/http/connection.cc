#include "endpoint/http/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace heapgauge::endpoint {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};
constexpr unsigned kDrainMs = 2000;
constexpr size_t kWriteStep = size_t{1} << 20;    // write_ms is for each of these
constexpr size_t kMostPerTurn = size_t{4} << 20;  // then others have theirs

// Empties it, its memory too: a string keeps that when it is cleared, or set to an empty one.
void Release(std::string* text) { std::string().swap(*text); }

}  // namespace

Connection::Connection(uint64_t id, int fd, const Address& peer, const ServerOptions* options,
                       const Gate* gate, uint64_t now_ns)
    : id_(id),
      fd_(fd),
      peer_(peer.is_unix() ? "unix" : peer.Text()),
      peer_key_(PeerKey(peer)),
      options_(*options),
      gate_(*gate),
      parser_(options->head_bytes) {
  Enter(State::kIdle, now_ns, options_.head_ms);
}

Connection::~Connection() { Close(); }

void Connection::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  state_ = State::kClosed;
  deadline_ns_ = kNever;
  later_ = nullptr;
}

void Connection::Enter(State state, uint64_t now_ns, unsigned allowed_ms) {
  state_ = state;
  since_ns_ = now_ns;
  deadline_ns_ = allowed_ms == 0 ? kNever : now_ns + allowed_ms * kMsNs;
}

size_t Connection::held_bytes() const {
  return input_.size() + body_.size() + answer_.head.size() + answer_.body.size();
}

short Connection::events() const {
  switch (state_) {
    case State::kIdle:
    case State::kHead:
    case State::kBody:
    case State::kDraining:
      return POLLIN;
    case State::kPromised:
      return POLLRDHUP;  // a client that has gone needs no answer
    case State::kWriting:
      return POLLOUT;
    default:
      return 0;
  }
}

void Connection::Advance(short events, std::string* scratch, uint64_t now_ns) {
  switch (state_) {
    case State::kIdle:
    case State::kHead:
    case State::kBody:
      if (events != 0) Receive(scratch, now_ns);
      if (state_ != State::kClosed) Parse(now_ns);
      return;
    case State::kReady:
    case State::kWorking:
      if ((events & (POLLHUP | POLLERR | POLLNVAL)) != 0) Close();
      return;
    case State::kPromised:
      if ((events & (POLLHUP | POLLERR | POLLNVAL | POLLRDHUP)) != 0) Close();
      return;
    case State::kWriting:
      if (events != 0) Write(now_ns);
      return;
    case State::kDraining:
      if (events != 0) Receive(scratch, now_ns);
      input_.clear();
      return;
    case State::kClosed:
      return;
  }
}

void Connection::Receive(std::string* scratch, uint64_t) {
  const ssize_t got = recv(fd_, scratch->data(), scratch->size(), 0);
  if (got > 0) {
    input_.append(*scratch, 0, static_cast<size_t>(got));
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    Close();
  }
}

void Connection::Parse(uint64_t now_ns) {
  if (state_ == State::kIdle && !input_.empty()) Enter(State::kHead, now_ns, options_.head_ms);
  if (state_ == State::kHead) ParseHead(now_ns);
  if (state_ == State::kBody) ParseBody(now_ns);
}

void Connection::ParseHead(uint64_t now_ns) {
  switch (parser_.Parse(input_)) {
    case HeadParser::State::kMore:
      return;
    case HeadParser::State::kBad:
      Refuse(ErrorText(parser_.status(), parser_.reason()), now_ns);
      return;
    case HeadParser::State::kDone:
      break;
  }
  head_ = std::move(parser_.head());
  input_.erase(0, parser_.size());
  closing_ = !head_.keep_alive;
  if (const auto refused = gate_(head_, *this)) {
    Refuse(*refused, now_ns);
    return;
  }
  if (head_.content_length > options_.body_bytes) {
    Refuse(ErrorText(413, "the body is too large"), now_ns);
    return;
  }
  body_.clear();
  if (!head_.has_body()) {
    Enter(State::kReady, now_ns, 0);
    return;
  }
  if (head_.chunked) chunks_.emplace(options_.body_bytes);
  if (head_.expects_continue && input_.empty()) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    // If it does not go, the client sends its body after a while all the same.
    static_cast<void>(!send(fd_, kContinue.data(), kContinue.size(), MSG_NOSIGNAL));
  }
  Enter(State::kBody, now_ns, options_.body_ms);
}

void Connection::ParseBody(uint64_t now_ns) {
  if (!head_.chunked) {
    const size_t whole = static_cast<size_t>(head_.content_length);
    const size_t left = whole - body_.size();
    const size_t take = std::min(left, input_.size());
    // Who has sent a quarter means it. A string that grows by and by leaves as much behind as it
    // holds, which an allocator may keep.
    if (body_.size() + take >= whole / 4 && body_.capacity() < whole) body_.reserve(whole);
    body_.append(input_, 0, take);
    input_.erase(0, take);
    if (body_.size() == head_.content_length) Enter(State::kReady, now_ns, 0);
    return;
  }
  std::string_view rest = input_;
  const ChunkDecoder::State state = chunks_->Decode(&rest, &body_);
  input_.erase(0, input_.size() - rest.size());
  switch (state) {
    case ChunkDecoder::State::kMore:
      return;
    case ChunkDecoder::State::kDone:
      Enter(State::kReady, now_ns, 0);
      return;
    case ChunkDecoder::State::kBad:
      Refuse(ErrorText(400, "the chunked body is malformed"), now_ns);
      return;
    case ChunkDecoder::State::kTooLarge:
      Refuse(ErrorText(413, "the body is too large"), now_ns);
      return;
  }
}

void Connection::OnDeadline(uint64_t now_ns) {
  switch (state_) {
    case State::kHead:
      Refuse(ErrorText(408, "the request head took too long"), now_ns);
      return;
    case State::kBody:
      Refuse(ErrorText(408, "the request body took too long"), now_ns);
      return;
    default:
      Close();
  }
}

Request Connection::TakeRequest(uint64_t now_ns) {
  Request request;
  request.method = head_.method;  // still needed for the answer
  request.path = std::move(head_.path);
  request.query = std::move(head_.query);
  request.headers = std::move(head_.headers);
  request.body = std::move(body_);
  request.peer = peer_;
  takes_gzip_ = TakesGzip(request.Header("Accept-Encoding"));
  Release(&body_);
  chunks_.reset();
  Enter(State::kWorking, now_ns, 0);
  return request;
}

AnswerOptions Connection::answer_options() const {
  return {.is_head = head_.method == "HEAD",
          .keep_alive = !closing_,
          .old_version = head_.minor == 0,
          .gzip = takes_gzip_};
}

void Connection::Promise(std::function<Response()> later, uint64_t due_ns, uint64_t now_ns) {
  Enter(State::kPromised, now_ns, 0);
  later_ = std::move(later);
  due_ns_ = due_ns;
}

std::function<Response()> Connection::TakePromise(uint64_t now_ns) {
  Enter(State::kWorking, now_ns, 0);
  return std::exchange(later_, nullptr);
}

void Connection::Refuse(const Response& response, uint64_t now_ns) {
  takes_gzip_ = false;
  closing_ = true;
  Release(&body_);
  later_ = nullptr;
  Send(MakeAnswer(response, answer_options()), now_ns);
}

void Connection::Send(Answer answer, uint64_t now_ns) {
  answer_ = std::move(answer);
  sent_ = 0;
  Enter(State::kWriting, now_ns, options_.write_ms);
  Write(now_ns);
}

void Connection::Write(uint64_t now_ns) {
  const size_t all = answer_.head.size() + answer_.body.size();
  const size_t stop = std::min(all, sent_ + kMostPerTurn);
  while (sent_ < stop) {
    iovec parts[2];
    size_t count = 0;
    if (sent_ < answer_.head.size()) {
      parts[count++] = {answer_.head.data() + sent_, answer_.head.size() - sent_};
    }
    const size_t from = sent_ < answer_.head.size() ? 0 : sent_ - answer_.head.size();
    if (from < answer_.body.size()) {
      parts[count++] = {answer_.body.data() + from, answer_.body.size() - from};
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t sent = sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) Close();
      return;
    }
    const size_t steps = sent_ / kWriteStep;
    sent_ += static_cast<size_t>(sent);
    if (sent_ / kWriteStep != steps) deadline_ns_ = now_ns + options_.write_ms * kMsNs;
  }
  if (sent_ == all) Finish(now_ns);
}

void Connection::Finish(uint64_t now_ns) {
  Release(&answer_.head);
  Release(&answer_.body);
  if (closing_) {
    // Closing with input unread would make the kernel throw the answer away.
    shutdown(fd_, SHUT_WR);
    Release(&input_);
    Enter(State::kDraining, now_ns, kDrainMs);
    return;
  }
  parser_ = HeadParser(options_.head_bytes);
  head_ = {};
  Enter(State::kIdle, now_ns, options_.idle_ms);
}

}  // namespace heapgauge::endpoint
