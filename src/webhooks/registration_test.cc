#include "webhooks/registration.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "patch/patch.h"
#include "webhooks/certificates.h"
#include "webhooks/test_reviews.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

Address ServiceAddress() {
  Address address;
  address.service_namespace = "strata";
  address.service_name = "admission";
  address.authority_pem = "PEM";
  address.own_namespace = "strata";
  return address;
}

TEST(NewConfiguration, ExcludesTheNamespaceOfItsOwnPods) {
  const json made = NewConfiguration(WebhookAt("/queues/validate"), ServiceAddress());
  EXPECT_EQ(made["kind"], "ValidatingWebhookConfiguration");
  EXPECT_EQ(made["metadata"]["name"], "admission-queues-validate");
  const json& hook = made["webhooks"][0];
  EXPECT_EQ(hook["name"], "validatequeue.volcano.sh");
  EXPECT_EQ(hook["failurePolicy"], "Fail");
  EXPECT_EQ(hook["namespaceSelector"],
            J("{'matchExpressions': [{'key': 'kubernetes.io/metadata.name', 'operator': 'NotIn', "
              "'values': ['strata', 'kube-system']}]}"));
  EXPECT_EQ(hook["rules"],
            J("[{'apiGroups': ['scheduling.volcano.sh'], 'apiVersions': ['v1beta1'], 'resources': "
              "['queues'], 'operations': ['CREATE', 'UPDATE', 'DELETE'], 'scope': '*'}]"));
  EXPECT_EQ(hook["clientConfig"],
            J("{'caBundle': '" + EncodeBase64("PEM") +
              "', 'service': {'namespace': 'strata', 'name': 'admission', 'path': "
              "'/queues/validate', 'port': 443}}"));
  EXPECT_FALSE(hook.contains("reinvocationPolicy"));
  EXPECT_EQ(NewConfiguration(WebhookAt("/jobs/mutate"), ServiceAddress())["kind"],
            "MutatingWebhookConfiguration");
}

TEST(NewConfiguration, AsksAboutNoPodsOfOtherSchedulers) {
  Address address = ServiceAddress();
  address.scheduler_names = {"tide", "volcano"};
  const auto condition = [&](const char* path) {
    const json hook = NewConfiguration(WebhookAt(path), address)["webhooks"][0];
    return hook.contains("matchConditions")
               ? hook["matchConditions"][0]["expression"].get<std::string>()
               : "";
  };
  const std::string own = R"(object.spec.schedulerName in ["tide","volcano"])";
  EXPECT_EQ(condition("/pods/validate"), own);
  // Annotations that decide which GPU a container gets are removed from pods of every scheduler.
  EXPECT_EQ(condition("/gpus/mutate"),
            own +
                " || (has(object.metadata.annotations) && object.metadata.annotations.exists(key, "
                "key.startsWith('hami.io/') || key.startsWith('volcano.sh/')))");
  EXPECT_EQ(condition("/pods/mutate"), "");  // a resource group may choose the scheduler
  EXPECT_EQ(condition("/jobs/mutate"), "");
}

TEST(ConfigurationName, FollowsTheService) {
  const Webhook& webhook = WebhookAt("/jobs/validate");
  EXPECT_EQ(ConfigurationName(webhook, ServiceAddress()), "admission-jobs-validate");
  EXPECT_EQ(ConfigurationName(webhook, {}), "strata-admission-service-jobs-validate");
}

// What an API server makes of it.
json Patched(const json& found, const Webhook& webhook, const Address& address) {
  const auto patch = AddressPatch(found, webhook, address, kTestNow);
  return patch ? patch::JsonPatch(found, *patch).value() : found;
}

TEST(AddressPatch, ChangesTheAddressAndNothingElse) {
  const Webhook& webhook = WebhookAt("/jobs/validate");
  json installed = NewConfiguration(webhook, ServiceAddress());
  installed["webhooks"][0]["failurePolicy"] = "Ignore";
  installed["webhooks"][0]["timeoutSeconds"] = 3;
  installed["metadata"]["resourceVersion"] = "12";
  EXPECT_FALSE(AddressPatch(installed, webhook, ServiceAddress(), kTestNow));

  Address moved;
  moved.url = "https://127.0.0.1:8443";
  moved.authority_pem = "OTHER";
  const json changed = Patched(installed, webhook, moved);
  EXPECT_EQ(changed["webhooks"][0]["clientConfig"],
            J("{'caBundle': '" + EncodeBase64("OTHER") +
              "', 'url': 'https://127.0.0.1:8443/jobs/validate'}"));
  json rest = changed;
  rest["webhooks"][0]["clientConfig"] = installed["webhooks"][0]["clientConfig"];
  EXPECT_EQ(rest, installed);
}

