#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/api_server.h"
#include "apiserver/store/object_store_factory.h"

// An ApiServer over a store in memory, with time and chance in the test's hand.
namespace strata::apiserver {

class TestClock : public Clock {
 public:
  [[nodiscard]] Time Now() const override { return now; }
  Time now = Time(std::chrono::seconds(1'800'000'000));
};

// Their time and that of the clock pass together, but a test may set the clock.
class TestTimers : public Timers {
 public:
  explicit TestTimers(TestClock& clock) : clock_(clock) {}
  Id After(Duration delay, std::function<void()> callback) override {
    timers_.emplace(std::pair(elapsed_ + delay, ++last_), std::move(callback));
    return last_;
  }
  void Cancel(Id timer) override {
    std::erase_if(timers_, [&](const auto& entry) { return entry.first.second == timer; });
  }
  [[nodiscard]] Duration Elapsed() const override { return elapsed_; }
  // Lets time pass; what is due runs at its moment.
  void Advance(Duration by) {
    const Duration end = elapsed_ + by;
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      auto entry = timers_.extract(timers_.begin());
      Pass(entry.key().first);
      entry.mapped()();
    }
    Pass(end);
  }
  // Time passes, but the process is stopped: what is due runs late.
  void Pause(Duration by) { Pass(elapsed_ + by); }

 private:
  void Pass(Duration until) {
    if (until <= elapsed_) return;
    clock_.now += until - elapsed_;
    elapsed_ = until;
  }

  TestClock& clock_;
  Duration elapsed_ = std::chrono::seconds(1'000);  // the machine has run for some time
  std::map<std::pair<Duration, Id>, std::function<void()>> timers_;
  Id last_ = 0;
};

class TestRandom : public RandomSource {
 public:
  std::uint64_t Next() override {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return state_ ^ (state_ >> 29U);
  }

 private:
  std::uint64_t state_ = 1;
};

class TestExchange : public net::Exchange {
 public:
  explicit TestExchange(net::HttpRequest request) : request_(std::move(request)) {}
  [[nodiscard]] const net::HttpRequest& request() const override { return request_; }
  void Respond(net::HttpResponse response) override {
    EXPECT_FALSE(answered) << "answered twice";
    answered = ended = true;
    answer = std::move(response);
  }
  void RespondStream(net::HttpResponse head, std::unique_ptr<net::BodySource> source) override {
    EXPECT_FALSE(answered) << "answered twice";
    answered = true;
    answer = std::move(head);
    source_ = std::move(source);
    Wake();
  }
  void Wake() override {
    while (source_ != nullptr) {
      std::string piece;
      const net::BodySource::More more = source_->Pull(piece);
      answer.body += piece;
      if (more == net::BodySource::More::kLater) return;
      if (more == net::BodySource::More::kReady) continue;
      ended = true;
      source_.reset();
    }
  }
  // The peer goes away.
  void Drop() { source_.reset(); }

  bool answered = false;
  bool ended = false;
  net::HttpResponse answer;

 private:
  net::HttpRequest request_;
  std::unique_ptr<net::BodySource> source_;
};

// What came back.
struct Reply {
  int status = 0;
  std::string text;
  nlohmann::json body;  // discarded when it is not JSON
  std::vector<net::Header> headers;

  [[nodiscard]] std::string Header(std::string_view name) const {
    for (const net::Header& header : headers) {
      if (header.name == name) return header.value;
    }
    return {};
  }
  [[nodiscard]] std::string message() const {
    return body.is_object() ? body.value("message", "") : text;
  }
};

class TestServer {
 public:
  explicit TestServer(HistoryLimits limits = {}, ApiServerOptions options = {})
      : TestServer(MakeMemoryObjectStore(limits), std::move(options)) {}
  explicit TestServer(std::unique_ptr<ObjectStore> over, ApiServerOptions options = {})
      : store(std::move(over)), server(*store, timers, clock, random, std::move(options)) {
    EXPECT_TRUE(server.Start());
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  // A watch and its exchange hold each other until one of them ends.
  ~TestServer() {
    for (const auto& exchange : begun_) {
      if (const auto still = exchange.lock()) still->Drop();
    }
  }

  std::shared_ptr<TestExchange> Begin(net::HttpRequest request) {
    auto exchange = std::make_shared<TestExchange>(std::move(request));
    begun_.push_back(exchange);
    server.Handle(exchange);
    return exchange;
  }
  // "GET", "/api/v1/pods?limit=1".
  std::shared_ptr<TestExchange> Begin(std::string_view method,
                                      std::string_view url,
                                      std::string body = "",
                                      std::vector<net::Header> headers = {}) {
    net::HttpRequest request;
    request.method = method;
    request.path = url.substr(0, url.find('?'));
    if (url.find('?') != std::string_view::npos) request.query = url.substr(url.find('?') + 1);
    request.body = std::move(body);
    request.headers = std::move(headers);
    return Begin(std::move(request));
  }
  static Reply ToReply(const TestExchange& exchange) {
    EXPECT_TRUE(exchange.answered);
    return {exchange.answer.status,
            exchange.answer.body,
            nlohmann::json::parse(exchange.answer.body, nullptr, false),
            exchange.answer.headers};
  }
  Reply Send(std::string_view method,
             std::string_view url,
             std::string body = "",
             std::vector<net::Header> headers = {}) {
    return ToReply(*Begin(method, url, std::move(body), std::move(headers)));
  }
  Reply Get(std::string_view url) { return Send("GET", url); }
  Reply Post(std::string_view url, const nlohmann::json& body) {
    return Send("POST", url, body.dump());
  }
  Reply Put(std::string_view url, const nlohmann::json& body) {
    return Send("PUT", url, body.dump());
  }
  Reply Delete(std::string_view url, const nlohmann::json& body = nullptr) {
    return Send("DELETE", url, body.is_null() ? "" : body.dump());
  }
  // `type` is "merge-patch+json" and so on.
  Reply Patch(std::string_view url, std::string_view type, const nlohmann::json& body) {
    return Send("PATCH", url, body.dump(), {{"Content-Type", "application/" + std::string(type)}});
  }

  TestClock clock;
  TestTimers timers{clock};
  TestRandom random;
  std::unique_ptr<ObjectStore> store;
  ApiServer server;

 private:
  std::vector<std::weak_ptr<TestExchange>> begun_;
};

inline nlohmann::json ConfigMap(const std::string& name,
                                const nlohmann::json& data = {{"k", "v"}}) {
  return {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", data}};
}

inline nlohmann::json PlainPod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"labels", {{"app", name}}}}},
          {"spec", {{"containers", {{{"name", "c"}, {"image", "busybox:1"}}}}}}};
}

// The lines of a watch, parsed.
inline std::vector<nlohmann::json> Events(const TestExchange& watch) {
  std::vector<nlohmann::json> events;
  std::string_view text = watch.answer.body;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    events.push_back(nlohmann::json::parse(text.substr(0, end), nullptr, false));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return events;
}

}  // namespace strata::apiserver
