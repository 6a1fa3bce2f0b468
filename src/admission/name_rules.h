#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// The syntax rules of names and labels with the sentences of Kubernetes: each returns "" when
// `text` keeps the rule. What the rules are is in objects/syntax.h.
namespace strata::admission {

[[nodiscard]] std::string DnsSubdomainError(std::string_view text);
[[nodiscard]] std::string DnsLabelError(std::string_view text);
// A DNS label that begins with a letter: names of Services.
[[nodiscard]] std::string Dns1035LabelError(std::string_view text);
// "[dns subdomain/]name": keys of labels, annotations, taints; names of resources and finalizers.
[[nodiscard]] std::string QualifiedNameError(std::string_view text);
[[nodiscard]] std::string LabelValueError(std::string_view text);
// Keys of ConfigMaps and Secrets.
[[nodiscard]] std::string ConfigKeyError(std::string_view text);
// Names and numbers of ports.
[[nodiscard]] std::string PortNameError(std::string_view text);

[[nodiscard]] std::string PortNumberError(std::int64_t number);

}  // namespace strata::admission
