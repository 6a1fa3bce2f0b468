#include "controllers/apply.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "controllers/json_fields.h"
#include "kube/json_text.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

constexpr std::size_t kMostUnderWay = 64;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr int kUnprocessable = 422;

kube::ResourcePath PathOf(const Write& write) {
  return {write.resource, write.space, write.name, write.subresource};
}

kube::Call CallOf(const Write& write) {
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

// Sends all, a limited number at a time, and waits for every answer.
std::vector<kube::Reply> SendAll(kube::Client& client, const std::vector<Write>& writes) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t under_way = 0;
  std::vector<std::optional<kube::Reply>> replies(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return under_way < kMostUnderWay; });
      ++under_way;
    }
    client.Start(CallOf(writes[i]), [&, i](kube::Reply reply) {
      const std::lock_guard lock(mutex);
      replies[i] = std::move(reply);
      --under_way;
      changed.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return under_way == 0; });
  std::vector<kube::Reply> all;
  all.reserve(replies.size());
  for (std::optional<kube::Reply>& reply : replies) all.push_back(std::move(*reply));
  return all;
}

bool IsOwnedBy(const json& object, const std::string& uid) {
  const json& owners = ListAt(object, {"metadata", "ownerReferences"});
  return std::any_of(owners.begin(), owners.end(), [&](const json& owner) {
    return TextAt(owner, {"uid"}) == uid;
  });
}

// Something of that name is there: it is as good as ours, or in the way.
kube::Reply TakeExisting(kube::Client& client, const Write& write) {
  kube::Reply found = client.Do(kube::GetCall(PathOf(write)));
  if (!found) return found;
  const json object = ParseText(*found);
  if (!IsOwnedBy(object, write.uid) || IsBeingDeleted(object)) {
    kube::Failure failure;
    failure.http_status = kConflict;
    failure.error = {Code::kConflict, "there is another object of that name"};
    return tl::unexpected(std::move(failure));
  }
  if (write.verb == Write::Verb::kCreate) return found;
  return client.Do(kube::PatchCall(PathOf(write), {}, write.body));
}

std::string Describe(const Write& write) {
  constexpr const char* kVerbs[] = {"create", "create", "update", "patch", "delete"};
  return fmt::format("{} {} {}{}{}",
                     kVerbs[static_cast<std::size_t>(write.verb)],
                     write.resource.plural,
                     write.space,
                     write.space.empty() ? "" : "/",
                     write.name);
}

void Expect(const Write& write, const std::string& body, std::vector<Cache::Expectation>& out) {
  const bool deletes = write.verb == Write::Verb::kDelete;
  const Result<kube::ObjectHead> head = kube::ReadHead(body);
  if (head && head->key.name == write.name) {
    out.push_back({write.resource, head->key, head->uid, VersionOf(head->version)});
  } else if (deletes) {
    out.push_back({write.resource, {write.space, write.name}, write.uid, 0});
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

Applied Apply(kube::Client& client, const Plan& plan, const std::function<bool()>& may_write) {
  Applied applied;
  for (const std::vector<Write>& step : plan.steps) {
    if (!may_write()) {
      applied.outcome = Fail(Code::kUnavailable, "somebody else leads");
      return applied;
    }
    std::vector<kube::Reply> replies = SendAll(client, step);
    for (std::size_t i = 0; i < step.size(); ++i) {
      const Write& write = step[i];
      kube::Reply& reply = replies[i];
      if (!reply && reply.error().AlreadyExists()) reply = TakeExisting(client, write);
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
