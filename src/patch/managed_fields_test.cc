#include "patch/managed_fields.h"

#include <chrono>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "patch/test_schemas.h"
#include "tests/support/cost.h"

namespace strata::patch {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using testing::Parse;

Time At(int second) {
  return Time(std::chrono::seconds(1'800'000'000 + second));
}

Writer By(const std::string& manager, int second = 0) {
  return {.manager = manager, .api_version = "v1", .now = At(second)};
}

// The object after an apply without conflict; the error as a text.
json Apply(const std::optional<json>& live,
           const char* config,
           const Writer& writer,
           OnConflict on_conflict = OnConflict::kReport) {
  const Result<Applied> applied =
      ServerSideApply(*testing::ConfigMap(), live, Parse(config), writer, on_conflict);
  if (!applied) return applied.error().message;
  EXPECT_THAT(applied->conflicts, IsEmpty());
  return applied->object;
}

std::vector<ApplyConflict> Conflicts(const json& live, const char* config, const Writer& writer) {
  return ServerSideApply(*testing::ConfigMap(), live, Parse(config), writer, OnConflict::kReport)
      .value()
      .conflicts;
}

json Update(const std::optional<json>& before, json after, const Writer& writer) {
  RecordUpdate(*testing::ConfigMap(), before ? &*before : nullptr, after, writer);
  return after;
}

// {"manager/operation": fieldsV1} of an object.
json Owners(const json& object) {
  json owners = json::object();
  for (const json& entry : object["metadata"].value("managedFields", json::array())) {
    owners[entry["manager"].get<std::string>() + "/" + entry["operation"].get<std::string>()] =
        entry["fieldsV1"];
  }
  return owners;
}

constexpr const char* kFirst = R"({"metadata":{"name":"m"},"data":{"a":"1","b":"2"}})";

TEST(ServerSideApply, CreatesWithAnEntryAsAServerWritesIt) {
  EXPECT_EQ(Apply(std::nullopt, kFirst, By("kubectl")),
            Parse(R"({"data":{"a":"1","b":"2"},"metadata":{"name":"m","managedFields":[
              {"manager":"kubectl","operation":"Apply","apiVersion":"v1",
               "time":"2027-01-15T08:00:00Z","fieldsType":"FieldsV1",
               "fieldsV1":{"f:data":{"f:a":{},"f:b":{}}}}]}})"));
}

TEST(ServerSideApply, TakesAwayWhatTheManagerNoLongerMentions) {
  const json live = Apply(std::nullopt, kFirst, By("one"));
  const json next = Apply(live, R"({"data":{"a":"1"}})", By("one", 5));
  EXPECT_EQ(next["data"], Parse(R"({"a":"1"})"));
  EXPECT_EQ(Apply(next, R"({})", By("one", 6)), Parse(R"({"metadata":{"name":"m"}})"));
}

TEST(ServerSideApply, WhatIsEmptyOnPurposeStays) {
  const json live = Apply(
      std::nullopt, R"({"metadata":{"name":"m","finalizers":["f"]},"data":{"a":"1"}})", By("one"));
  const json next = Apply(live, R"({"metadata":{"finalizers":[]},"data":{}})", By("one"));
  EXPECT_EQ(next["data"], json::object());
  EXPECT_EQ(next["metadata"]["name"], "m");
  EXPECT_EQ(next["metadata"]["finalizers"], json::array());
}

TEST(ServerSideApply, KeepsWhatSomebodyElseOwnsToo) {
  json live = Apply(std::nullopt, kFirst, By("one"));
  live = Apply(live, R"({"data":{"a":"1"}})", By("two"));
  live = Apply(live, R"({"data":{"b":"2"}})", By("one"));
  EXPECT_EQ(live["data"], Parse(R"({"a":"1","b":"2"})"));
  EXPECT_EQ(Owners(live),
            Parse(R"({"one/Apply":{"f:data":{"f:b":{}}},"two/Apply":{"f:data":{"f:a":{}}}})"));
}

TEST(ServerSideApply, AnotherValueOfAnOwnedFieldIsAConflict) {
  const json live = Apply(std::nullopt, kFirst, By("one"));
  EXPECT_THAT(Conflicts(live, R"({"data":{"a":"9","c":"3"}})", By("two")),
              ElementsAre(AllOf(Field(&ApplyConflict::manager, "one"),
                                Field(&ApplyConflict::field, ".data.a"),
                                Field(&ApplyConflict::message, "conflict with \"one\""))));
  const json created = Update(std::nullopt, Parse(kFirst), By("kubectl-create"));
  EXPECT_THAT(
      Conflicts(created, R"({"data":{"a":"9"}})", By("two")),
      ElementsAre(Field(&ApplyConflict::message, "conflict with \"kubectl-create\" using v1")));
}

TEST(ServerSideApply, ForceTakesTheField) {
  json live = Apply(std::nullopt, kFirst, By("one"));
  live = Apply(live, R"({"data":{"a":"9"}})", By("two"), OnConflict::kForce);
  EXPECT_EQ(live["data"]["a"], "9");
  EXPECT_EQ(Owners(live),
            Parse(R"({"one/Apply":{"f:data":{"f:b":{}}},"two/Apply":{"f:data":{"f:a":{}}}})"));
}

TEST(ServerSideApply, TheSameAgainChangesNothingNotEvenTheTime) {
  const json live = Apply(std::nullopt, kFirst, By("one", 1));
  EXPECT_EQ(Apply(live, kFirst, By("one", 99)), live);
}

TEST(ServerSideApply, ASharedValueIsSharedAndNoConflict) {
  const json live = Apply(std::nullopt, kFirst, By("one"));
  EXPECT_EQ(Owners(Apply(live, R"({"data":{"a":"1"}})", By("two"))),
            Parse(R"({"one/Apply":{"f:data":{"f:a":{},"f:b":{}}},
                      "two/Apply":{"f:data":{"f:a":{}}}})"));
}

TEST(ServerSideApply, AnObjectWithoutOwnersIsFirstGivenToBeforeFirstApply) {
  const json live = Apply(
      Parse(R"({"metadata":{"name":"m"},"data":{"a":"1"}})"), R"({"data":{"b":"2"}})", By("one"));
  EXPECT_EQ(Owners(live), Parse(R"({"before-first-apply/Update":{"f:data":{".":{},"f:a":{}}},
                      "one/Apply":{"f:data":{"f:b":{}}}})"));
}

TEST(ServerSideApply, ListItemsAreOwnedOneByOne) {
  const auto apply = [](const std::optional<json>& live, const char* config, const Writer& writer) {
    return ServerSideApply(*testing::Pod(), live, Parse(config), writer, OnConflict::kReport)
        .value()
        .object;
  };
  json live = apply(std::nullopt,
                    R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b"}]}})",
                    By("one"));
  live = apply(live, R"({"spec":{"containers":[{"name":"s","image":"y"}]}})", By("two"));
  live = apply(live, R"({"spec":{"containers":[{"name":"b"}]}})", By("one"));
  EXPECT_EQ(live["spec"]["containers"], Parse(R"([{"name":"b"},{"name":"s","image":"y"}])"));
  EXPECT_EQ(apply(live, R"({"metadata":{}})", By("two"))["spec"]["containers"],
            Parse(R"([{"name":"b"}])"));
}

TEST(ServerSideApply, NewItemsStandWhereTheConfigurationHasThem) {
  const json live = Parse(R"({"spec":{"containers":[{"name":"a"},{"name":"s"},{"name":"b"}]}})");
  const json config =
      Parse(R"({"spec":{"containers":[{"name":"n"},{"name":"b"},{"name":"m"},{"name":"a"}]}})");
  const Result<Applied> applied =
      ServerSideApply(*testing::Pod(), live, config, By("one"), OnConflict::kReport);
  EXPECT_EQ(applied->object["spec"]["containers"],
            Parse(R"([{"name":"s"},{"name":"n"},{"name":"b"},{"name":"m"},{"name":"a"}])"));
}

TEST(ServerSideApply, RefusesManagedFieldsInTheConfiguration) {
  EXPECT_EQ(Apply(std::nullopt, R"({"metadata":{"managedFields":[]}})", By("one")),
            "metadata.managedFields must be nil");
  EXPECT_EQ(Apply(std::nullopt, R"([1])", By("one")), "the configuration is not an object");
}

TEST(ServerSideApply, KubectlTakesOverFromItsClientSideApply) {
  const json created = Update(std::nullopt,
                              Parse(R"({"metadata":{"name":"m","annotations":{
      "kubectl.kubernetes.io/last-applied-configuration":
      "{\"metadata\":{\"name\":\"m\"},\"data\":{\"a\":\"1\"}}"}},"data":{"a":"1"}})"),
                              By("kubectl-client-side-apply"));
  const char* config = R"({"metadata":{"name":"m"},"data":{"a":"2"}})";
  EXPECT_EQ(Conflicts(created, config, By("other")).size(), 1U);
  const json live = Apply(created, config, By("kubectl"));
  EXPECT_EQ(live["data"]["a"], "2");
  EXPECT_EQ(live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"],
            "{\"data\":{\"a\":\"2\"},\"metadata\":{\"name\":\"m\"}}\n");
}

