#include "page/reviewer.h"

#include <openssl/sha.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "json/parse.h"

namespace strata::page {
namespace {

using ReviewJson = nlohmann::json;

constexpr Duration kRemembered = std::chrono::seconds(60);
constexpr Duration kRefusalRemembered = std::chrono::seconds(10);
constexpr Duration kTimeout = std::chrono::seconds(10);

struct Right {
  std::string_view group;
  std::string_view resource;
  std::string ns;  // "" all
};

// Reviews change nothing: they may be asked again, and do not wait behind writes.
kube::Call ReviewCall(const char* path, const ReviewJson& body) {
  kube::Call call;
  call.method = "POST";
  call.path = path;
  call.content_type = "application/json";
  call.body = DumpJson(body);
  call.timeout = kTimeout;
  call.paced = false;
  return call;
}

kube::Call TokenCall(const std::string& token) {
  return ReviewCall("/apis/authentication.k8s.io/v1/tokenreviews",
                    {{"apiVersion", "authentication.k8s.io/v1"},
                     {"kind", "TokenReview"},
                     {"spec", {{"token", token}}}});
}

// `user` is that of the TokenReview.
kube::Call RightCall(const ReviewJson& user, const Right& right) {
  ReviewJson attributes = {{"verb", "list"}, {"group", right.group}, {"resource", right.resource}};
  if (!right.ns.empty()) attributes["namespace"] = right.ns;
  ReviewJson spec = {{"user", user.value("username", "")},
                     {"resourceAttributes", std::move(attributes)}};
  for (const char* key : {"uid", "groups", "extra"}) {
    if (user.contains(key)) spec[key] = user[key];
  }
  return ReviewCall("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                    {{"apiVersion", "authorization.k8s.io/v1"},
                     {"kind", "SubjectAccessReview"},
                     {"spec", std::move(spec)}});
}

std::string KeyOf(const std::string& token, const Namespaces& namespaces) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  std::string key(digest.begin(), digest.end());
  for (const std::string& ns : namespaces) key += "," + ns;
  return key;
}

}  // namespace

// The questions about one token, one set after the other: who, then what everywhere, then what in
// the namespaces.
class Reviewer::Case : public std::enable_shared_from_this<Case> {
 public:
  Case(Reviewer& reviewer, std::string key, Namespaces namespaces)
      : reviewer_(reviewer), key_(std::move(key)), namespaces_(std::move(namespaces)) {}

  void Begin(const std::string& token) {
    Start(TokenCall(token),
          [self = shared_from_this()](const kube::Reply& reply) { self->TakeUser(reply); });
  }

 private:
  void Start(kube::Call call, std::function<void(const kube::Reply&)> then) {
    // The answer comes on another thread; the mailbox brings it back.
    reviewer_.client_.Start(
        std::move(call),
        [mailbox = reviewer_.mailbox_, then = std::move(then)](kube::Reply reply) mutable {
          mailbox->Post([then, reply = std::move(reply)] { then(reply); });
        });
  }

  void TakeUser(const kube::Reply& reply) {
    if (!reply) return End(Permit::Kind::kUnavailable, reply.error().error.message);
    const ReviewJson review = ParseJsonOrNull(*reply);
    const ReviewJson status =
        review.is_object() ? review.value("status", ReviewJson::object()) : ReviewJson();
    if (!status.is_object() || !status.value("authenticated", false) || !status.contains("user") ||
        !status["user"].is_object()) {
      return End(Permit::Kind::kUnknown, "the API server does not know this token");
    }
    user_ = status["user"];
    permit_.viewer.user = user_.value("username", "");
    if (permit_.viewer.user.empty() || permit_.viewer.user == "system:anonymous") {
      return End(Permit::Kind::kUnknown, "the API server does not know this token");
    }
    AskRights({{"", "nodes", ""},
               {"topology.volcano.sh", "hypernodes", ""},
               {"scheduling.volcano.sh", "podgroups", ""},
               {"", "pods", ""},
               {"scheduling.volcano.sh", "queues", ""}},
              [this](const std::vector<bool>& may) { TakeWideRights(may); });
  }

