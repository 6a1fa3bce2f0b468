#include "json/access.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/from_map.h"

namespace strata {
namespace {

using nlohmann::json;

const json kPod = {
    {"metadata", {{"name", "a"}, {"labels", nullptr}, {"finalizers", {"f"}}, {"generation", 3}}},
    {"spec", {{"hostNetwork", true}, {"nodeName", ""}}}};

TEST(Access, FindsValuesByPath) {
  EXPECT_EQ(FindAt(kPod, {}), &kPod);
  EXPECT_EQ(TextAt(kPod, {"metadata", "name"}), "a");
  EXPECT_EQ(IntegerAt(kPod, {"metadata", "generation"}), 3);
  EXPECT_TRUE(BoolAt(kPod, {"spec", "hostNetwork"}));
  EXPECT_EQ(ListAt(kPod, {"metadata", "finalizers"}), json({"f"}));
  EXPECT_EQ(ObjectAt(kPod, {"spec"}), kPod["spec"]);
}

TEST(Access, ReadsMissingNullAndOtherTypesAsEmpty) {
  EXPECT_EQ(FindAt(kPod, {"status", "phase"}), nullptr);
  EXPECT_EQ(FindAt(kPod, {"metadata", "labels"}), nullptr);
  EXPECT_EQ(FindAt(kPod, {"metadata", "name", "deeper"}), nullptr);
  EXPECT_EQ(TextAt(kPod, {"metadata", "generation"}), "");
  EXPECT_EQ(IntegerAt(kPod, {"metadata", "name"}, 7), 7);
  EXPECT_FALSE(BoolAt(kPod, {"spec"}));
  EXPECT_EQ(ListAt(kPod, {"spec"}), json::array());
  EXPECT_EQ(ObjectAt(kPod, {"metadata", "labels"}), json::object());
  EXPECT_EQ(TextAt(json(), {"kind"}), "");
}

TEST(Access, PutsInMembersToWriteInto) {
  json pod = kPod;
  ObjectIn(ObjectIn(pod, "metadata"), "labels")["app"] = "x";
  ListIn(ObjectIn(pod, "status"), "conditions").push_back(1);
  EXPECT_EQ(pod["metadata"]["labels"], json({{"app", "x"}}));
  EXPECT_EQ(pod["status"]["conditions"], json::array({1}));
}

TEST(Access, SetsDefaultsOnlyWhereNothingIsSet) {
  json pod = kPod;
  SetDefault(pod["spec"], "nodeName", "n1");
  SetDefault(pod["spec"], "hostNetwork", false);
  SetDefault(pod["metadata"], "labels", json::object());
  EXPECT_EQ(pod["spec"]["nodeName"], "n1");
  EXPECT_EQ(pod["spec"]["hostNetwork"], true);
  EXPECT_EQ(pod["metadata"]["labels"], json::object());
}

TEST(JsonFromMap, KeepsTheOrderOfTheMapAndWritesAnEmptyMapAsAnObject) {
  const auto twice = [](int value) { return 2 * value; };
  EXPECT_EQ(JsonFromMap(std::map<std::string, int>{{"b", 2}, {"a", 1}}, twice),
            (nlohmann::ordered_json{{"a", 2}, {"b", 4}}));
  EXPECT_TRUE(JsonFromMap(std::map<std::string, int>(), twice).is_object());
}

}  // namespace
}  // namespace strata
