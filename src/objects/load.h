#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "objects/object_set.h"

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

}  // namespace strata::objects
