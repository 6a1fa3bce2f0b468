#include "webhooks/registration.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "kube/call.h"
#include "webhooks/certificates.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

constexpr kube::Resource kMutating{"admissionregistration.k8s.io",
                                   "v1",
                                   "mutatingwebhookconfigurations",
                                   "MutatingWebhookConfiguration",
                                   kube::Resource::Scope::kCluster};
constexpr kube::Resource kValidating{"admissionregistration.k8s.io",
                                     "v1",
                                     "validatingwebhookconfigurations",
                                     "ValidatingWebhookConfiguration",
                                     kube::Resource::Scope::kCluster};

const kube::Resource& KindOf(const Webhook& webhook) {
  return webhook.effect == Webhook::Effect::kMutate ? kMutating : kValidating;
}

json ClientConfig(const Webhook& webhook, const Address& address) {
  json config = {{"caBundle", EncodeBase64(address.authority_pem)}};
  if (address.service_name.empty()) {
    config["url"] = fmt::format("{}{}", address.url, webhook.path);
  } else {
    config["service"] = {{"namespace", address.service_namespace},
                         {"name", address.service_name},
                         {"path", webhook.path},
                         {"port", 443}};
  }
  return config;
}

// What is to stand in the place of `present`. At the same Service other replicas may be, with
// other authorities.
json WantedBeside(const json* present, const Webhook& webhook, const Address& address, Time now) {
  json wanted = ClientConfig(webhook, address);
  if (address.service_name.empty() || present == nullptr) return wanted;
  const json* service = FindAt(*present, {"service"});
  if (service == nullptr || *service != wanted["service"]) return wanted;
  const auto trusted = DecodeBase64(TextAt(*present, {"caBundle"}));
  if (!trusted) return wanted;
  wanted["caBundle"] = EncodeBase64(TrustedToo(*trusted, address.authority_pem, now));
  return wanted;
}

json OperationList(Operations operations) {
  json list = json::array();
  if ((operations & kCreate) != 0) list.push_back("CREATE");
  if ((operations & kUpdate) != 0) list.push_back("UPDATE");
  if ((operations & kDelete) != 0) list.push_back("DELETE");
  return list;
}

// CEL: whether to ask about a pod; "" for always.
std::string PodCondition(const Webhook& webhook, const std::vector<std::string>& scheduler_names) {
  if (webhook.pods == Webhook::Pods::kAll) return "";
  std::string own = "object.spec.schedulerName in " + DumpJson(json(scheduler_names));
  if (webhook.pods == Webhook::Pods::kOwn) return own;
  return own +
         " || (has(object.metadata.annotations) && object.metadata.annotations.exists(key, "
         "key.startsWith('hami.io/') || key.startsWith('volcano.sh/')))";
}

}  // namespace

std::string ConfigurationName(const Webhook& webhook, const Address& address) {
  std::string name(address.service_name.empty() ? kUsualService : address.service_name);
  name.append(webhook.path);
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

json NewConfiguration(const Webhook& webhook, const Address& address) {
  const json elsewhere = {{"key", "kubernetes.io/metadata.name"},
                          {"operator", "NotIn"},
                          {"values", {address.own_namespace, "kube-system"}}};
  json hook = {{"name", webhook.name},
               {"admissionReviewVersions", json::array({"v1"})},
               {"clientConfig", ClientConfig(webhook, address)},
               {"failurePolicy", webhook.optional ? "Ignore" : "Fail"},
               {"matchPolicy", "Equivalent"},
               {"namespaceSelector", {{"matchExpressions", json::array({elsewhere})}}},
               {"rules",
                json::array({{{"apiGroups", json::array({webhook.group})},
                              {"apiVersions", json::array({webhook.version})},
                              {"resources", json::array({webhook.plural})},
                              {"operations", OperationList(webhook.operations)},
                              {"scope", "*"}}})},
               {"sideEffects", "None"},
               {"timeoutSeconds", 10}};
  if (webhook.effect == Webhook::Effect::kMutate) hook["reinvocationPolicy"] = "Never";
  if (webhook.optional) {
    const json opt_out = {
        {"key", "hami.io/webhook"}, {"operator", "NotIn"}, {"values", json::array({"ignore"})}};
    hook["namespaceSelector"]["matchExpressions"].push_back(opt_out);
    hook["objectSelector"] = {{"matchExpressions", json::array({opt_out})}};
  }
  if (const std::string asked = PodCondition(webhook, address.scheduler_names); !asked.empty()) {
    hook["matchConditions"] =
        json::array({{{"name", "pods-of-our-schedulers"}, {"expression", asked}}});
  }
  const kube::Resource& kind = KindOf(webhook);
  return {{"apiVersion", kube::ApiVersion(kind)},
          {"kind", kind.kind},
          {"metadata", {{"name", ConfigurationName(webhook, address)}}},
          {"webhooks", json::array({std::move(hook)})}};
}

std::optional<json> AddressPatch(const json& found,
                                 const Webhook& webhook,
                                 const Address& address,
                                 Time now) {
  const json* hooks = FindAt(found, {"webhooks"});
  if (hooks == nullptr || !hooks->is_array() || hooks->empty()) {
    return json::array({{{"op", "add"},
                         {"path", "/webhooks"},
                         {"value", NewConfiguration(webhook, address)["webhooks"]}}});
  }
  json patch = json::array();
  for (std::size_t i = 0; i < hooks->size(); ++i) {
    const json& hook = (*hooks)[i];
    const json* present = FindAt(hook, {"clientConfig"});
    const json wanted = WantedBeside(present, webhook, address, now);
    if (!hook.is_object() || (present != nullptr && *present == wanted)) continue;
    const std::string path = fmt::format("/webhooks/{}", i);
    // Fails when somebody has put another one there since.
    patch.push_back({{"op", "test"}, {"path", path}, {"value", hook}});
    patch.push_back({{"op", "add"}, {"path", path + "/clientConfig"}, {"value", wanted}});
  }
  return patch.empty() ? std::nullopt : std::optional(std::move(patch));
}

Result<Registered> Register(const Ask& ask,
                            const Webhook& webhook,
                            const Address& address,
                            Time now) {
  const kube::Resource& kind = KindOf(webhook);
  const kube::ResourcePath path{kind, "", ConfigurationName(webhook, address), ""};
  const kube::Reply got = ask(kube::GetCall(path));
  if (!got) {
    if (got.error().http_status != 404) return tl::unexpected<Error>(got.error().error);
    const kube::Reply made =
        ask(kube::CreateCall({kind, "", "", ""}, DumpJson(NewConfiguration(webhook, address))));
    // Another replica may have been faster.
    if (!made && !made.error().AlreadyExists()) return tl::unexpected<Error>(made.error().error);
    return Registered::kMade;
  }
  const json found = ParseJsonOrNull(*got);
  if (!found.is_object()) {
    return Fail(Code::kInternal, "a webhook configuration that is not an object");
  }
  const std::optional<json> patch = AddressPatch(found, webhook, address, now);
  if (!patch) return Registered::kAsItWas;
  kube::PatchOptions json_patch;
  json_patch.type = kube::PatchType::kJson;
  const kube::Reply put = ask(kube::PatchCall(path, json_patch, DumpJson(*patch)));
  if (!put) return tl::unexpected<Error>(put.error().error);
  return Registered::kReaddressed;
}

}  // namespace strata::webhooks
