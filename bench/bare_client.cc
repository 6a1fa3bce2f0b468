// What an API server takes at best: creates pods, binds each and writes an Event about it, with our
// own client and nothing around it. Prints one line of JSON.
//
//   bare_client KUBECONFIG POD COUNT NODES AT_A_TIME
//
// POD is a file with the pod as JSON; its copies are bare-0 and so on, on node-0 to node-(NODES-1).
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "kube/connection.h"

namespace strata {
namespace {

using Json = nlohmann::json;

struct Load {
  Json pod;
  int count = 0;
  int nodes = 1;
};

[[noreturn]] void Die(const std::string& why) {
  fmt::print(stderr, "bare_client: {}\n", why);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe)
}

int Positive(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) {
    Die(fmt::format("want a number, not {}", text));
  }
  return number;
}

// Takes the pods one after the other, AT_A_TIME chains side by side.
class Chains {
 public:
  Chains(kube::Client& client, const Load& load) : client_(client), load_(load) {}

  void Run(int at_a_time) {
    std::future<void> done = finished_.get_future();
    for (int i = 0; i < std::min(at_a_time, load_.count); ++i) StartNext();
    done.wait();
  }

 private:
  static void Expect(const kube::Reply& reply, const char* what) {
    if (!reply) Die(fmt::format("{}: {}", what, reply.error().error.message));
  }

  void StartNext() {
    int index = 0;
    {
      const std::lock_guard lock(mutex_);
      if (started_ == load_.count) return;
      index = started_++;
    }
    Json pod = load_.pod;
    pod["metadata"]["name"] = fmt::format("bare-{}", index);
    client_.Start(kube::CreateCall({kube::kPods, "default", "", ""}, pod.dump()),
                  [this, index](const kube::Reply& reply) {
                    Expect(reply, "create");
                    Bind(index, Json::parse(*reply, nullptr, false)["metadata"]["uid"]);
                  });
  }

  void Bind(int index, const std::string& uid) {
    const std::string name = fmt::format("bare-{}", index);
    const std::string node = fmt::format("node-{}", index % load_.nodes);
    client_.Start(kube::BindCall({"default", name, uid}, node, {}),
                  [this, name, uid](const kube::Reply& reply) {
                    Expect(reply, "bind");
                    Tell(name, uid);
                  });
  }

  void Tell(const std::string& name, const std::string& uid) {
    const std::string now =
        FormatTimestamp(std::chrono::floor<std::chrono::seconds>(kube::SystemClock().Now()));
    const Json about = {{"apiVersion", "v1"},
                        {"kind", "Pod"},
                        {"namespace", "default"},
                        {"name", name},
                        {"uid", uid}};
    const Json event = {{"apiVersion", "v1"},
                        {"kind", "Event"},
                        {"metadata", {{"name", name + ".bound"}, {"namespace", "default"}}},
                        {"involvedObject", about},
                        {"type", "Normal"},
                        {"reason", "Scheduled"},
                        {"message", "Successfully assigned default/" + name},
                        {"source", {{"component", "bare"}}},
                        {"count", 1},
                        {"firstTimestamp", now},
                        {"lastTimestamp", now}};
    client_.Start(kube::CreateCall({kube::kEvents, "default", "", ""}, event.dump()),
                  [this](const kube::Reply& reply) {
                    Expect(reply, "event");
                    Finish();
                  });
  }

  void Finish() {
    {
      const std::lock_guard lock(mutex_);
      if (++done_ == load_.count) return finished_.set_value();
    }
    StartNext();
  }

  kube::Client& client_;
  const Load& load_;
  std::mutex mutex_;
  int started_ = 0;
  int done_ = 0;
  std::promise<void> finished_;
};

int Main(int count, char** words) {
  if (count != 6) Die("usage: bare_client KUBECONFIG POD COUNT NODES AT_A_TIME");
  const kube::Surroundings outside = kube::SystemSurroundings();
  kube::ConnectionFlags flags;
  flags.kubeconfig = words[1];
  const auto config = kube::FindConnection(flags, outside);
  if (!config) Die(config.error().message);
  const auto connection = kube::Connection::Open(*config, {}, outside);
  if (!connection) Die(connection.error().message);
  const auto text = outside.read(words[2]);
  if (!text) Die(text.error().message);
  const Load load{Json::parse(*text, nullptr, false), Positive(words[3]), Positive(words[4])};
  if (!load.pod.is_object()) Die("the pod is not a JSON object");
  const auto begun = std::chrono::steady_clock::now();
  Chains((*connection)->client(), load).Run(Positive(words[5]));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  fmt::print("{{\"count\": {}, \"seconds\": {:.3f}}}\n", load.count, taken.count());
  return 0;
}

}  // namespace
}  // namespace strata

int main(int count, char** words) {
  return strata::Main(count, words);
}