  void AskRights(const std::vector<Right>& rights,
                 std::function<void(const std::vector<bool>&)> then) {
    may_.assign(rights.size(), false);
    left_ = rights.size();
    then_ = std::move(then);
    for (std::size_t i = 0; i < rights.size(); ++i) {
      Start(RightCall(user_, rights[i]), [self = shared_from_this(), i](const kube::Reply& reply) {
        self->TakeRight(i, reply);
      });
    }
  }

  void TakeRight(std::size_t i, const kube::Reply& reply) {
    if (reply) {
      const ReviewJson review = ParseJsonOrNull(*reply);
      const ReviewJson status =
          review.is_object() ? review.value("status", ReviewJson::object()) : ReviewJson();
      may_[i] =
          status.is_object() && status.value("allowed", false) && !status.value("denied", false);
    } else {
      problem_ = reply.error().error.message;
    }
    if (--left_ > 0) return;
    if (!problem_.empty()) return End(Permit::Kind::kUnavailable, problem_);
    const auto then = std::exchange(then_, {});
    then(may_);
  }

  void TakeWideRights(const std::vector<bool>& may) {
    if (!may[0] || !may[1]) {
      return End(Permit::Kind::kForbidden,
                 fmt::format("user \"{}\" may not list {}, without which there is nothing to show",
                             permit_.viewer.user,
                             may[0] ? "hypernodes.topology.volcano.sh" : "nodes"));
    }
    permit_.viewer.scope.queues = may[4];
    permit_.viewer.scope.everything = may[2] && may[3];
    if (permit_.viewer.scope.everything || namespaces_.empty()) {
      return End(Permit::Kind::kGranted, "");
    }
    std::vector<Right> rights;
    for (const std::string& ns : namespaces_) {
      rights.push_back({"scheduling.volcano.sh", "podgroups", ns});
      rights.push_back({"", "pods", ns});
    }
    AskRights(rights, [this](const std::vector<bool>& both) {
      std::size_t i = 0;
      for (const std::string& ns : namespaces_) {
        if (both[i] && both[i + 1]) permit_.viewer.scope.namespaces.insert(ns);
        i += 2;
      }
      End(Permit::Kind::kGranted, "");
    });
  }

  void End(Permit::Kind kind, std::string message) {
    permit_.kind = kind;
    permit_.message = std::move(message);
    reviewer_.Finish(key_, permit_);
  }

  Reviewer& reviewer_;
  const std::string key_;
  const Namespaces namespaces_;
  ReviewJson user_;
  Permit permit_;
  std::vector<bool> may_;
  std::size_t left_ = 0;
  std::string problem_;
  std::function<void(const std::vector<bool>&)> then_;
};

void Reviewer::Ask(const std::string& token, const Namespaces& namespaces, Done done) {
  if (token.empty()) {
    Permit permit;
    permit.kind = Permit::Kind::kUnknown;
    permit.message = "want a token, as \"Authorization: Bearer TOKEN\"";
    return done(permit);
  }
  Namespaces some = namespaces;
  while (some.size() > kMaxNamespaces) some.erase(std::prev(some.end()));
  const std::string key = KeyOf(token, some);
  const net::SteadyTime now = client_.reads().Now();
  const auto known = known_.find(key);
  if (known != known_.end() && now < known->second.until) return done(known->second.permit);
  const bool is_under_way = asks_.contains(key);
  asks_[key].push_back(std::move(done));
  if (is_under_way) return;
  std::make_shared<Case>(*this, key, std::move(some))->Begin(token);
}

void Reviewer::Finish(const std::string& key, const Permit& permit) {
  const net::SteadyTime now = client_.reads().Now();
  // That the API server was away is not remembered.
  if (permit.kind != Permit::Kind::kUnavailable) {
    MakeRoom(now);
    const bool granted = permit.kind == Permit::Kind::kGranted;
    known_[key] = {permit, now + (granted ? kRemembered : kRefusalRemembered)};
  }
  const auto asks = asks_.extract(key);
  if (asks.empty()) return;
  for (const Done& done : asks.mapped()) done(permit);
}

void Reviewer::MakeRoom(net::SteadyTime now) {
  if (known_.size() < kMaxUsers) return;
  std::erase_if(known_, [&](const auto& entry) { return entry.second.until <= now; });
  if (known_.size() < kMaxUsers) return;
  known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
    return a.second.until < b.second.until;
  }));
}

}  // namespace strata::page
