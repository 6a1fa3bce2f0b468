#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schema/catalog.h"
#include "schema/check.h"

namespace strata::schema {
namespace {

// Why a built-in kind does not decode; "" when it does.
std::string WhyNot(std::string_view kind, const std::string& text, std::string_view group = "") {
  const Status status =
      CheckDecodes(*BuiltIn(group, "v1", kind), nlohmann::json::parse(text, nullptr, false));
  return status ? "" : status.error().message;
}

TEST(CheckDecodes, TakesWhatAGoProgramTakes) {
  EXPECT_EQ(WhyNot("Pod", R"({"metadata":{"name":"a","labels":null,"creationTimestamp":null,
      "generation":3},"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],
      "resources":{"limits":{"cpu":1,"memory":"1Gi","x":0.5}},"tty":true}],"unknown":{"a":[1]}}})"),
            "");
  EXPECT_EQ(WhyNot("ConfigMap", "{}"), "");
  EXPECT_EQ(WhyNot("ConfigMap", "null"), "");
  EXPECT_EQ(WhyNot("Secret", R"({"data":{"a":"aGVsbG8=","b":""}})"), "");
  EXPECT_EQ(WhyNot("PodDisruptionBudget", R"({"spec":{"minAvailable":"50%"}})", "policy"), "");
}

