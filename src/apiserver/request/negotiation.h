#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apiserver/request/query.h"
#include "net/http_message.h"

namespace strata::apiserver {

// In which form a client wants its answer.
enum class View : std::uint8_t {
  kObject,
  kTable,           // as=Table: what `kubectl get` prints
  kPartial,         // as=PartialObjectMetadata or ...List
  kGroupDiscovery,  // as=APIGroupDiscoveryList, apidiscovery.k8s.io/v2
};
enum class Encoding : std::uint8_t { kJson, kYaml, kOpenApiProtobuf };

struct Negotiated {
  View view = View::kObject;
  Encoding encoding = Encoding::kJson;
  std::string view_version;  // "v1", "v1beta1" of a Table or PartialObjectMetadata
  bool pretty = false;       // two blanks per level: for people (curl, a browser, ?pretty=true)
};

// The first form of the Accept header that this server can give; none: 406.
[[nodiscard]] std::optional<Negotiated> Negotiate(const net::HttpRequest& request,
                                                  const Query& query);

}  // namespace strata::apiserver
