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

void Ask(std::string_view text) {
  const FixedClock clock;
  LateTimers timers;
  Counter random;
  const std::unique_ptr<ObjectStore> store = MakeMemoryObjectStore();
  ApiServer server(*store, timers, clock, random, {});
  CHECK(server.Start());
  std::vector<std::shared_ptr<Question>> questions;
  while (!text.empty() && questions.size() < 16) {
    const std::size_t end = text.find("\n---\n");
    const auto question = std::make_shared<Question>(ToRequest(text.substr(0, end)));
    questions.push_back(question);
    server.Handle(question);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 5);
  }
  timers.FireSome();
  for (const auto& question : questions) {
    CHECK(question->answered);
    question->Drop();
  }
}

}  // namespace
}  // namespace strata::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::apiserver::Ask(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
