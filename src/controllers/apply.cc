#include "controllers/apply.h"

#include <algorithm>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/mutex.h"
#include "controllers/object_meta.h"
#include "json/access.h"
#include "json/parse.h"
#include "kube/json_text.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxUnderWay = 64;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr int kUnprocessable = 422;

kube::ResourcePath PathOf(const Write& write) {
  return {write.resource, write.ns, write.name, write.subresource};
}

using LeadershipRef = std::shared_ptr<const kube::Leadership>;

kube::Call CallFor(const Write& write) {
  switch (write.verb) {
    case Write::Verb::kCreate:
    case Write::Verb::kEnsure: {
      kube::ResourcePath collection = PathOf(write);
      collection.name.clear();
      return kube::CreateCall(collection, write.body);
    }
    case Write::Verb::kReplace:
      return kube::UpdateCall(PathOf(write), write.body);
    case Write::Verb::kPatch:
      return kube::PatchCall(PathOf(write), {}, write.body);
    case Write::Verb::kDelete:
      break;
  }
  kube::DeleteOptions options;
  options.uid = write.uid;
  options.propagation = write.propagation;
  return kube::DeleteCall(PathOf(write), options);
}

kube::Call LeaderCall(kube::Call call, const LeadershipRef& leadership) {
  call.leadership = leadership;
  return call;
}

bool IsOwnedBy(const json& object, const std::string& uid) {
  const json& owners = ListAt(object, {"metadata", "ownerReferences"});
  return std::any_of(owners.begin(), owners.end(), [&](const json& owner) {
    return TextAt(owner, {"uid"}) == uid;
  });
}

kube::Reply AnotherHasThatName() {
  kube::Failure failure;
  failure.http_status = kConflict;
  failure.error = {Code::kConflict, "another object has that name"};
  return tl::unexpected(std::move(failure));
}

// The client is going, and takes no more calls.
bool IsClosing(const kube::Reply& reply) {
  return !reply && reply.error().http_status == 0 &&
         reply.error().cause == net::TransportError::Cause::kCancelled;
}

std::string Describe(const Write& write) {
  constexpr const char* kVerbs[] = {"create", "create", "update", "patch", "delete"};
  return fmt::format("{} {} {}{}{}",
                     kVerbs[static_cast<std::size_t>(write.verb)],
                     write.resource.plural,
                     write.ns,
                     write.ns.empty() ? "" : "/",
                     write.name);
}

void Expect(const Write& write, const std::string& body, std::vector<Cache::Expectation>& out) {
  const bool deletes = write.verb == Write::Verb::kDelete;
  const Result<kube::ObjectHead> head = kube::ReadHead(body);
  if (head && head->key.name == write.name) {
    out.push_back({write.resource, head->key, head->uid, VersionOf(head->version)});
  } else if (deletes) {
    out.push_back({write.resource, {write.ns, write.name}, write.uid, 0});
  }
}

// What the server says of the write itself, or a webhook that it asks, and not of the moment.
bool IsTold(const kube::Failure& failure) {
  constexpr int kBadRequest = 400;
  constexpr int kTooManyRequests = 429;
  constexpr int kInternalError = 500;
  const int status = failure.http_status;
  if (status == kConflict || status == kTooManyRequests) return false;
  return status >= kBadRequest && status <= kInternalError;
}

// Another time would not help.
bool IsRefusal(int http_status) {
  return http_status == kForbidden || http_status == kNotFound || http_status == kConflict ||
         http_status == kUnprocessable;
}

// Whether nothing is left to do for a write that was answered so. A conflict of a deletion is no
// proof that the object is another one now: it is seen to be gone, or deleted again.
bool IsAsGoodAsDone(const Write& write, int http_status) {
  if (write.optional && IsRefusal(http_status)) return true;
  return write.verb == Write::Verb::kDelete && http_status == kNotFound;
}

// One plan on its way. Answers come on the threads of both transports, also inside Start.
class Application final : public std::enable_shared_from_this<Application> {
 public:
  using Done = std::function<void(Applied)>;
  Application(kube::Client& client, const Plan& plan, LeadershipRef leadership, Done done)
      : client_(client),
        steps_(plan.steps),
        leadership_(std::move(leadership)),
        done_(std::move(done)) {}

