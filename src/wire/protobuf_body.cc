#include "wire/protobuf_body.h"

#include <array>
#include <limits>
#include <memory>
#include <utility>

#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <nlohmann/json.hpp>

#include "wire/message_to_json.h"
#include "wire/message_types.h"
#include "wire/proto/envelope.pb.h"

namespace strata::wire {
namespace {

using Json = nlohmann::json;
using google::protobuf::Message;

constexpr std::string_view kMagic("k8s\0", 4);
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

struct Kind {
  std::string_view api_version;  // "" for any: options are sent with the version of what they mean
  std::string_view kind;
  std::string_view type = {};  // of src/wire/proto; none: called like the kind
};

constexpr std::array kKinds = {
    Kind{"v1", "Binding"},
    Kind{"v1", "ConfigMap"},
    Kind{"v1", "Event"},
    Kind{"v1", "Namespace"},
    Kind{"v1", "Node"},
    Kind{"v1", "PersistentVolumeClaim"},
    Kind{"v1", "Pod"},
    Kind{"v1", "ResourceQuota"},
    Kind{"v1", "Secret"},
    Kind{"v1", "Service"},
    Kind{"v1", "ServiceAccount"},
    Kind{"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
    Kind{"coordination.k8s.io/v1", "Lease"},
    Kind{"events.k8s.io/v1", "Event", "EventsEvent"},
    Kind{"policy/v1", "Eviction"},
    Kind{"policy/v1beta1", "Eviction"},
    Kind{"policy/v1", "PodDisruptionBudget"},
    Kind{"scheduling.k8s.io/v1", "PriorityClass"},
    Kind{"", "DeleteOptions"},
};

const Kind* FindKind(std::string_view api_version, std::string_view kind) {
  for (const Kind& candidate : kKinds) {
    const bool is_version = candidate.api_version.empty() || candidate.api_version == api_version;
    if (candidate.kind == kind && is_version) return &candidate;
  }
  return nullptr;
}

Status Parse(std::string_view bytes, Message& message) {
  // Text that is not UTF-8 is rejected here; the library need not log it, too.
  const google::protobuf::LogSilencer silencer;
  const bool fits = bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (fits && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return Fail(Code::kInvalidArgument,
              "the body is not a protobuf " + message.GetDescriptor()->name());
}

Result<Json> ReadRaw(const proto::Unknown& unknown) {
  const std::string& api_version = unknown.typemeta().apiversion();
  const std::string& name = unknown.typemeta().kind();
  if (unknown.contenttype() == "application/json") return ParseEmbeddedJson(unknown.raw());
  if (!unknown.contenttype().empty() && unknown.contenttype() != kProtobuf) {
    return Fail(Code::kInvalidArgument, "a body of type " + unknown.contenttype());
  }
  const Kind* kind = FindKind(api_version, name);
  if (kind == nullptr) {
    return Fail(
        Code::kInvalidArgument,
        "this server does not read " + api_version + " " + name + " as protobuf; send it as JSON");
  }
  const std::unique_ptr<Message> message = NewMessage(kind->type.empty() ? kind->kind : kind->type);
  TRY(Parse(unknown.raw(), *message));
  Result<Json> object = MessageToJson(*message);
  if (!object) return tl::unexpected(std::move(object).error().Context(name));
  return object;
}

}  // namespace

Result<Json> ReadProtobufBody(std::string_view body) {
  if (!body.starts_with(kMagic)) {
    return Fail(Code::kInvalidArgument,
                "provided data does not appear to be a protobuf message, expected prefix "
                "[107 56 115 0]");
  }
  proto::Unknown unknown;
  TRY(Parse(body.substr(kMagic.size()), unknown));
  if (!unknown.contentencoding().empty()) {
    return Fail(Code::kInvalidArgument, "a body of encoding " + unknown.contentencoding());
  }
  TRY_ASSIGN(Json object, ReadRaw(unknown));
  if (!object.is_object()) return Fail(Code::kInvalidArgument, "the body is not an object");
  object["apiVersion"] = unknown.typemeta().apiversion();
  object["kind"] = unknown.typemeta().kind();
  return object;
}

}  // namespace strata::wire
