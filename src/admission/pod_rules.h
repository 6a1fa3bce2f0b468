#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "admission/problems.h"

// The rules of a pod's spec, for Pods and for the templates of Jobs.
namespace strata::admission {

// The defaults that depend on other fields (static ones are the schema's): imagePullPolicy by the
// tag, requests from limits, host ports of the host network, an emptyDir for a volume without
// source; serviceAccountName and its old name.
// REQUIRES: `spec` is an object.
void SetPodSpecDefaults(nlohmann::json& spec);
// A pod stays for five minutes on a node that is not ready or not reachable, unless it says
// otherwise. For pods only, new or updated; not for templates.
void AddDefaultTolerations(nlohmann::json& spec);

// Adds what is wrong with a spec to `problems`; `field` is the way to it ("spec"). A field that is
// missing and has a default is fine.
void CheckPodSpec(const nlohmann::json& spec, const std::string& field, Problems& problems);

// The parts of CheckPodSpec that have files of their own.
void CheckContainers(const nlohmann::json& spec, const std::string& field, Problems& problems);
void CheckContainerResources(const nlohmann::json& resources,
                             const std::string& field,
                             Problems& problems);
void CheckTolerations(const nlohmann::json& tolerations,
                      const std::string& field,
                      Problems& problems);

// "Guaranteed", "Burstable" or "BestEffort".
[[nodiscard]] std::string QosClassOf(const nlohmann::json& spec);

}  // namespace strata::admission