TEST(RecordUpdate, OfACreatedPodLooksAsAServerWritesIt) {
  json pod = Parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"u",
      "creationTimestamp":"x","labels":{"app":"x"},
      "ownerReferences":[{"uid":"o","name":"n"}]},
      "spec":{"containers":[{"name":"c","image":"i","resources":{},
                             "ports":[{"containerPort":80,"protocol":"TCP"}]}],
              "securityContext":{},"nodeSelector":{"a":"b"},"tolerations":[{"key":"k"}]},
      "status":{"phase":"Pending"}})");
  RecordUpdate(*testing::Pod(), nullptr, pod, By("kubectl-create"));
  EXPECT_EQ(Owners(pod)["kubectl-create/Update"],
            Parse(R"({"f:metadata":{"f:labels":{".":{},"f:app":{}},
                          "f:ownerReferences":{".":{},"k:{\"uid\":\"o\"}":{}}},
      "f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:image":{},
                  "f:resources":{},"f:ports":{".":{},
                    "k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},
                                                                    "f:protocol":{}}}}},
                "f:securityContext":{},"f:nodeSelector":{},"f:tolerations":{}},
      "f:status":{"f:phase":{}}})"));
}

TEST(RecordUpdate, WhatChangesIsTakenFromItsOwner) {
  const json created = Update(std::nullopt, Parse(kFirst), By("one"));
  json changed = created;
  changed["data"] = Parse(R"({"a":"9","c":"3"})");
  const json updated = Update(created, changed, By("two", 7));
  EXPECT_EQ(Owners(updated),
            Parse(R"({"one/Update":{"f:data":{}},"two/Update":{"f:data":{"f:a":{},"f:c":{}}}})"));
  EXPECT_EQ(updated["metadata"]["managedFields"][0]["time"], "2027-01-15T08:00:00Z");
  EXPECT_EQ(updated["metadata"]["managedFields"][1]["time"], "2027-01-15T08:00:07Z");
}

