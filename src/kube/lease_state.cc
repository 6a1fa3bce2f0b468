#include "kube/lease_state.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "json/dump.h"
#include "json/parse.h"
#include "kube/resource.h"
#include "objects/value.h"

namespace strata::kube {
namespace {

using LeaseJson = nlohmann::ordered_json;
using objects::Value;

constexpr std::chrono::seconds kGivenUp(1);  // the duration that a holder leaves as it goes

std::int64_t IntegerIn(const std::optional<Value>& spec, std::string_view key) {
  if (!spec || spec->type() != Value::Type::kObject) return 0;
  const auto found = spec->Find(key);
  return found && found->type() == Value::Type::kInteger ? found->AsInteger() : 0;
}

std::string TextIn(const std::optional<Value>& object, std::string_view key) {
  if (!object || object->type() != Value::Type::kObject) return "";
  const auto found = object->Find(key);
  return found && found->type() == Value::Type::kString ? std::string(found->AsString()) : "";
}

}  // namespace

Duration LeaseState::Patience() const {
  return std::max(settings_.duration, their_duration_);
}

LeaseState::Step LeaseState::Next(net::SteadyTime now) const {
  if (known_ == Known::kNothing) return Step::kRead;
  if (known_ == Known::kMissing) return Step::kCreate;
  const bool given_up = holder_.empty() && their_duration_ <= kGivenUp;
  if (given_up || holder_ == settings_.identity) return Step::kUpdate;
  return now - observed_ >= Patience() ? Step::kUpdate : Step::kWait;
}

std::string LeaseState::Body(Time wall) const {
  LeaseJson lease;
  if (known_ == Known::kLease) lease = ParseOrderedJsonOrNull(text_);
  if (!lease.is_object()) {
    lease = {{"kind", "Lease"}, {"apiVersion", ApiVersion(kLeases)}};
    lease["metadata"] = {{"name", settings_.name}, {"namespace", settings_.ns}};
  }
  LeaseJson spec = lease.value("spec", LeaseJson::object());
  if (!spec.is_object()) spec = LeaseJson::object();
  const auto transitions = spec.find("leaseTransitions");
  const bool counted = transitions != spec.end() && transitions->is_number_integer();
  constexpr std::int64_t kMaxTransitions = 1'000'000'000;  // it is an int32, and anybody's to set
  const std::int64_t before =
      counted ? std::clamp<std::int64_t>(transitions->get<std::int64_t>(), 0, kMaxTransitions) : 0;
  const std::string now = FormatMicroTime(wall);
  if (holder_ != settings_.identity || known_ != Known::kLease) {
    spec["acquireTime"] = now;
    spec["leaseTransitions"] = known_ == Known::kLease ? before + 1 : 0;
  }
  spec["holderIdentity"] = settings_.identity;
  spec["leaseDurationSeconds"] =
      // Rounded up: others wait only as long as it says.
      std::chrono::ceil<std::chrono::seconds>(settings_.duration).count();
  spec["renewTime"] = now;
  lease["spec"] = std::move(spec);
  return DumpJson(lease);
}

std::optional<std::string> LeaseState::ReleaseBody(Time wall, net::SteadyTime now) const {
  if (known_ != Known::kLease || holder_ != settings_.identity) return std::nullopt;
  LeaseJson lease = ParseOrderedJsonOrNull(Body(wall));
  if (!lease.is_object()) return std::nullopt;
  lease["spec"]["holderIdentity"] = "";
  if (!leads_from_ || now >= *leads_from_) {
    lease["spec"]["leaseDurationSeconds"] = kGivenUp.count();
  }
  return DumpJson(lease);
}

Status LeaseState::Observe(const std::string& text, net::SteadyTime now) {
  TRY_ASSIGN(const objects::Document document, objects::Document::ParseJson(text));
  const Value root = document.root();
  if (root.type() != Value::Type::kObject) return Fail(Code::kInvalidArgument, "want a Lease");
  const std::string version = TextIn(root.Find("metadata"), "resourceVersion");
  if (version.empty()) return Fail(Code::kInvalidArgument, "want a Lease with a resourceVersion");
  const auto spec = root.Find("spec");
  if (version != version_) observed_ = now;
  version_ = version;
  holder_ = TextIn(spec, "holderIdentity");
  const bool ours = holder_ == settings_.identity;
  if (!ours) leads_until_.reset();  // somebody took it by hand
  const bool made = std::exchange(was_missing_, false) && ours;
  if (made) leads_from_ = now + Patience();
  if (!ours) leads_from_.reset();
  constexpr std::int64_t kMaxSeconds = 86'400;
  their_duration_ = std::chrono::seconds(
      std::clamp<std::int64_t>(IntegerIn(spec, "leaseDurationSeconds"), 0, kMaxSeconds));
  text_ = text;
  known_ = Known::kLease;
  return {};
}

Status LeaseState::TakeRead(const std::string& text, net::SteadyTime now) {
  return Observe(text, now);
}

void LeaseState::TakeMissing() {
  known_ = Known::kMissing;
  was_missing_ = true;
  holder_.clear();
  version_.clear();
  leads_until_.reset();
}

Status LeaseState::TakeWritten(const std::string& text, net::SteadyTime sent, net::SteadyTime now) {
  known_ = Known::kNothing;
  TRY(Observe(text, now));
  if (holder_ == settings_.identity) leads_until_ = sent + settings_.renew;
  return {};
}

void LeaseState::TakeFailure() {
  known_ = Known::kNothing;
}

}  // namespace strata::kube
