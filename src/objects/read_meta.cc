#include <string>
#include <vector>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {

void ReadName(const Cursor& object, Scope scope, Metadata& out) {
  const Cursor meta = object.At("metadata");
  meta.At("name").Required().Read(out.name);
  CheckDnsSubdomain(meta.At("name"), out.name);
  if (scope == Scope::kNamespaced) {
    out.ns = "default";
    meta.At("namespace").Read(out.ns);
    if (out.ns.empty()) out.ns = "default";
    CheckDnsLabel(meta.At("namespace"), out.ns);
  }
}

void ReadMetadata(const Cursor& object, Metadata& out) {
  const Cursor meta = object.At("metadata");
  meta.At("uid").Read(out.uid);
  if (out.uid.empty()) out.uid = out.name;
  ReadLabels(meta.At("labels"), out.labels);
  ReadAnnotations(meta.At("annotations"), out.annotations);
  meta.At("creationTimestamp").Read(out.created);
  meta.At("deletionTimestamp").Read(out.deleted);
  meta.At("ownerReferences").ReadList(out.owners, [](const Cursor& at, OwnerReference& owner) {
    at.At("apiVersion").Read(owner.api_version);
    at.At("kind").Read(owner.kind);
    at.At("name").Read(owner.name);
    at.At("uid").Read(owner.uid);
    at.At("controller").Read(owner.controller);
  });
}

void ReadConditions(const Cursor& at, std::vector<Condition>& out) {
  at.ReadList(out, [](const Cursor& item, Condition& condition) {
    item.At("type").Read(condition.type);
    item.At("status").Read(condition.status);
    item.At("reason").Read(condition.reason);
    item.At("message").Read(condition.message);
    item.At("transitionID").Read(condition.transition_id);
    item.At("lastTransitionTime").Read(condition.last_transition);
  });
}

}  // namespace strata::objects