TEST(RecordUpdate, AWriteThatChangesNothingLeavesEverythingAsItWas) {
  const json created = Update(std::nullopt, Parse(kFirst), By("one"));
  EXPECT_EQ(Update(created, created, By("two", 9)), created);
  json forgetful = created;
  forgetful["metadata"].erase("managedFields");
  forgetful["metadata"]["resourceVersion"] = "77";
  json expected = created;
  expected["metadata"]["resourceVersion"] = "77";
  EXPECT_EQ(Update(created, forgetful, By("two", 9)), expected);
}

TEST(RecordUpdate, SubresourcesHaveEntriesOfTheirOwn) {
  const json created = Update(std::nullopt, Parse(kFirst), By("one"));
  json changed = created;
  changed["status"]["x"] = 1;
  Writer writer = By("one", 3);
  writer.subresource = "status";
  const json entry = Update(created, changed, writer)["metadata"]["managedFields"][1];
  EXPECT_EQ(entry["subresource"], "status");
  EXPECT_EQ(entry["fieldsV1"], Parse(R"({"f:status":{"f:x":{}}})"));
}

TEST(RecordUpdate, AClientMayEditOrForgetTheOwners) {
  const json created = Update(std::nullopt, Parse(kFirst), By("one"));
  json edited = created;
  edited["metadata"]["managedFields"][0]["manager"] = "renamed";
  EXPECT_EQ(Update(created, edited, By("two")), edited);

  json forgotten = created;
  forgotten["metadata"]["managedFields"] = json::array({json::object()});
  const json none = Update(created, forgotten, By("two"));
  EXPECT_FALSE(none["metadata"].contains("managedFields"));
  json changed = none;
  changed["data"]["a"] = "5";
  EXPECT_EQ(Update(none, changed, By("two")), changed);
}

TEST(RecordUpdate, UnreadableOwnersOfARequestAreIgnored) {
  const json created = Update(std::nullopt, Parse(kFirst), By("one"));
  for (const char* odd : {R"([{"manager":"x"}])",
                          R"("text")",
                          R"([1])",
                          R"([{"manager":"x","operation":"Apply","apiVersion":"v1",
                               "fieldsType":"FieldsV1","fieldsV1":{"a":1}}])"}) {
    json sent = created;
    sent["metadata"]["managedFields"] = Parse(odd);
    EXPECT_EQ(Update(created, sent, By("two")), created) << odd;
  }
}

