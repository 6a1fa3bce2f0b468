#include "kube/reflector_state.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "objects/value.h"

namespace strata::kube {
namespace {

constexpr int kShortestWatch = 300;  // seconds; each asks for up to twice that, by chance
constexpr int kPatience = 3;         // failures of a kind before another way is tried

// Versions are numbers on every server there is; where one is not, nothing is concluded.
bool IsOlder(std::string_view version, std::string_view than) {
  constexpr std::int64_t kMax = INT64_MAX;
  const auto a = WholeNumber(version, kMax);
  const auto b = WholeNumber(than, kMax);
  return a && b && *a < *b;
}

bool IsAsNew(std::string_view version, std::string_view as) {
  return version == as || IsOlder(as, version);
}

// From a Status in an ERROR event.
int CodeOfStatus(std::string_view status) {
  const auto document = objects::Document::ParseJson(status);
  if (!document || document->root().type() != objects::Value::Type::kObject) return 0;
  const auto code = document->root().Find("code");
  if (!code || code->type() != objects::Value::Type::kInteger) return 0;
  return static_cast<int>(std::clamp<std::int64_t>(code->AsInteger(), 0, 999));
}

// Whether a refusal says that the server cannot stream lists, rather than that it has troubles.
bool MeansUnsupported(int http_status) {
  return http_status == 400 || http_status == 404 || http_status == 405 || http_status == 422;
}

}  // namespace

ReflectorState::ReflectorState(WatchSpec spec, Settings settings)
    : spec_(std::move(spec)),
      settings_(settings),
      backoff_(settings.backoff),
      may_stream_(settings.streaming == Streaming::kTry) {
  LookAtEverything();
}

void ReflectorState::LookAtEverything() {
  asking_ = may_stream_ ? Asking::kInitialEvents : Asking::kPage;
  next_.clear();
  version_.clear();
}

Call ReflectorState::NextCall(const Random& random) {
  progress_ = false;
  heard_ = false;
  ListOptions options{spec_.label_selector, spec_.field_selector, 0, ""};
  if (asking_ == Asking::kPage) {
    if (next_.empty()) ++round_;
    options.limit = in_pages_ ? settings_.page_size : 0;
    options.next = next_;
    return ListCall(spec_.resource, spec_.ns, options);
  }
  Call call = ListCall(spec_.resource, spec_.ns, options);
  const int seconds = kShortestWatch + static_cast<int>(random() * kShortestWatch);
  if (!call.query.empty()) call.query += '&';
  call.query += "watch=true&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(seconds);
  if (asking_ == Asking::kInitialEvents) {
    ++round_;
    call.query += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  } else {
    call.query += "&resourceVersion=" + Escape(version_);
  }
  call.timeout = std::chrono::seconds(seconds + 30);
  return call;
}

Status ReflectorState::TakePage(std::string body, std::vector<Delta>& out) {
  TRY_ASSIGN(const ListPage page, CutList(body));
  // All heads first: a page counts whole or not at all.
  std::vector<ObjectHead> heads;
  heads.reserve(page.items.size());
  for (const std::string_view item : page.items) {
    TRY_ASSIGN(ObjectHead head, ReadHead(item));
    if (head.key.name.empty()) {
      return Fail(Code::kInvalidArgument, "metadata.name: want a string");
    }
    heads.push_back(std::move(head));
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (!heads[i].unreadable.empty()) {
      Skip(heads[i], out);
    } else {
      Store(heads[i], ItemText(page.items[i], heads[i], page), out);
    }
  }
  progress_ = true;
  next_ = page.next;
  if (next_.empty()) FinishListing(page.version, out);
  return {};
}

void ReflectorState::FinishListing(std::string version, std::vector<Delta>& out) {
  for (auto at = known_.begin(); at != known_.end();) {
    if (at->second.round == round_) {
      ++at;
      continue;
    }
    out.push_back(MakeDelta(Delta::Type::kDeleted, at->first, at->second));
    at = known_.erase(at);
  }
  if (!std::exchange(synced_, true)) out.push_back(MakeDelta(Delta::Type::kSynced, {}, {}));
  asking_ = Asking::kChanges;
  in_pages_ = true;
  version_ = std::move(version);
  useless_ = 0;
  progress_ = true;
  CheckGoal(out);
}

void ReflectorState::CatchUpTo(std::string version, std::vector<Delta>& out) {
  goal_ = Goal{std::move(version), round_};
  CheckGoal(out);
}

void ReflectorState::CheckGoal(std::vector<Delta>& out) {
  if (!goal_ || asking_ != Asking::kChanges) return;
  if (round_ == goal_->round && !IsAsNew(version_, goal_->version)) return;
  goal_.reset();
  out.push_back(MakeDelta(Delta::Type::kCaughtUp, {}, {}));
}

Delta ReflectorState::MakeDelta(Delta::Type type, const ObjectKey& key, const Known& known) const {
  Delta delta;
  delta.type = type;
  delta.source = settings_.source;
  delta.key = key;
  delta.uid = known.uid;
  delta.version = known.version;
  return delta;
}

void ReflectorState::Store(const ObjectHead& head, std::string text, std::vector<Delta>& out) {
  const auto [at, is_new] = known_.try_emplace(head.key);
  Known& known = at->second;
  known.round = round_;
  auto type = Delta::Type::kAdded;
  if (!is_new) {
    if (known.version == head.version && known.uid == head.uid) return;
    if (known.uid == head.uid) {
      type = Delta::Type::kModified;
    } else {
      out.push_back(MakeDelta(Delta::Type::kDeleted, head.key, known));
    }
  }
  known.uid = head.uid;
  known.version = head.version;
  Delta delta = MakeDelta(type, head.key, known);
  delta.text = std::move(text);
  out.push_back(std::move(delta));
}

void ReflectorState::Skip(const ObjectHead& head, std::vector<Delta>& out) {
  const std::string ns = head.key.ns.empty() ? "" : head.key.ns + '/';
  skipped_.push_back(ns + head.key.name + ": skipped: " + head.unreadable);
  Remove(head, "", out);
}

void ReflectorState::Remove(const ObjectHead& head, std::string text, std::vector<Delta>& out) {
  const auto at = known_.find(head.key);
  if (at == known_.end()) return;
  Delta delta = MakeDelta(Delta::Type::kDeleted, head.key, at->second);
  delta.version = head.version;
  delta.text = std::move(text);
  known_.erase(at);
  out.push_back(std::move(delta));
}

Status ReflectorState::TakeLine(std::string line, std::vector<Delta>& out) {
  if (line.empty()) return {};
  heard_ = true;
  TRY_ASSIGN(const WatchLine event, CutWatchLine(line));
  if (event.type == "ERROR") return TakeErrorEvent(event.object);
  TRY_ASSIGN(const ObjectHead head, ReadHead(event.object));
  if (event.type == "BOOKMARK") return TakeBookmark(head, out);
  if (head.key.name.empty()) return Fail(Code::kInvalidArgument, "metadata.name: want a string");
  const bool gone = event.type == "DELETED";
  if (!gone && event.type != "ADDED" && event.type != "MODIFIED") {
    return Fail(Code::kInvalidArgument, "type: not one of a watch");
  }
  if (!head.unreadable.empty()) {
    Skip(head, out);
  } else if (!gone) {
    Store(head, std::string(event.object), out);
  } else {
    Remove(head, std::string(event.object), out);
  }
  // Initial events come in no order of versions: only their end says where they stand.
  if (asking_ != Asking::kChanges) return {};
  version_ = head.version;
  progress_ = true;
  CheckGoal(out);
  return {};
}

Status ReflectorState::TakeBookmark(const ObjectHead& head, std::vector<Delta>& out) {
  if (asking_ == Asking::kInitialEvents) {
    if (head.ends_initial_events) FinishListing(head.version, out);
    return {};
  }
  if (IsOlder(head.version, version_)) {
    const std::string ours = version_;
    LookAtEverything();
    return Fail(Code::kGone,
                "the server is at version " + head.version + ", older than " + ours +
                    ", which it returned before");
  }
  progress_ = progress_ || head.version != version_;
  version_ = head.version;
  CheckGoal(out);
  return {};
}

Status ReflectorState::TakeErrorEvent(std::string_view status) {
  const int code = CodeOfStatus(status);
  const Failure failure = ReadFailure(code, {}, status);
  if (asking_ == Asking::kInitialEvents && code != 410 && code != 429) may_stream_ = false;
  LookAtEverything();
  return tl::unexpected(failure.error);
}

void ReflectorState::AfterRefusal(const Failure& failure) {
  const int status = failure.http_status;
  if (status == 0 || status == 401 || status == 403 || status == 408 || status == 429) return;
  // A snapshot that went away between two pages may do so again: take the next in one piece.
  if (asking_ == Asking::kPage && status == 410) in_pages_ = false;
  if (asking_ == Asking::kInitialEvents && MeansUnsupported(status)) may_stream_ = false;
  if (status < 500 || failure.IsVersionTooLarge()) {
    LookAtEverything();
  } else {
    AfterUselessAnswer();
  }
}

void ReflectorState::AfterUselessAnswer() {
  if (++useless_ < kPatience) return;
  useless_ = 0;
  if (asking_ == Asking::kInitialEvents) may_stream_ = false;
  LookAtEverything();
}

Duration ReflectorState::TakeEnd(const End& end, const Random& random) {
  if (progress_) {
    backoff_.Reset();
    useless_ = 0;
  }
  switch (end.kind) {
    case End::Kind::kComplete:
      if (progress_) return Duration(0);
      // A watch from a version of the future ends like that, without even a bookmark.
      if (asking_ != Asking::kPage && !heard_) AfterUselessAnswer();
      break;
    case End::Kind::kRefused:
      AfterRefusal(end.failure);
      break;
    case End::Kind::kCut:
      if (asking_ == Asking::kInitialEvents) AfterUselessAnswer();
      break;
    case End::Kind::kSilent:
      // Not even a bookmark: nothing that this stream said is worth a second one like it.
      if (asking_ == Asking::kInitialEvents) may_stream_ = false;
      if (asking_ != Asking::kPage) LookAtEverything();
      break;
    case End::Kind::kUnusable:
      if (asking_ == Asking::kPage) LookAtEverything();
      AfterUselessAnswer();
      break;
  }
  const Duration wait = backoff_.Next(random);
  return std::max(wait, end.failure.retry_after.value_or(Duration(0)));
}

}  // namespace strata::kube
