#include "wire/protobuf_body.h"

#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/property.h"
#include "wire/kubectl_bodies.h"
#include "wire/proto/core.pb.h"
#include "wire/proto/envelope.pb.h"
#include "wire/proto/meta.pb.h"
#include "wire/proto/pod.pb.h"
#include "wire/proto/policy.pb.h"

namespace strata::wire {
namespace {

using nlohmann::json;
using testing::FromHex;
using ::testing::HasSubstr;

json Read(std::string_view body) {
  const Result<json> object = ReadProtobufBody(body);
  return object ? *object : json(object.error().message);
}

json Parse(const char* text) {
  return json::parse(text);
}

std::string Body(const std::string& api_version, const std::string& kind, std::string raw) {
  proto::Unknown unknown;
  unknown.mutable_typemeta()->set_apiversion(api_version);
  unknown.mutable_typemeta()->set_kind(kind);
  unknown.set_raw(std::move(raw));
  return std::string("k8s\0", 4) + unknown.SerializeAsString();
}

template <typename Message>
json ReadMessage(const std::string& api_version, const Message& message) {
  return Read(Body(api_version, message.GetDescriptor()->name(), message.SerializeAsString()));
}

TEST(ProtobufBody, ReadsEveryKind) {
  const std::pair<const char*, const char*> kinds[] = {
      {"v1", "Binding"},
      {"v1", "ConfigMap"},
      {"v1", "Event"},
      {"v1", "Namespace"},
      {"v1", "Node"},
      {"v1", "PersistentVolumeClaim"},
      {"v1", "Pod"},
      {"v1", "ResourceQuota"},
      {"v1", "Secret"},
      {"v1", "Service"},
      {"v1", "ServiceAccount"},
      {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
      {"coordination.k8s.io/v1", "Lease"},
      {"events.k8s.io/v1", "Event"},
      {"policy/v1", "Eviction"},
      {"policy/v1beta1", "Eviction"},
      {"policy/v1", "PodDisruptionBudget"},
      {"scheduling.k8s.io/v1", "PriorityClass"},
      {"v1", "DeleteOptions"},
  };
  for (const auto& [api_version, kind] : kinds) {
    const json object = Read(Body(api_version, kind, ""));
    ASSERT_TRUE(object.is_object()) << object;
    EXPECT_EQ(object["kind"], kind);
    EXPECT_EQ(object["apiVersion"], api_version);
  }
}

TEST(ProtobufBody, ReadsWhatKubectlCreateSends) {
  EXPECT_EQ(Read(FromHex(testing::kNamespace)), Parse(R"({"apiVersion":"v1","kind":"Namespace",
      "metadata":{"name":"foo"},"spec":{},"status":{}})"));
  EXPECT_EQ(Read(FromHex(testing::kSecret)), Parse(R"({"apiVersion":"v1","kind":"Secret",
      "metadata":{"name":"s"},"data":{"a":"Yg==","bin":"eAD/eQ=="}})"));
  EXPECT_EQ(Read(FromHex(testing::kConfigMap)), Parse(R"({"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"name":"c"},"data":{"a":"b"},"binaryData":{"bin":"eAD/eQ=="}})"));
  EXPECT_EQ(Read(FromHex(testing::kQuota)), Parse(R"({"apiVersion":"v1","kind":"ResourceQuota",
      "metadata":{"name":"q"},"spec":{"hard":{"cpu":"1","pods":"2"},"scopes":["BestEffort"]},
      "status":{}})"));
  EXPECT_EQ(Read(FromHex(testing::kServiceAccount)), Parse(R"({"apiVersion":"v1",
      "kind":"ServiceAccount","metadata":{"name":"sa"}})"));
  EXPECT_EQ(Read(FromHex(testing::kPriorityClass)), Parse(R"({"apiVersion":"scheduling.k8s.io/v1",
      "kind":"PriorityClass","metadata":{"name":"pc"},"value":0,"description":"hi",
      "preemptionPolicy":"PreemptLowerPriority"})"));
}

TEST(ProtobufBody, ReadsNumbersAndTextsOfIntOrString) {
  EXPECT_EQ(Read(FromHex(testing::kBudget))["spec"],
            Parse(R"({"minAvailable":"50%","selector":{"matchLabels":{"app":"x"}}})"));
  EXPECT_EQ(Read(FromHex(testing::kBudgetOfZero))["spec"],
            Parse(R"({"maxUnavailable":0,"selector":{"matchLabels":{"app":"x"}}})"));
  EXPECT_EQ(Read(FromHex(testing::kService))["spec"]["ports"],
            Parse(R"([{"name":"80-8080","port":80,"protocol":"TCP","targetPort":8080}])"));
  EXPECT_EQ(Read(FromHex(testing::kNodePort))["spec"]["ports"],
            Parse(R"([{"name":"80-http","nodePort":30001,"port":80,"protocol":"TCP",
                       "targetPort":"http"}])"));
}

TEST(ProtobufBody, ReadsWhatAuthCanIAsks) {
  EXPECT_EQ(Read(FromHex(testing::kCanI)), Parse(R"({"apiVersion":"authorization.k8s.io/v1",
      "kind":"SelfSubjectAccessReview","metadata":{},
      "spec":{"resourceAttributes":{"namespace":"default","resource":"pods","verb":"get"}},
      "status":{"allowed":false}})"));
}

TEST(ProtobufBody, APodComesWithInlinedSourcesAndItsPointersToZero) {
  proto::Pod pod;
  pod.mutable_metadata()->set_name("p");
  proto::Volume& volume = *pod.mutable_spec()->add_volumes();
  volume.set_name("v");
  volume.mutable_volumesource()->mutable_emptydir();
  proto::Container& container = *pod.mutable_spec()->add_containers();
  container.set_name("c");
  container.mutable_resources();
  (*container.mutable_resources()->mutable_limits())["cpu"].set_string("500m");
  container.mutable_livenessprobe()->mutable_handler()->mutable_exec()->add_command("true");
  container.mutable_securitycontext()->set_runasuser(0);
  proto::EnvVar& variable = *container.add_env();
  variable.set_name("e");
  proto::SecretKeySelector& key = *variable.mutable_valuefrom()->mutable_secretkeyref();
  key.mutable_localobjectreference()->set_name("s");
  key.set_key("k");
  EXPECT_EQ(ReadMessage("v1", pod),
            Parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
      "spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c",
        "resources":{"limits":{"cpu":"500m"}},"livenessProbe":{"exec":{"command":["true"]}},
        "securityContext":{"runAsUser":0},
        "env":[{"name":"e","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}]}})"));
}

TEST(ProtobufBody, WritesTimesAsTextsAndOmitsAZeroTime) {
  proto::Lease lease;
  lease.mutable_metadata()->mutable_creationtimestamp();
  lease.mutable_spec()->mutable_acquiretime()->set_seconds(1'800'000'000);
  lease.mutable_spec()->mutable_renewtime()->set_seconds(1'800'000'000);
  lease.mutable_spec()->mutable_renewtime()->set_nanos(120'003'999);
  EXPECT_EQ(ReadMessage("coordination.k8s.io/v1", lease)["spec"],
            Parse(R"({"acquireTime":"2027-01-15T08:00:00.000000Z",
                      "renewTime":"2027-01-15T08:00:00.120003Z"})"));
  proto::Event event;
  event.mutable_firsttimestamp()->set_seconds(1'800'000'000);
  event.mutable_lasttimestamp();
  const json read = ReadMessage("v1", event);
  EXPECT_EQ(read["firstTimestamp"], "2027-01-15T08:00:00Z");
  EXPECT_FALSE(read.contains("lastTimestamp"));
}

TEST(ProtobufBody, RejectsATimeOutOfRange) {
  proto::Event event;
  event.mutable_firsttimestamp()->set_seconds(1'000'000'000'000);
  EXPECT_EQ(ReadMessage("v1", event), "Event: firstTimestamp: a time is out of range");
}

TEST(ProtobufBody, ManagedFieldsAreJsonInside) {
  proto::ConfigMap map;
  map.mutable_metadata()->add_managedfields()->mutable_fieldsv1()->set_raw(R"({"f:data":{}})");
  EXPECT_EQ(ReadMessage("v1", map)["metadata"]["managedFields"][0]["fieldsV1"],
            Parse(R"({"f:data":{}})"));
  map.mutable_metadata()->mutable_managedfields(0)->mutable_fieldsv1()->set_raw("{");
  EXPECT_THAT(ReadMessage("v1", map), HasSubstr("JSON that cannot be read"));
}

TEST(ProtobufBody, DeleteOptionsComeWithAnyVersion) {
  proto::DeleteOptions options;
  options.set_graceperiodseconds(0);
  options.set_propagationpolicy("Background");
  options.mutable_preconditions()->set_uid("u");
  EXPECT_EQ(ReadMessage("policy/v1", options),
            Parse(R"({"apiVersion":"policy/v1","kind":"DeleteOptions","gracePeriodSeconds":0,
                      "propagationPolicy":"Background","preconditions":{"uid":"u"}})"));
}

TEST(ProtobufBody, BothEventsAreRead) {
  proto::EventsEvent event;
  event.set_note("n");
  EXPECT_EQ(Read(Body("events.k8s.io/v1", "Event", event.SerializeAsString()))["note"], "n");
}

TEST(ProtobufBody, RefusesWithAReason) {
  EXPECT_THAT(Read("{}"), HasSubstr("expected prefix"));
  EXPECT_THAT(Read(std::string("k8s\0\xff", 5)), HasSubstr("not a protobuf Unknown"));
  EXPECT_EQ(Read(Body("apps/v1", "Deployment", "")),
            "this server does not read apps/v1 Deployment as protobuf; send it as JSON");
  EXPECT_THAT(Read(Body("v1", "Secret", "\xff")), HasSubstr("not a protobuf Secret"));
  EXPECT_THAT(Read(Body("v1", "ConfigMap", std::string("\x12\x06\x0a\x01\x61\x12\x01\xff", 8))),
              HasSubstr("not a protobuf ConfigMap"));
}

TEST(ProtobufBody, FieldsItDoesNotKnowAreRefusedUnlessTheyAreEmpty) {
  // Field 100, once with the text "x", once as a message with an empty text.
  EXPECT_EQ(Read(Body("v1", "Secret", std::string("\xa2\x06\x01x", 4))),
            "Secret: Secret has field 100, which this server does not read as protobuf");
  EXPECT_EQ(Read(Body("v1", "Secret", std::string("\xa2\x06\x02\x0a\x00", 5)))["kind"], "Secret");
}

TEST(ProtobufBody, RandomBytesAreNeverACrash) {
  strata::testing::CheckProperty(300, [](const std::string& noise, const std::string& kept) {
    std::string body = FromHex(testing::kService);
    const std::size_t at = kept.size() % body.size();
    body.replace(at, noise.size(), noise);
    for (const std::string& sent :
         {body, Body("v1", "Pod", noise), std::string("k8s\0", 4) + noise}) {
      const Result<json> object = ReadProtobufBody(sent);
      RC_ASSERT(object || object.error().code == Code::kInvalidArgument);
    }
  });
}

}  // namespace
}  // namespace strata::wire
