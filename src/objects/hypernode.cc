#include "objects/hypernode.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

using MemberKind = HyperNodeMember::Kind;

constexpr std::array<std::pair<std::string_view, MemberKind>, 2> kMemberKinds = {
    {{"Node", MemberKind::kNode}, {"HyperNode", MemberKind::kHyperNode}}};

void ReadExact(const Cursor& at, HyperNodeMember& out) {
  HyperNodeMember::Exact exact;
  at.At("name").Required().Read(exact.name);
  CheckDnsSubdomain(at.At("name"), exact.name);
  out.selector = std::move(exact);
}

void ReadPattern(const Cursor& at, HyperNodeMember& out) {
  const Cursor text = at.At("pattern");
  std::string pattern;
  text.Required().Read(pattern);
  if (!at.ok()) return;
  if (pattern.empty()) return text.Fail("want a regular expression");
  Result<NamePattern> compiled = NamePattern::Compile(pattern);
  if (!compiled) {
    return text.Fail(
        fmt::format("member regexMatch pattern is invalid: {} (want an RE2 "
                    "regular expression)",
                    compiled.error().message));
  }
  out.selector = std::move(*compiled);
}

void ReadMember(const Cursor& at, HyperNodeMember& out) {
  at.At("type").Required().ReadEnum(out.kind, kMemberKinds);
  const Cursor selector = at.At("selector");
  if (!selector.present()) return;
  const Cursor exact = selector.At("exactMatch");
  const Cursor regex = selector.At("regexMatch");
  const Cursor labels = selector.At("labelMatch");
  const int given = int{exact.present()} + int{regex.present()} + int{labels.present()};
  if (given != 1) {
    return selector.Fail(
        fmt::format("found {} selectors, want exactly one of exactMatch, "
                    "regexMatch and labelMatch",
                    given));
  }
  if (exact.present()) ReadExact(exact, out);
  if (regex.present()) ReadPattern(regex, out);
  if (labels.present()) {
    LabelSelector label_selector;
    ReadLabelSelector(labels, label_selector);
    out.selector = std::move(label_selector);
  }
}

}  // namespace

void ReadObject(const Cursor& object, HyperNode& out) {
  const Cursor spec = object.At("spec");
  out.spec.name = out.meta.name;
  spec.Required();
  spec.At("tier").Required().Read(out.spec.tier, IntRange{0, kHighestTier});
  spec.At("tierName").Read(out.spec.tier_name);
  if (out.spec.tier_name.size() > 253) {
    spec.At("tierName").Fail("too long (253 characters at most)");
  }
  const Cursor members = spec.At("members");
  members.ReadList(out.spec.members, ReadMember);
  if (out.spec.members.empty()) members.Fail("member must have at least one member");
}

}  // namespace strata::objects
