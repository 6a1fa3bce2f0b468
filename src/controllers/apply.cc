#include "controllers/apply.h"

#include <algorithm>
#include <optional>
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

// Calls under way, and their answers.
class Answers {
 public:
  explicit Answers(std::size_t calls) : replies_(calls) {}

  void WaitForRoom() {
    const MutexLock lock(mutex_);
    while (under_way_ >= kMaxUnderWay) changed_.Wait(mutex_);
    ++under_way_;
  }
  void Put(std::size_t call, kube::Reply reply) {
    const MutexLock lock(mutex_);
    replies_[call] = std::move(reply);
    --under_way_;
    changed_.NotifyOne();
  }
  std::vector<kube::Reply> WaitForAll() {
    const MutexLock lock(mutex_);
    while (under_way_ > 0) changed_.Wait(mutex_);
    std::vector<kube::Reply> all;
    all.reserve(replies_.size());
    for (std::optional<kube::Reply>& reply : replies_) all.push_back(std::move(*reply));
    return all;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
  std::vector<std::optional<kube::Reply>> replies_ GUARDED_BY(mutex_);
};

// Sends all, a limited number at a time, and waits for every answer.
std::vector<kube::Reply> SendAll(kube::Client& client,
                                 const std::vector<Write>& writes,
                                 const LeadershipRef& leadership) {
  Answers answers(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    answers.WaitForRoom();
    client.Start(LeaderCall(CallFor(writes[i]), leadership),
                 [&answers, i](kube::Reply reply) { answers.Put(i, std::move(reply)); });
  }
  return answers.WaitForAll();
}

bool IsOwnedBy(const json& object, const std::string& uid) {
  const json& owners = ListAt(object, {"metadata", "ownerReferences"});
  return std::any_of(owners.begin(), owners.end(), [&](const json& owner) {
    return TextAt(owner, {"uid"}) == uid;
  });
}

// Something of that name is there: it is as good as ours, or in the way.
kube::Reply TakeExisting(kube::Client& client,
                         const Write& write,
                         const LeadershipRef& leadership) {
  kube::Reply found = client.Do(kube::GetCall(PathOf(write)));
  if (!found) return found;
  const json object = ParseJsonOrNull(*found);
  if (!IsOwnedBy(object, write.uid) || IsBeingDeleted(object)) {
    kube::Failure failure;
    failure.http_status = kConflict;
    failure.error = {Code::kConflict, "another object has that name"};
    return tl::unexpected(std::move(failure));
  }
  if (write.verb == Write::Verb::kCreate) return found;
  return client.Do(LeaderCall(kube::PatchCall(PathOf(write), {}, write.body), leadership));
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

// Another time would not help.
bool IsRefusal(int http_status) {
  return http_status == kForbidden || http_status == kNotFound || http_status == kConflict ||
         http_status == kUnprocessable;
}

// Whether nothing is left to do for a write that was answered so.
bool IsAsGoodAsDone(const Write& write, int http_status) {
  if (write.optional && IsRefusal(http_status)) return true;
  return write.verb == Write::Verb::kDelete &&
         (http_status == kNotFound || http_status == kConflict);
}

}  // namespace

Applied Apply(kube::Client& client, const Plan& plan, const LeadershipRef& leadership) {
  Applied applied;
  for (const std::vector<Write>& step : plan.steps) {
    std::vector<kube::Reply> replies = SendAll(client, step, leadership);
    for (std::size_t i = 0; i < step.size(); ++i) {
      const Write& write = step[i];
      kube::Reply& reply = replies[i];
      if (!reply && reply.error().AlreadyExists()) reply = TakeExisting(client, write, leadership);
      if (reply || IsAsGoodAsDone(write, reply.error().http_status)) {
        ++applied.writes;
        Expect(write, reply ? *reply : std::string(), applied.left);
      } else if (applied.outcome) {
        applied.outcome = tl::unexpected(Error(reply.error().error).Context(Describe(write)));
      }
    }
    if (!applied.outcome) return applied;
  }
  return applied;
}

}  // namespace strata::controllers
