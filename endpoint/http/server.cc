#include "endpoint/http/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/os/process.h"
#include "endpoint/http/access.h"
#include "endpoint/http/connection.h"
#include "endpoint/http/limits.h"
#include "endpoint/http/listener.h"
#include "endpoint/http/workers.h"

namespace heapgauge::endpoint {
namespace {

constexpr uint64_t kStopNs = 1'000'000'000;
constexpr uint64_t kExhaustedNs = 100 * kMsNs;  // until the next look after running out
constexpr uint64_t kYoungNs = 1'000'000'000;    // a head that is younger may still come
constexpr uint64_t kLongNs = 10'000'000'000;    // a body or answer that takes longer is a slow one
constexpr size_t kScratchBytes = size_t{64} << 10;
constexpr int kMostAccepted = 64;  // at a time

constexpr const char* kBusy = "too much is under way; try again soon";

using State = Connection::State;

Response Later(int status, const char* why) {
  Response response = ErrorText(status, why);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

struct HeldRequest {
  HeldRequest(Request taken, std::atomic<size_t>* sum)
      : request(std::move(taken)), held(sum, request.body.size()) {}
  const Request request;
  const HeldBytes held;
};

// What a handler has come to.
struct Outcome {
  uint64_t connection = 0;
  Answer answer;
  std::function<Response()> later;  // in place of the answer
  uint64_t due_ns = 0;
  HeldBytes held;  // the answer
};

// An answer to be made. What it takes to tell that this failed is here before it begins: there may
// be no memory for it afterwards.
struct Job {
  AnswerOptions how;
  std::function<Reply()> make;
  std::list<Outcome> outcome;  // one, a failure until there is something better; moves as it is
};

class SocketServer final : public Server {
 public:
  SocketServer(const ServerOptions& options, Handler handler, std::unique_ptr<Listener> listener,
               int wake)
      : options_(options),
        handler_(std::move(handler)),
        listener_(std::move(listener)),
        address_(listener_->address()),
        wake_(wake),
        rates_(options.requests_per_second) {
    rules_.token = options.token;
    rules_.only_own_host = !address_.is_unix() && address_.is_local();
    gate_ = [this](const RequestHead& head, const Connection& from) { return Admit(head, from); };
    scratch_.resize(kScratchBytes);
    polled_.reserve(size_t{options.connections} + 2);
  }
  ~SocketServer() override {
    workers_.End();
    close(wake_);
  }

  void Run() override;
  void Stop() override {
    stopping_.store(true);
    Wake();
  }
  std::string url() const override;

 private:
  void Wake() const {
    const uint64_t one = 1;
    static_cast<void>(!write(wake_, &one, sizeof one));
  }

  void Wait();
  int TimeoutMs(uint64_t now) const;
  void AcceptWaiting(uint64_t now);
  bool MakeRoomFor(uint64_t peer, uint64_t now);
  std::optional<Response> Admit(const RequestHead& head, const Connection& from);
  void Serve(Connection* connection, short events, uint64_t now);
  void TakeRequest(Connection* connection, uint64_t now);
  void Submit(const Connection& connection, bool at_once, std::function<Reply()> make);
  void Make(Job* job) noexcept;
  void Deliver(Outcome outcome, uint64_t now);
  bool MayWait(const Connection& one) const;
  void DeliverFinished(uint64_t now);
  size_t held_bytes() const { return in_connections_ + in_work_; }
  void LimitHeldBytes(uint64_t now);
  void BeginToStop(uint64_t now);
  void ForgetClosed();
  Connection* Find(uint64_t id);

  const ServerOptions options_;
  const Handler handler_;
  std::unique_ptr<Listener> listener_;
  const Address address_;
  const int wake_;
  std::atomic<bool> stopping_{false};

  AccessRules rules_;
  RateLimit rates_;
  Connection::Gate gate_;
  std::vector<std::unique_ptr<Connection>> connections_;
  uint64_t next_id_ = 1;
  uint64_t accept_after_ns_ = 0;
  // What clients have us hold. By connections: when last looked, and what changed hands since.
  // Changed by Run()'s thread alone.
  std::atomic<size_t> in_connections_{0};
  std::atomic<size_t> in_work_{0};  // requests that were taken from them, and answers made
  std::string scratch_;
  std::vector<pollfd> polled_;

  std::mutex mutex_;  // guards what is below
  std::list<Outcome> finished_;
  Workers workers_;
};

constexpr int kNoVictim = 9;

// Who goes first where there is no room: those that nobody would miss, then those that take long.
int VictimRank(const Connection& connection, uint64_t now) {
  const uint64_t age = now - connection.since_ns();
  switch (connection.state()) {
    case State::kDraining:
    case State::kClosed:
      return 0;
    case State::kIdle:
      return age >= kYoungNs ? 1 : kNoVictim;
    case State::kHead:
      return age >= kYoungNs ? 2 : kNoVictim;
    case State::kBody:
    case State::kWriting:
      return age >= kLongNs ? 3 : kNoVictim;
    default:
      return kNoVictim;
  }
}

size_t SizeOf(const Answer& answer) { return answer.head.size() + answer.body.size(); }

// Closes the connection if there is no memory to say why.
void RefuseOrClose(Connection* connection, Response (*why)(), uint64_t now) noexcept {
  try {
    connection->Refuse(why(), now);
  } catch (const std::exception&) {
    connection->Close();
  }
}

std::string SocketServer::url() const {
  if (address_.is_unix()) return address_.Text();
  if (!address_.is_any()) return "http://" + address_.Text();
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
    return "http://" + address_.Text();
  return "http://" + Printable(name) + ":" + std::to_string(address_.port());
}

Connection* SocketServer::Find(uint64_t id) {
  for (const auto& connection : connections_) {
    if (connection->id() == id) return connection.get();
  }
  return nullptr;
}

int SocketServer::TimeoutMs(uint64_t now) const {
  uint64_t next = now + 60'000 * kMsNs;
  if (accept_after_ns_ > now) next = std::min(next, accept_after_ns_);
  for (const auto& connection : connections_) {
    if (connection->has_more()) return 0;
    next = std::min(next, connection->deadline_ns());
    if (connection->state() == State::kPromised) next = std::min(next, connection->due_ns());
  }
  // Rounded up: a timeout that is too short by less than a millisecond would spin.
  return next <= now ? 0 : static_cast<int>((next - now + kMsNs - 1) / kMsNs);
}

void SocketServer::Wait() {
  const uint64_t now = MonotonicNow();
  polled_.clear();
  polled_.push_back({wake_, POLLIN, 0});
  const bool accepts = listener_ != nullptr && now >= accept_after_ns_;
  polled_.push_back({accepts ? listener_->fd() : -1, POLLIN, 0});
  for (const auto& connection : connections_) {
    polled_.push_back({connection->fd(), connection->events(), 0});
  }
  if (poll(polled_.data(), polled_.size(), TimeoutMs(now)) < 0) {
    for (pollfd& entry : polled_) entry.revents = 0;  // interrupted
  }
  if (polled_[0].revents != 0) {
    uint64_t count = 0;
    static_cast<void>(!read(wake_, &count, sizeof count));
  }
}

// Closes a connection that nobody would miss: one of the same peer if that has too many, else any.
bool SocketServer::MakeRoomFor(uint64_t peer, uint64_t now) {
  const size_t of_peer = static_cast<size_t>(
      std::count_if(connections_.begin(), connections_.end(),
                    [peer](const auto& other) { return other->peer_key() == peer; }));
  const bool peer_full = !address_.is_unix() && of_peer >= options_.connections_per_peer;
  if (!peer_full && connections_.size() < options_.connections) return true;
  auto victim = connections_.end();
  int best = kNoVictim;
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    const Connection& other = **it;
    if (peer_full && other.peer_key() != peer) continue;
    const int rank = VictimRank(other, now);
    if (rank < best ||
        (rank == best && rank < kNoVictim && other.since_ns() < (*victim)->since_ns())) {
      best = rank;
      victim = it;
    }
  }
  if (victim == connections_.end()) return false;
  connections_.erase(victim);
  return true;
}

void SocketServer::AcceptWaiting(uint64_t now) {
  for (int i = 0; i < kMostAccepted; ++i) {
    Address peer;
    bool exhausted = false;
    const int fd = listener_->Accept(&peer, &exhausted);
    if (exhausted) accept_after_ns_ = now + kExhaustedNs;
    if (fd < 0) return;
    if (MakeRoomFor(PeerKey(peer), now)) {
      connections_.push_back(
          std::make_unique<Connection>(next_id_++, fd, peer, &options_, &gate_, now));
      continue;
    }
    // What has come already is read, so that closing does not take the answer away.
    const Answer busy = MakeAnswer(ErrorText(503, "there are too many connections"), {});
    const std::string text = busy.head + busy.body;
    static_cast<void>(!recv(fd, scratch_.data(), scratch_.size(), 0));
    static_cast<void>(!send(fd, text.data(), text.size(), MSG_NOSIGNAL));
    close(fd);
  }
}

std::optional<Response> SocketServer::Admit(const RequestHead& head, const Connection& from) {
  if (!rates_.Take(from.peer_key(), MonotonicNow())) {
    return Later(429, "there are too many requests; wait a second");
  }
  if (auto refused = Refuse(head, rules_)) return refused;
  if (held_bytes() > options_.held_bytes) {
    return Later(503, kBusy);
  }
  return {};
}

// In kReady.
void SocketServer::TakeRequest(Connection* connection, uint64_t now) {
  auto taken = std::make_shared<const HeldRequest>(connection->TakeRequest(now), &in_work_);
  // Not twice: the look at the connections had most of it.
  in_connections_ -= std::min<size_t>(in_connections_, taken->request.body.size());
  const bool at_once = options_.at_once && options_.at_once(taken->request);
  Submit(*connection, at_once,
         [this, taken = std::move(taken)] { return handler_(taken->request); });
}

// In kWorking: has the answer made, here or by a worker. A connection has one at a time.
void SocketServer::Submit(const Connection& connection, bool at_once, std::function<Reply()> make) {
  auto job = std::make_shared<Job>();
  job->how = connection.answer_options();
  job->make = std::move(make);
  Outcome& outcome = job->outcome.emplace_back();
  outcome.connection = connection.id();
  outcome.answer = MakeAnswer(ErrorText(500, "the answer could not be made"), job->how);
  if (at_once || workers_.empty()) {
    Make(job.get());
    Deliver(std::move(outcome), MonotonicNow());
    return;
  }
  workers_.Add(connection.id(), [this, job] {
    Make(job.get());
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      finished_.splice(finished_.end(), job->outcome);
    }
    Wake();
  });
}

// Makes the reply and, in the same thread since compression takes its time, the answer. Of what is
// thrown, for want of memory most likely, remains the failure that the outcome is already.
void SocketServer::Make(Job* job) noexcept {
  Outcome& outcome = job->outcome.front();
  try {
    // Others may have made much since this was admitted.
    Reply reply = held_bytes() <= options_.held_bytes ? job->make() : Reply(Later(503, kBusy));
    if (reply.later) {
      outcome.later = std::move(reply.later);
      outcome.due_ns = reply.due_ns;
    } else {
      outcome.answer = MakeAnswer(std::move(reply.response), job->how);
    }
  } catch (...) {  // whatever a handler throws: in a worker it would end the process
  }
  outcome.held = HeldBytes(&in_work_, SizeOf(outcome.answer));
  job->make = nullptr;  // and the request with it
}

void SocketServer::Deliver(Outcome outcome, uint64_t now) {
  Connection* connection = Find(outcome.connection);
  if (connection == nullptr || connection->state() != State::kWorking) return;  // gone meanwhile
  if (outcome.later) {
    if (MayWait(*connection)) {
      connection->Promise(std::move(outcome.later), outcome.due_ns, now);
    } else {
      connection->Refuse(Later(503, "too many wait for an answer already"), now);
    }
  } else {
    in_connections_ += SizeOf(outcome.answer);
    connection->Send(std::move(outcome.answer), now);
  }
}

// Those that wait for a promise hold a connection for minutes; half of them stay for others.
bool SocketServer::MayWait(const Connection& one) const {
  size_t waiting = 0;
  size_t of_peer = 0;
  for (const auto& other : connections_) {
    if (other->state() != State::kPromised) continue;
    ++waiting;
    if (other->peer_key() == one.peer_key()) ++of_peer;
  }
  const bool peer_may = address_.is_unix() || of_peer < (options_.connections_per_peer + 1) / 2;
  return peer_may && waiting < (options_.connections + 1) / 2;
}

void SocketServer::DeliverFinished(uint64_t now) {
  std::list<Outcome> finished;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished.swap(finished_);
  }
  for (Outcome& outcome : finished) {
    Connection* connection = Find(outcome.connection);
    try {
      Deliver(std::move(outcome), now);
    } catch (const std::exception&) {  // no memory for this one
      if (connection != nullptr) connection->Close();
    }
  }
}

