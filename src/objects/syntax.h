#pragma once

#include <string>
#include <string_view>

#include "base/quantity.h"
#include "objects/cursor.h"
#include "objects/meta.h"

// The syntax rules of Kubernetes for names, labels and resources. The Check functions refuse what
// breaks them (cursor.h).
namespace strata::objects {

// Lower-case letters, digits and '-', with a letter or digit at both ends; at most 63 characters.
[[nodiscard]] bool IsDnsLabel(std::string_view text);
// DNS labels (of any length) joined by '.'; at most 253 characters.
[[nodiscard]] bool IsDnsSubdomain(std::string_view text);
// "[dns subdomain/]name", name of letters, digits, '-', '_', '.'; at most 63 characters.
[[nodiscard]] bool IsQualifiedName(std::string_view text);
// Empty, or at most 63 letters, digits, '-', '_', '.', with a letter or digit at both ends.
[[nodiscard]] bool IsLabelValue(std::string_view text);

void CheckDnsLabel(const Cursor& at, std::string_view text);
void CheckDnsSubdomain(const Cursor& at, std::string_view text);
void CheckLabelKey(const Cursor& at, std::string_view text);

// Labels with Kubernetes' syntax.
void ReadLabels(const Cursor& at, Labels& out);
// Annotations: the same for keys, any text for values, 256 KiB in all.
void ReadAnnotations(const Cursor& at, Labels& out);

// True for names such as nvidia.com/gpu: a domain that is not Kubernetes' own.
[[nodiscard]] bool IsExtendedResource(std::string_view name);

// What is wrong with an amount that does not fit into 64 bits of the unit Strata counts it in; ""
// when it fits.
[[nodiscard]] std::string TooLarge(std::string_view name, const Quantity& amount);

// Resource amounts. Names are qualified; what is counted in whole things (extended resources, pods)
// is whole; and every amount fits into 64 bits in the unit Strata counts it in (milli-CPU, bytes,
// thousandths). In a lenient object a fraction is rounded up, and a negative amount is 0.
void ReadResources(const Cursor& at, ResourceList& out);

}  // namespace strata::objects
