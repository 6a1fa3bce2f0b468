#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "apiserver/test_server.h"
#include "tests/support/property.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kWatched = "/api/v1/namespaces/default/configmaps";

// One write to one of a few objects, by a number.
void WriteSomething(TestServer& server, int number) {
  const std::string name(1, static_cast<char>('a' + number % 4));
  const std::string url = std::string(kWatched) + "/" + name;
  const std::string label(1, static_cast<char>('0' + number / 4 % 3));
  switch (number / 12 % 4) {
    case 0: {
      json map = ConfigMap(name);
      map["metadata"]["labels"] = {{"x", label}};
      server.Post(kWatched, map);
      return;
    }
    case 1:
      server.Delete(url);
      return;
    default:
      server.Patch(url, "merge-patch+json", {{"metadata", {{"labels", {{"x", label}}}}}});
  }
}

// What a client that follows the events believes to be there: name to resourceVersion.
std::map<std::string, std::string> Believed(const TestExchange& watch) {
  std::map<std::string, std::string> there;
  std::int64_t last = 0;
  for (const json& event : Events(watch)) {
    const json& meta = event["object"]["metadata"];
    const std::string name = meta["name"];
    const std::string version = meta["resourceVersion"];
    RC_ASSERT(std::stoll(version) > last);
    last = std::stoll(version);
    if (event["type"] == "DELETED") {
      RC_ASSERT(there.erase(name) == 1U);
    } else {
      RC_ASSERT(there.contains(name) == (event["type"] == "MODIFIED"));
      there[name] = version;
    }
  }
  return there;
}

TEST(WatchProperty, AFollowerOfAnySelectorSeesWhatAListShows) {
  testing::CheckProperty(100, [] {
    const auto numbers = *rc::gen::container<std::vector<int>>(testing::Below(48));
    TestServer server;
    for (const char* selector : {"", "labelSelector=x%3D1", "labelSelector=x+notin+(0)"}) {
      const auto watch = server.Begin("GET", std::string(kWatched) + "?watch=true&" + selector);
      for (const int number : numbers) WriteSomething(server, number);
      std::map<std::string, std::string> listed;
      const Reply list = server.Get(std::string(kWatched) + "?" + selector);
      for (const json& item : list.body["items"]) {
        listed[item["metadata"]["name"]] = item["metadata"]["resourceVersion"];
      }
      RC_ASSERT(Believed(*watch) == listed);
      watch->Drop();
      server.Delete(kWatched);
    }
  });
}

}  // namespace
}  // namespace strata::apiserver
