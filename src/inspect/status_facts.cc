#include "inspect/status_facts.h"

#include <algorithm>

#include "base/timestamp.h"
#include "objects/cursor.h"
#include "objects/value.h"

namespace strata::inspect {
namespace {

using objects::Cursor;
using objects::Document;
using objects::ReadLog;

kube::ObjectKey ReadKey(const Cursor& object) {
  kube::ObjectKey key;
  const Cursor meta = object.At("metadata");
  meta.At("namespace").Read(key.ns);
  meta.At("name").Read(key.name);
  return key;
}

std::optional<Time> ReadTime(const Cursor& at) {
  std::string text;
  at.Read(text);
  const auto time = ParseTimestamp(text);
  return time ? std::optional<Time>(*time) : std::nullopt;
}

void AddContainer(const Cursor& container, PodStatusFacts& facts) {
  const Cursor state = container.At("state");
  const Cursor ended = state.At("terminated");
  if (!ended.present()) return;
  if (const std::optional<Time> time = ReadTime(ended.At("finishedAt"))) {
    facts.finished = std::max(facts.finished.value_or(*time), *time);
  }
  std::int32_t code = 0;
  ended.At("exitCode").Read(code);
  if (code == 0 || facts.exit_code) return;
  facts.exit_code = code;
  if (facts.reason.empty()) ended.At("reason").Read(facts.reason);
}

}  // namespace

JobStatusFacts ReadJobStatus(std::string_view text) {
  JobStatusFacts facts;
  const Result<Document> document = Document::ParseJson(text);
  if (!document) return facts;
  ReadLog log;
  const Cursor object(document->root(), log);
  facts.key = ReadKey(object);
  const Cursor status = object.At("status");
  const Cursor state = status.At("state");
  state.At("phase").Read(facts.phase);
  state.At("reason").Read(facts.reason);
  state.At("message").Read(facts.message);
  if (facts.phase.empty()) facts.phase = "Pending";
  return facts;
}

PodStatusFacts ReadPodStatus(std::string_view text) {
  PodStatusFacts facts;
  const Result<Document> document = Document::ParseJson(text);
  if (!document) return facts;
  ReadLog log;
  const Cursor object(document->root(), log);
  facts.key = ReadKey(object);
  const Cursor status = object.At("status");
  status.At("reason").Read(facts.reason);
  facts.started = ReadTime(status.At("startTime"));
  status.At("containerStatuses").ForEach([&](const Cursor& container) {
    AddContainer(container, facts);
  });
  return facts;
}

}  // namespace strata::inspect