TEST(RecordUpdate, KeepsTenEntriesOfUpdatesAndPutsTheOldestTogether) {
  json live = Update(std::nullopt, Parse(kFirst), By("m0", 0));
  for (int i = 1; i <= 12; ++i) {
    json next = live;
    next["data"]["k" + std::to_string(i)] = "v";
    live = Update(live, next, By("m" + std::to_string(i), i));
  }
  const json& entries = live["metadata"]["managedFields"];
  EXPECT_EQ(entries.size(), 10U);
  EXPECT_EQ(entries[0]["manager"], "ancient-changes");
  EXPECT_EQ(entries[0]["time"], "2027-01-15T08:00:03Z");
  EXPECT_EQ(entries[0]["fieldsV1"],
            Parse(R"({"f:data":{".":{},"f:a":{},"f:b":{},"f:k1":{},"f:k2":{},"f:k3":{}}})"));
}

TEST(RecordUpdate, ListsWhoseItemsHaveNoKeysAreOneValue) {
  json before = Parse(R"({"spec":{"containers":[{"image":"a"},{"image":"b"}]}})");
  RecordUpdate(*testing::Pod(), nullptr, before, By("one"));
  EXPECT_EQ(Owners(before)["one/Update"], Parse(R"({"f:spec":{"f:containers":{}}})"));
  json after = before;
  after["spec"]["containers"][0]["image"] = "c";
  RecordUpdate(*testing::Pod(), &before, after, By("two"));
  EXPECT_EQ(Owners(after), Parse(R"({"two/Update":{"f:spec":{"f:containers":{}}}})"));
}

json ManyKeys(int count, const std::string& value) {
  json data = json::object();
  for (int i = 0; i < count; ++i) data["key" + std::to_string(i)] = value;
  return {{"metadata", {{"name", "m"}}}, {"data", std::move(data)}};
}

TEST(ServerSideApply, ReportsAHundredConflictsAndCountsTheOthers) {
  const json live = Update(std::nullopt, ManyKeys(5'000, "1"), By("one"));
  const Result<Applied> applied = ServerSideApply(
      *testing::ConfigMap(), live, ManyKeys(5'000, "2"), By("two"), OnConflict::kReport);
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->conflicts.size(), 100U);
  EXPECT_EQ(applied->more_conflicts, 4'900U);
  EXPECT_EQ(applied->object["data"]["key0"], "1");
}

// An object of a kind without a schema, `levels` deep.
json Deep(int levels, const std::string& value) {
  json inner = value;
  for (int i = 0; i < levels; ++i) inner = {{"a", std::move(inner)}, {"b", 1}};
  return {{"metadata", {{"name", "m"}}}, {"spec", std::move(inner)}};
}

TEST(ServerSideApply, CostsTheSamePerLevelHoweverDeep) {
  const auto at = [](int levels) {
    return [before = Deep(levels, "x"), after = Deep(levels, "y")] {
      (void)ServerSideApply(schema::Schema(), before, after, By("a"), OnConflict::kForce).value();
    };
  };
  EXPECT_LT(strata::testing::CostRatio(at(50), at(400)), 24);
}

TEST(RecordUpdate, CostsTheSamePerLevelHoweverDeep) {
  const auto at = [](int levels) {
    return [before = Deep(levels, "x"), after = Deep(levels, "x")] {
      json now = after;
      RecordUpdate(schema::Schema(), &before, now, By("a"));
      json owned = after;
      RecordUpdate(schema::Schema(), nullptr, owned, By("a"));
      json again = owned;
      RecordUpdate(schema::Schema(), &owned, again, By("b"));
    };
  };
  EXPECT_LT(strata::testing::CostRatio(at(50), at(400)), 24);
}

TEST(RecordUpdate, TooManyEntriesOfAClientCountAsNone) {
  const json before = Update(std::nullopt, Parse(kFirst), By("one"));
  json after = before;
  const json entry = before["metadata"]["managedFields"][0];
  for (int i = 0; i < 1'000; ++i) {
    json copy = entry;
    copy["manager"] = "m" + std::to_string(i);
    after["metadata"]["managedFields"].push_back(std::move(copy));
  }
  EXPECT_EQ(Owners(Update(before, after, By("two"))), Owners(before));
}

}  // namespace
}  // namespace strata::patch