// One turn of a connection.
void SocketServer::Serve(Connection* connection, short events, uint64_t now) {
  if (events != 0 || connection->has_more()) connection->Advance(events, &scratch_, now);
  if (connection->deadline_ns() <= now) connection->OnDeadline(now);
  if (connection->state() == State::kReady) {
    TakeRequest(connection, now);
  } else if (connection->state() == State::kPromised && connection->due_ns() <= now) {
    auto later = connection->TakePromise(now);
    Submit(*connection, false, [later = std::move(later)] { return Reply(later()); });
  }
}

// The memory that clients make us hold. The largest bodies that are still coming have to give way;
// what was taken already does not grow.
void SocketServer::LimitHeldBytes(uint64_t now) {
  while (true) {
    size_t held = 0;
    Connection* largest = nullptr;
    for (const auto& connection : connections_) {
      held += connection->held_bytes();
      if (connection->state() != State::kBody) continue;
      if (largest == nullptr || largest->held_bytes() < connection->held_bytes()) {
        largest = connection.get();
      }
    }
    const bool over = held + in_work_ > options_.held_bytes && largest != nullptr;
    // Before anybody hears of it: workers that begin meanwhile need not refuse theirs as well.
    in_connections_ = over ? held - largest->held_bytes() : held;
    if (!over) return;
    RefuseOrClose(
        largest, [] { return Later(503, kBusy); }, now);
  }
}

