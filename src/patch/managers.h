#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "patch/field_set.h"

namespace strata::patch {

// One entry of metadata.managedFields: who owns which fields.
struct Manager {
  std::string name;
  std::string operation;  // "Apply" or "Update"
  std::string api_version;
  std::string subresource;
  std::string time;  // RFC 3339, "" for none
  FieldSet fields = {};

  [[nodiscard]] bool Applies() const { return operation == "Apply"; }
  // Whether both are of the same writer: one that applies is the same in every version.
  [[nodiscard]] bool IsSameAs(const Manager& other) const;
};

using Managers = std::vector<Manager>;

// The entries of `object`; empty where it has none, none where one of them cannot be read or there
// are more than kMaxManagers.
[[nodiscard]] std::optional<Managers> ReadManagers(const nlohmann::json& object);

// True when a client asks to forget who owns what: managedFields is [{}].
[[nodiscard]] bool AsksForReset(const nlohmann::json& object);

// Writes them as the server lists them: those that apply first, then by time and name; without
// those that own nothing. Takes managedFields out when none is left.
void WriteManagers(Managers managers, nlohmann::json& object);

void RemoveManagedFields(nlohmann::json& object);

// The entry of the same writer; nullptr when there is none.
[[nodiscard]] Manager* FindManager(Managers& managers, const Manager& writer);

// Puts the oldest entries of updates together, one per version, while there are more than ten.
void MergeOldest(Managers& managers);

}  // namespace strata::patch