  // Sends what may be sent. One thread at a time is in here; it sees what others have brought.
  void Go() {
    MutexLock lock(mutex_);
    if (sending_) return;
    sending_ = true;
    while (step_ < steps_.size() && (CanSend() || IsStepOver())) {
      if (IsStepOver()) {
        ++step_;
        sent_ = 0;
        if (!applied_.outcome) step_ = steps_.size();
        continue;
      }
      const std::size_t number = sent_++;
      ++under_way_;
      lock.Unlock();
      Send(number);
      lock.Lock();
    }
    sending_ = false;
    if (step_ < steps_.size() || !done_) return;
    const Done done = std::exchange(done_, nullptr);
    Applied applied = std::move(applied_);
    lock.Unlock();
    done(std::move(applied));
  }

 private:
  [[nodiscard]] bool CanSend() const REQUIRES(mutex_) {
    return sent_ < steps_[step_].size() && under_way_ < kMaxUnderWay && !closing_;
  }
  [[nodiscard]] bool IsStepOver() const REQUIRES(mutex_) {
    return under_way_ == 0 && (sent_ == steps_[step_].size() || closing_);
  }

  // The step does not end before the answer to this write.
  void Send(std::size_t number) {
    const Write& write = Writes()[number];
    Ask(LeaderCall(CallFor(write), leadership_), [this, number](kube::Reply reply) {
      const bool exists = !reply && reply.error().AlreadyExists();
      exists ? TakeExisting(number) : Settle(number, reply);
    });
  }

  // Something of that name is there: it is as good as ours, or in the way.
  void TakeExisting(std::size_t number) {
    Ask(kube::GetCall(PathOf(Writes()[number])), [this, number](const kube::Reply& found) {
      const Write& write = Writes()[number];
      if (!found) return Settle(number, found);
      const json object = ParseJsonOrNull(*found);
      if (!IsOwnedBy(object, write.uid) || IsBeingDeleted(object)) {
        return Settle(number, AnotherHasThatName());
      }
      if (write.verb == Write::Verb::kCreate) return Settle(number, found);
      Ask(LeaderCall(kube::PatchCall(PathOf(write), {}, write.body), leadership_),
          [this, number](const kube::Reply& reply) { Settle(number, reply); });
    });
  }

  void Ask(kube::Call call, std::function<void(kube::Reply)> take) {
    client_.Start(std::move(call),
                  [self = shared_from_this(), take = std::move(take)](kube::Reply reply) {
                    take(std::move(reply));
                  });
  }

  void Settle(std::size_t number, const kube::Reply& reply) {
    {
      const Write& write = Writes()[number];
      const MutexLock lock(mutex_);
      --under_way_;
      closing_ = closing_ || IsClosing(reply);
      if (reply || IsAsGoodAsDone(write, reply.error().http_status)) {
        ++applied_.writes;
        Expect(write, reply ? *reply : std::string(), applied_.left);
      } else {
        NoteFailure(write, reply.error());
      }
    }
    Go();
  }

  // The refusal of a step is the first by name, so that the same plan fails with the same words,
  // whichever answer is the first.
  void NoteFailure(const Write& write, const kube::Failure& failure) REQUIRES(mutex_) {
    Error error = Error(failure.error).Context(Describe(write));
    if (IsTold(failure) && (applied_.refusal.empty() || error.message < applied_.refusal)) {
      applied_.refusal = error.message;
    }
    if (applied_.outcome) applied_.outcome = tl::unexpected(std::move(error));
  }

  // Those of the step under way.
  [[nodiscard]] const std::vector<Write>& Writes() {
    const MutexLock lock(mutex_);
    return steps_[step_];
  }

  kube::Client& client_;
  const std::vector<std::vector<Write>> steps_;
  const LeadershipRef leadership_;
  Mutex mutex_;
  Done done_ GUARDED_BY(mutex_);
  bool sending_ GUARDED_BY(mutex_) = false;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::size_t step_ GUARDED_BY(mutex_) = 0;
  std::size_t sent_ GUARDED_BY(mutex_) = 0;  // of this step
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
  Applied applied_ GUARDED_BY(mutex_);
};

}  // namespace

void StartPlan(kube::Client& client,
               const Plan& plan,
               std::shared_ptr<const kube::Leadership> leadership,
               std::function<void(Applied)> done) {
  std::make_shared<Application>(client, plan, std::move(leadership), std::move(done))->Go();
}

Applied Apply(kube::Client& client, const Plan& plan, const LeadershipRef& leadership) {
  // Shared: the setter may still be inside when the waiter has left.
  const auto end = std::make_shared<std::promise<Applied>>();
  StartPlan(
      client, plan, leadership, [end](Applied applied) { end->set_value(std::move(applied)); });
  return end->get_future().get();
}

}  // namespace strata::controllers