void SocketServer::BeginToStop(uint64_t now) {
  listener_.reset();
  for (const auto& connection : connections_) {
    switch (connection->state()) {
      case State::kIdle:
      case State::kHead:
      case State::kBody:
      case State::kDraining:
        connection->Close();
        break;
      case State::kPromised:
        RefuseOrClose(
            connection.get(), [] { return ErrorText(503, "the server ends"); }, now);
        break;
      default:
        break;
    }
  }
}

// And what was asked over these.
void SocketServer::ForgetClosed() {
  const auto is_closed = [](const auto& c) { return c->state() == State::kClosed; };
  for (const auto& connection : connections_) {
    if (is_closed(connection)) workers_.Drop(connection->id());
  }
  std::erase_if(connections_, is_closed);
}

void SocketServer::Run() {
  // Only now, so that a caller may fork between Listen() and Run(). Without threads we do it all.
  static_cast<void>(workers_.Start(options_.workers, options_.worker_started));
  uint64_t stop_at = 0;
  while (true) {
    if (stopping_.load()) {
      const uint64_t now = MonotonicNow();
      if (stop_at == 0) stop_at = now + kStopNs;
      BeginToStop(now);
    }
    ForgetClosed();
    if (stop_at != 0 && (connections_.empty() || MonotonicNow() >= stop_at)) return;
    Wait();
    const uint64_t now = MonotonicNow();
    try {
      DeliverFinished(now);
      const size_t count = polled_.size() - 2;  // connections that were there
      for (size_t i = 0; i < count; ++i) {
        try {
          Serve(connections_[i].get(), polled_[i + 2].revents, now);
        } catch (const std::exception&) {  // no memory for this one
          connections_[i]->Close();
        }
      }
      LimitHeldBytes(now);
      if (polled_[1].revents != 0 && listener_ != nullptr) AcceptWaiting(now);
    } catch (const std::exception&) {
      accept_after_ns_ = now + kExhaustedNs;
    }
  }
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Listen(const ServerOptions& options, Handler handler) {
  HG_ASSIGN(const Address address, ParseAddress(options.address));
  if (!address.is_local() && options.token.empty() && !options.insecure) {
    return Fail(ErrorCode::kInvalidArgument,
                "other machines can reach " + address.Text() +
                    ": give a token (--token-file FILE), or --insecure if everybody may look");
  }
  HG_ASSIGN(auto listener, Listener::Open(address));
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return tl::unexpected<Error>(SystemError("cannot make an eventfd", errno));
  return std::make_unique<SocketServer>(options, std::move(handler), std::move(listener), wake);
}

}  // namespace heapgauge::endpoint
