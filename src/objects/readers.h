#pragma once

#include <string_view>
#include <vector>

#include "model/constraints.h"
#include "model/selector.h"
#include "objects/cursor.h"
#include "objects/kinds.h"
#include "objects/object_set.h"
#include "objects/topology.h"

// How each type is read from a document. A reader fills in the defaults of the API server and of
// Volcano's webhooks, and records the first thing that is wrong with the object alone, or, of a pod
// that has its node, notes what is wrong and reads on (cursor.h).
namespace strata::objects {

// `object` is the whole object: its name and namespace, and after them the rest of its metadata but
// kind and source.
void ReadName(const Cursor& object, Scope scope, Metadata& out);
void ReadMetadata(const Cursor& object, Metadata& out);
void ReadConditions(const Cursor& at, std::vector<Condition>& out);
// metav1.LabelSelector: matchLabels and matchExpressions, values sorted.
void ReadLabelSelector(const Cursor& at, LabelSelector& out);
void ReadNodeSelectorTerms(const Cursor& at, std::vector<NodeSelectorTerm>& out);
void ReadTaint(const Cursor& at, Taint& out);
void ReadToleration(const Cursor& at, Toleration& out);
void ReadNodeAffinity(const Cursor& at, NodeAffinity& out);
void ReadPodAffinity(const Cursor& at, PodAffinity& out);
void ReadSpreadConstraint(const Cursor& at, TopologySpreadConstraint& out);
void ReadContainer(const Cursor& at, Container& out);
void ReadClaimSpec(const Cursor& at, ClaimSpec& out);
void ReadPodSpec(const Cursor& at, PodSpec& out);
void ReadPreemptionPolicy(const Cursor& at, PreemptionPolicy& out);
void ReadNetworkTopology(const Cursor& at, NetworkTopology& out);
void ReadLifecyclePolicies(const Cursor& at, std::vector<LifecyclePolicy>& out);

// Whole objects; the metadata is read already.
void ReadObject(const Cursor& object, Node& out);
void ReadObject(const Cursor& object, Pod& out);
void ReadObject(const Cursor& object, Namespace& out);
void ReadObject(const Cursor& object, ConfigMap& out);
void ReadObject(const Cursor& object, Secret& out);
void ReadObject(const Cursor& object, PersistentVolume& out);
void ReadObject(const Cursor& object, PersistentVolumeClaim& out);
void ReadObject(const Cursor& object, ResourceQuota& out);
void ReadObject(const Cursor& object, StorageClass& out);
void ReadObject(const Cursor& object, CsiNode& out);
void ReadObject(const Cursor& object, PriorityClass& out);
void ReadObject(const Cursor& object, PodDisruptionBudget& out);
void ReadObject(const Cursor& object, PodGroup& out);
void ReadObject(const Cursor& object, Queue& out);
void ReadObject(const Cursor& object, HyperNode& out);
void ReadObject(const Cursor& object, Job& out);
void ReadObject(const Cursor& object, NumaTopology& out);

}  // namespace strata::objects
