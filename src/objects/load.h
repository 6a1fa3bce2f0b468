#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "objects/kinds.h"
#include "objects/object_set.h"
#include "objects/value.h"

namespace strata::objects {

// A text to read objects from, and its name in messages ("jobs.yaml", "<stdin>").
struct Source {
  std::string name;
  std::string text;
};

// Reads, defaults and validates every object of `sources`: multi-document YAML, or JSON (objects
// one after the other, and Lists of them). Pure.
//
// Fails with the first error, one line that names file, object and field:
//   jobs.yaml: Job default/train: spec.networkTopology.mode: unknown value "medium" (want hard or
//   soft)
// An error is what can be seen in one object alone (schema, CEL, webhook field rules), two objects
// of one kind, namespace and name, or a source without any object. Kinds nobody reads are warnings,
// and so is each rule that a pod on a node breaks: of such a pod only what cannot be read (wrong
// types, bad quantities and times, its name) is an error. It counts with what can be read.
//
// COST: about 1 s for 100 MB of JSON; YAML takes some seven times as long.
[[nodiscard]] Result<ObjectSet> ParseObjects(std::span<const Source> sources);

// Everything wrong with an object of a known kind beside what its reader finds, one clause each:
// `unknown field "spec.minMembr"`. See admission/manifest_judge.h.
using Judge = std::function<std::vector<std::string>(const Kind& kind, const Value& object)>;
enum class OnFault : std::uint8_t { kFail, kWarn };

// The same for manifests that people write. What `judge` finds is an error, or with kWarn a
// warning (ObjectSet::faults). Objects that a server has accepted (metadata.resourceVersion is set)
// and pods on a node give warnings in any case; equal ones of a kind are one line. An accepted
// object that cannot be read is left out with a warning, as the scheduler of a running cluster
// does.
[[nodiscard]] Result<ObjectSet> ParseManifests(std::span<const Source> sources,
                                               const Judge& judge,
                                               OnFault on_fault);

}  // namespace strata::objects
