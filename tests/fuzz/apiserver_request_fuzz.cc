// Whatever is asked of the API server, it answers: once, with JSON, YAML or text, and a Status
// where it refuses. A text is requests one after the other, parted by lines "---": method and URL
// in the first line, headers, an empty line, the body.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/api_server.h"
#include "apiserver/store/object_store_factory.h"
#include "base/check.h"

namespace strata::apiserver {
namespace {

class FixedClock : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return Time(std::chrono::seconds(1'800'000'000)); }
};

// Fires everything at the end, in order.
class LateTimers : public Timers {
 public:
  Id After(Duration /*delay*/, std::function<void()> callback) override {
    waiting_.emplace(++last_, std::move(callback));
    return last_;
  }
  void Cancel(Id timer) override { waiting_.erase(timer); }
  [[nodiscard]] Duration Elapsed() const override { return Duration(last_); }
  [[nodiscard]] bool Empty() const { return waiting_.empty(); }
  void FireSome() {
    for (int i = 0; i < 200 && !waiting_.empty(); ++i) {
      auto first = waiting_.extract(waiting_.begin());
      first.mapped()();
    }
  }

 private:
  std::map<Id, std::function<void()>> waiting_;
  Id last_ = 0;
};

class Counter : public RandomSource {
 public:
  std::uint64_t Next() override { return state_ += 0x9E3779B97F4A7C15ULL; }

 private:
  std::uint64_t state_ = 0;
};

class Question : public net::Exchange {
 public:
  explicit Question(net::HttpRequest request) : request_(std::move(request)) {}
  [[nodiscard]] const net::HttpRequest& request() const override { return request_; }
  void Respond(net::HttpResponse response) override {
    CHECK(!answered);
    answered = true;
    CHECK(response.status >= 200 && response.status < 600);
    const auto body = nlohmann::json::parse(response.body, nullptr, false);
    const bool json =
        !response.headers.empty() && response.headers[0].value.starts_with("application/json");
    CHECK(!json || !body.is_discarded());
    if (json && response.status >= 400) CHECK(body.is_object() && body["code"] == response.status);
  }
  void RespondStream(net::HttpResponse /*head*/, std::unique_ptr<net::BodySource> source) override {
    CHECK(!answered);
    answered = true;
    source_ = std::move(source);
    Wake();
  }
  void Wake() override {
    while (source_ != nullptr) {
      std::string piece;
      const net::BodySource::More more = source_->Pull(piece);
      if (more == net::BodySource::More::kLater) return;
      if (more != net::BodySource::More::kReady) source_.reset();
    }
  }
  void Drop() { source_.reset(); }

  bool answered = false;

 private:
  net::HttpRequest request_;
  std::unique_ptr<net::BodySource> source_;
};

std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

net::HttpRequest ToRequest(std::string_view text) {
  net::HttpRequest request;
  std::string_view first = TakeLine(text);
  request.method = first.substr(0, first.find(' '));
  first.remove_prefix(std::min(first.size(), request.method.size() + 1));
  request.path = first.substr(0, first.find('?'));
  if (request.path.size() < first.size()) request.query = first.substr(request.path.size() + 1);
  for (std::string_view line = TakeLine(text); !line.empty(); line = TakeLine(text)) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) break;
    request.headers.push_back(
        {std::string(line.substr(0, colon)), std::string(line.substr(colon + 2))});
  }
  request.body = text;
  return request;
}

// A server and all that it lives on. To start one costs more than most inputs do, so it is used
// again, as long as it can be put back into the state that it was born in.
class World {
 public:
  World() {
    CHECK(server_.Start());
    for (const auto& [key, object] : Objects()) born_[key] = object;
    clean_ = store_->version();
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void Ask(std::string_view text) {
    std::vector<std::shared_ptr<Question>> questions;
    while (!text.empty() && questions.size() < 16) {
      const std::size_t end = text.find("\n---\n");
      questions.push_back(Ask(ToRequest(text.substr(0, end))));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 5);
    }
    timers_.FireSome();
    for (const auto& question : questions) {
      CHECK(question->answered);
      question->Drop();
    }
  }

  // Removes what was made since, and puts back what was changed or removed. False: something
  // happened that this cannot undo, take a new one.
  bool Clean() {
    if (!timers_.Empty()) return false;
    if (store_->version() == clean_) return true;
    std::map<ObjectKey, ObjectRef> now = Objects();
    for (const auto& [key, object] : now) {
      if (key.resource == kDefinitions && !born_.contains(key)) RemoveDefinition(key.name);
    }
    now = Objects();
    for (const auto& [key, object] : now) {
      if (born_.contains(key)) continue;
      if (key.resource == kDefinitions) return false;
      store_->Delete(
          key, object->version, {{"metadata", {{"name", key.name}}}}, [](const auto&) {});
    }
    for (auto& [key, object] : born_) {
      const auto found = now.find(key);
      const std::int64_t version = found == now.end() ? 0 : found->second->version;
      if (version == object->version) continue;
      if (key.resource == kDefinitions) return false;
      store_->Put(key, version, nlohmann::json::parse(object->body), [](const auto&) {});
      object = store_->Get(key);
    }
    clean_ = store_->version();
    return timers_.Empty();
  }

 private:
  static constexpr const char* kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";

  std::shared_ptr<Question> Ask(net::HttpRequest request) {
    const auto question = std::make_shared<Question>(std::move(request));
    server_.Handle(question);
    return question;
  }

  // The server must hear of it: it serves what is defined.
  void RemoveDefinition(const std::string& name) {
    net::HttpRequest request;
    request.method = "DELETE";
    request.path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name;
    Ask(std::move(request));
  }

  [[nodiscard]] std::map<ObjectKey, ObjectRef> Objects() const {
    std::map<ObjectKey, ObjectRef> objects;
    for (const ResourceRef& row : server_.table().rows()) {
      const std::string resource = row->FullName();
      for (const ObjectRef& object : store_->List(resource, "").objects) {
        objects[{resource, object->ns, object->name}] = object;
      }
    }
    return objects;
  }

  const FixedClock clock_;
  LateTimers timers_;
  Counter random_;
  const std::unique_ptr<ObjectStore> store_ = MakeMemoryObjectStore({.events = 500});
  ApiServer server_{*store_, timers_, clock_, random_, {}};
  std::map<ObjectKey, ObjectRef> born_;
  std::int64_t clean_ = 0;  // the store's version when it was last in that state
};

void Ask(std::string_view text) {
  static std::unique_ptr<World> world;
  if (world == nullptr) world = std::make_unique<World>();
  world->Ask(text);
  if (!world->Clean()) world.reset();
}

}  // namespace
}  // namespace strata::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::apiserver::Ask(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
