#include "tests/histories/server.h"

#include <functional>
#include <utility>

#include "base/check.h"
#include "json/parse.h"

namespace strata::histories {
namespace {

// An answer that is there when Handle returns: the store in memory keeps nobody waiting.
class DirectExchange final : public net::Exchange {
 public:
  explicit DirectExchange(net::HttpRequest request) : request_(std::move(request)) {}
  [[nodiscard]] const net::HttpRequest& request() const override { return request_; }
  void Respond(net::HttpResponse response) override { answer = std::move(response); }
  void RespondStream(net::HttpResponse head, std::unique_ptr<net::BodySource> source) override {
    answer = std::move(head);
    while (source->Pull(answer.body) == net::BodySource::More::kReady) {
    }
  }
  void Wake() override {}

  net::HttpResponse answer;

 private:
  net::HttpRequest request_;
};

class TimelineTimers final : public apiserver::Timers {
 public:
  explicit TimelineTimers(Timeline& timeline) : timeline_(timeline) {}
  Id After(Duration delay, std::function<void()> callback) override {
    return timeline_.After(delay, std::move(callback));
  }
  void Cancel(Id timer) override { timeline_.Cancel(timer); }
  [[nodiscard]] Duration Elapsed() const override { return timeline_.Now().time_since_epoch(); }

 private:
  Timeline& timeline_;
};

class SeededSource final : public apiserver::RandomSource {
 public:
  explicit SeededSource(Random random) : random_(random) {}
  std::uint64_t Next() override { return random_.Next(); }

 private:
  Random random_;
};

// Owners of fields are half of every object, and nothing here asks for them.
apiserver::ApiServerOptions Options() {
  apiserver::ApiServerOptions options;
  options.records_owners = false;
  return options;
}

}  // namespace

Server::Server(Timeline& timeline, Random random, std::size_t events)
    : timers_(std::make_unique<TimelineTimers>(timeline)),
      random_(std::make_unique<SeededSource>(random)),
      store_(apiserver::MakeMemoryObjectStore({.events = events})),
      server_(*store_, *timers_, timeline, *random_, Options()) {
  CHECK(server_.Start());
}

Server::~Server() = default;

int Server::Ask(std::string_view method, std::string_view path, const nlohmann::json& body) {
  net::HttpRequest request;
  request.method = method;
  request.path = path;
  if (!body.is_null()) request.body = body.dump();
  if (method == "PATCH") {
    request.headers.push_back({"Content-Type", "application/merge-patch+json"});
  }
  return Answer(std::move(request)).status;
}

nlohmann::json Server::Get(std::string_view path) {
  net::HttpRequest request;
  request.method = "GET";
  request.path = path;
  const net::HttpResponse answer = Answer(std::move(request));
  return answer.status == 200 ? ParseJsonOrNull(answer.body) : nlohmann::json();
}

net::HttpResponse Server::Answer(net::HttpRequest request) {
  const auto exchange = std::make_shared<DirectExchange>(std::move(request));
  server_.Handle(exchange);
  return std::move(exchange->answer);
}

}  // namespace strata::histories