TEST(AddressPatch, PutsTheAuthorityIntoWhatAChartInstalled) {
  const Webhook& webhook = WebhookAt("/jobs/validate");
  const json whole = NewConfiguration(webhook, ServiceAddress());
  json installed = whole;
  installed["webhooks"][0]["clientConfig"].erase("caBundle");
  EXPECT_EQ(Patched(installed, webhook, ServiceAddress()), whole);
}

TEST(AddressPatch, FailsWhenTheWebhookIsAnotherByThen) {
  const Webhook& webhook = WebhookAt("/jobs/validate");
  Address moved = ServiceAddress();
  moved.service_name = "other";
  json installed = NewConfiguration(webhook, ServiceAddress());
  const json patch = AddressPatch(installed, webhook, moved, kTestNow).value();
  installed["webhooks"][0]["name"] = "somebody.else";
  EXPECT_FALSE(patch::JsonPatch(installed, patch));
}

TEST(AddressPatch, ReplicasWithDifferentAuthoritiesTrustEachOther) {
  const std::vector<std::string> hosts = {"admission.strata.svc"};
  const Webhook& webhook = WebhookAt("/jobs/validate");
  Address first = ServiceAddress();
  first.authority_pem = Renew(std::nullopt, hosts, kTestNow).value().authority_pem;
  Address second = ServiceAddress();
  second.authority_pem = Renew(std::nullopt, hosts, kTestNow).value().authority_pem;
  const json both = Patched(NewConfiguration(webhook, first), webhook, second);
  EXPECT_EQ(both["webhooks"][0]["clientConfig"]["caBundle"],
            EncodeBase64(second.authority_pem + first.authority_pem));
  EXPECT_FALSE(AddressPatch(both, webhook, first, kTestNow));
  EXPECT_FALSE(AddressPatch(both, webhook, second, kTestNow));
}

TEST(AddressPatch, PutsTheWebhookIntoAnEmptyConfiguration) {
  const Webhook& webhook = WebhookAt("/jobs/validate");
  const json wanted = NewConfiguration(webhook, ServiceAddress())["webhooks"];
  for (const char* empty : {"{}", "{'webhooks': null}", "{'webhooks': []}", "{'webhooks': 7}"}) {
    EXPECT_EQ(Patched(J(empty), webhook, ServiceAddress())["webhooks"], wanted);
  }
  EXPECT_FALSE(AddressPatch(J("{'webhooks': [7]}"), webhook, ServiceAddress(), kTestNow));
}

TEST(Register, CreatesUpdatesOrKeepsAConfiguration) {
  const Webhook& webhook = WebhookAt("/jobs/mutate");
  std::string stored;
  std::vector<std::string> calls;
  const Ask ask = [&](const kube::Call& call) -> kube::Reply {
    calls.push_back(call.method + " " + call.path);
    if (call.method == "GET" && stored.empty()) {
      kube::Failure missing;
      missing.http_status = 404;
      return tl::unexpected(missing);
    }
    if (call.method == "POST") stored = call.body;
    if (call.method == "PATCH") stored = patch::JsonPatch(J(stored), J(call.body)).value().dump();
    return stored;
  };
  const std::string all = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
  const std::string one = all + "/admission-jobs-mutate";
  EXPECT_EQ(Register(ask, webhook, ServiceAddress(), kTestNow).value(), Registered::kMade);
  EXPECT_EQ(Register(ask, webhook, ServiceAddress(), kTestNow).value(), Registered::kAsItWas);
  Address moved = ServiceAddress();
  moved.authority_pem = "OTHER";
  EXPECT_EQ(Register(ask, webhook, moved, kTestNow).value(), Registered::kReaddressed);
  EXPECT_EQ(calls,
            (std::vector<std::string>{
                "GET " + one, "POST " + all, "GET " + one, "GET " + one, "PATCH " + one}));
}

TEST(Register, TellsWhyItCouldNot) {
  const Ask ask = [](const kube::Call&) -> kube::Reply {
    kube::Failure refused;
    refused.http_status = 403;
    refused.error = {Code::kInvalidArgument, "no"};
    return tl::unexpected(refused);
  };
  EXPECT_EQ(Register(ask, WebhookAt("/jobs/mutate"), ServiceAddress(), kTestNow).error().message,
            "no");
}

}  // namespace
}  // namespace strata::webhooks
