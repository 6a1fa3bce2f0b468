#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/call.h"
#include "kube/delta.h"
#include "kube/failure.h"
#include "kube/pacing.h"
#include "kube/resource.h"

namespace strata::kube {

// What an informer looks at.
struct WatchSpec {
  Resource resource;
  std::string ns;  // "" every namespace
  std::string label_selector;
  std::string field_selector;
};

// The decisions of a reflector, without any effect: what to ask next, what an answer means for the
// consumer, how long to wait. It follows one collection of an API server: first what is there
// (streamed where the server can, in pages otherwise), then every change from that version on. A
// cut connection goes on from the last version; a version that the server has forgotten, an error
// in the stream, a server that went back in time or sends nonsense lead to a new look at
// everything, of which the consumer sees the difference only.
//
// Keeps key, uid and version of each object, not its text.
class ReflectorState {
 public:
  enum class Streaming : std::uint8_t { kTry, kNever };
  struct Settings {
    int source = 0;
    int page_size = 500;
    Streaming streaming = Streaming::kTry;
    Backoff::Limits backoff;
  };
  ReflectorState(WatchSpec spec, Settings settings);

  enum class Asking : std::uint8_t {
    kPage,           // an answer with a body: TakePage
    kInitialEvents,  // a stream that starts with all objects: TakeLine
    kChanges,        // a stream: TakeLine
  };
  [[nodiscard]] Asking asking() const { return asking_; }
  [[nodiscard]] Call NextCall(const Random& random);

  // Each appends to `out` what the consumer is to hear. An error means that the answer cannot be
  // used: end it and say so by TakeEnd.
  [[nodiscard]] Status TakePage(std::string body, std::vector<Delta>& out);
  [[nodiscard]] Status TakeLine(std::string line, std::vector<Delta>& out);

  // Objects that were passed over since this was last asked, one line each: "ns/name: nested deeper
  // than 500 levels". To the consumer such an object is not there.
  [[nodiscard]] std::vector<std::string> TakeSkipped() { return std::exchange(skipped_, {}); }

  // How the answer to the last call ended.
  struct End {
    enum class Kind : std::uint8_t {
      kComplete,  // as it should
      kRefused,   // `failure`: an HTTP code, or no answer
      kCut,       // `failure`: a stream that broke off
      kSilent,    // nothing came for too long
      kUnusable,  // TakePage or TakeLine said so
    };
    Kind kind = Kind::kComplete;
    Failure failure;
  };
  // How long to wait before NextCall.
  [[nodiscard]] Duration TakeEnd(const End& end, const Random& random);

  // The consumer is to hear kCaughtUp when it has been told everything up to `version`: by a list,
  // an event or a bookmark that is as new, or by a list that is asked for from now on. "": only by
  // such a list.
  void CatchUpTo(std::string version, std::vector<Delta>& out);
  // CatchUpTo was asked for, and is not reached.
  [[nodiscard]] bool IsBehind() const { return goal_.has_value(); }
  // The next call looks at everything again. The answer under way is to be dropped first.
  void LookAtEverything();

  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] std::size_t size() const { return known_.size(); }
  [[nodiscard]] const WatchSpec& spec() const { return spec_; }
  [[nodiscard]] int source() const { return settings_.source; }

 private:
  struct Known {
    std::string uid;
    std::string version;
    std::uint64_t round = 0;  // the listing that last had it
  };
  struct Goal {
    std::string version;
    std::uint64_t round = 0;  // of the last listing that was asked for before
  };

  void FinishListing(std::string version, std::vector<Delta>& out);
  void Store(const ObjectHead& head, std::string text, std::vector<Delta>& out);
  void Skip(const ObjectHead& head, std::vector<Delta>& out);
  void Remove(const ObjectHead& head, std::string text, std::vector<Delta>& out);
  [[nodiscard]] Status TakeBookmark(const ObjectHead& head, std::vector<Delta>& out);
  void CheckGoal(std::vector<Delta>& out);
  [[nodiscard]] Status TakeErrorEvent(std::string_view status);
  void AfterRefusal(const Failure& failure);
  void AfterUselessAnswer();
  Delta MakeDelta(Delta::Type type, const ObjectKey& key, const Known& known) const;

  WatchSpec spec_;
  Settings settings_;
  Backoff backoff_;
  Asking asking_ = Asking::kPage;
  bool may_stream_;
  bool in_pages_ = true;
  bool synced_ = false;
  bool progress_ = false;  // since the last call
  bool heard_ = false;     // a line since the last call
  int useless_ = 0;        // answers in a row that could not be used
  std::uint64_t round_ = 0;
  std::string next_;     // of the listing under way
  std::string version_;  // changes are asked for from here
  std::optional<Goal> goal_;
  std::map<ObjectKey, Known> known_;
  std::vector<std::string> skipped_;
};

}  // namespace strata::kube