TEST(CheckDecodes, NamesTheStructAndThePathOfItsFields) {
  EXPECT_EQ(WhyNot("ConfigMap", R"({"data":{"a":1}})"),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string");
  EXPECT_EQ(WhyNot("ConfigMap", R"({"data":["a"]})"),
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type "
            "map[string]string");
  EXPECT_EQ(WhyNot("Pod", R"({"spec":"x"})"),
            "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec");
  EXPECT_EQ(WhyNot("Pod", R"({"spec":{"containers":{}}})"),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container");
  EXPECT_EQ(WhyNot("Pod", R"({"spec":{"containers":[{"name":7}]}})"),
            "json: cannot unmarshal number into Go struct field Container.spec.containers.name of "
            "type string");
  EXPECT_EQ(WhyNot("Pod", R"({"spec":{"restartPolicy":true}})"),
            "json: cannot unmarshal bool into Go struct field PodSpec.spec.restartPolicy of type "
            "v1.RestartPolicy");
  EXPECT_EQ(WhyNot("Pod", R"({"metadata":{"labels":{"a":true}}})"),
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type "
            "string");
  EXPECT_EQ(WhyNot("Node", R"({"status":{"capacity":[]}})"),
            "json: cannot unmarshal array into Go struct field NodeStatus.status.capacity of type "
            "v1.ResourceList");
  EXPECT_EQ(WhyNot("ConfigMap", "[1]"),
            "json: cannot unmarshal array into Go value of type v1.ConfigMap");
}

TEST(CheckDecodes, IntegersMustBeWholeAndFit) {
  const auto priority = [](const std::string& value) {
    return WhyNot("Pod", R"({"spec":{"priority":)" + value + "}}");
  };
  EXPECT_EQ(priority("2147483647"), "");
  EXPECT_EQ(priority("2147483648"),
            "json: cannot unmarshal number 2147483648 into Go struct field PodSpec.spec.priority "
            "of type int32");
  EXPECT_EQ(priority("1.5"),
            "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type "
            "int32");
  EXPECT_EQ(priority(R"("1")"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type "
            "int32");
  EXPECT_NE(WhyNot("Pod", R"({"metadata":{"generation":18446744073709551615}})"), "");
  EXPECT_EQ(WhyNot("PodDisruptionBudget", R"({"spec":{"minAvailable":true}})", "policy"),
            "json: cannot unmarshal bool into Go struct field "
            "PodDisruptionBudgetSpec.spec.minAvailable of type int32");
}

TEST(CheckDecodes, QuantitiesSayWhatIsWrongAsGoDoes) {
  const auto cpu = [](const std::string& value) {
    return WhyNot("Node", R"({"status":{"capacity":{"cpu":)" + value + "}}}");
  };
  const std::string pattern =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  EXPECT_EQ(cpu(R"("1e3")"), "");
  EXPECT_EQ(cpu(R"("99999999999999999999")"), "") << "capped, no error";
  EXPECT_EQ(cpu(R"("a lot")"), pattern);
  EXPECT_EQ(cpu(R"("")"), pattern);
  EXPECT_EQ(cpu("true"), pattern);
  EXPECT_EQ(cpu(R"("1 Gi")"), pattern);
  EXPECT_EQ(cpu(R"("1Kib")"), pattern);
  EXPECT_EQ(cpu(R"("1Gm")"), "unable to parse quantity's suffix");
  EXPECT_EQ(cpu(R"("1m5")"), "unable to parse quantity's suffix");
  EXPECT_EQ(cpu(R"(".")"), "unable to parse numeric part of quantity");
}

TEST(CheckDecodes, AMicroTimeMustHaveAFraction) {
  const auto renewed = [](const std::string& value) {
    return WhyNot("Lease", R"({"spec":{"renewTime":)" + value + "}}", "coordination.k8s.io");
  };
  EXPECT_EQ(renewed(R"("2026-01-02T03:04:05.000006Z")"), "");
  EXPECT_EQ(renewed(R"("2026-01-02T03:04:05Z")"),
            "parsing time \"2026-01-02T03:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot "
            "parse \"Z\" as \".000000\"");
}

TEST(CheckDecodes, TimesSayWhatIsWrongAsGoDoes) {
  const auto created = [](const std::string& value) {
    return WhyNot("Pod", R"({"metadata":{"creationTimestamp":)" + value + "}}");
  };
  EXPECT_EQ(created(R"("2026-01-02T03:04:05Z")"), "");
  EXPECT_EQ(created(R"("2026-01-02T03:04:05.25+02:00")"), "");
  EXPECT_EQ(created(R"("yesterday")"),
            "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
            "\"yesterday\" as \"2006\"");
  EXPECT_EQ(created(R"("2026-01-02")"),
            "parsing time \"2026-01-02\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as "
            "\"T\"");
  EXPECT_EQ(created(R"("2026-13-02T03:04:05Z")"),
            "parsing time \"2026-13-02T03:04:05Z\": month out of range");
  EXPECT_EQ(created(R"("2026-02-30T03:04:05Z")"),
            "parsing time \"2026-02-30T03:04:05Z\": day out of range");
  EXPECT_EQ(created(R"("2026-01-02T03:04:05Z!")"),
            "parsing time \"2026-01-02T03:04:05Z!\": extra text: \"!\"");
  EXPECT_EQ(created(R"("2026-01-02T03:04:05+24:60")"), "");
  EXPECT_EQ(created(R"("2026-01-02T03:04:05+25:00")"),
            "parsing time \"2026-01-02T03:04:05+25:00\": time zone offset hour out of range");
  EXPECT_EQ(created(R"("2026-01-02T03:04:05-00:61")"),
            "parsing time \"2026-01-02T03:04:05-00:61\": time zone offset minute out of range");
  EXPECT_EQ(created("7"),
            "json: cannot unmarshal number into Go struct field "
            "ObjectMeta.metadata.creationTimestamp of type string");
}

TEST(CheckDecodes, BytesAreBase64) {
  const auto data = [](const std::string& value) {
    return WhyNot("Secret", R"({"data":{"k":)" + value + "}}");
  };
  EXPECT_EQ(data(R"("aGk=")"), "");
  EXPECT_EQ(data(R"("aG k=")"), "illegal base64 data at input byte 2");
  EXPECT_EQ(data(R"("aGk")"), "illegal base64 data at input byte 0");
  EXPECT_EQ(data(R"("a===")"), "illegal base64 data at input byte 1");
  EXPECT_EQ(data(R"("aGk=aGk=")"), "illegal base64 data at input byte 4");
  EXPECT_EQ(data("{}"),
            "json: cannot unmarshal object into Go struct field Secret.data of type []uint8");
}

}  // namespace
}  // namespace strata::schema
