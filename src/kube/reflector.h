#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/delta.h"
#include "kube/reflector_state.h"
#include "net/line_splitter.h"
#include "net/transport.h"

namespace strata::kube {

// Carries out what a ReflectorState decides, on the thread of client.reads(). Made, started and
// stopped by Informers.
class Reflector final : public std::enable_shared_from_this<Reflector> {
 public:
  using OnDeltas = std::function<void(std::vector<Delta>)>;
  // One line per failure that made it try again ("pods: connection refused"), and per object that
  // nobody here can read ("pods: ns/name: passed over: nested deeper than 500 levels").
  using OnTrouble = std::function<void(const std::string&)>;

  struct Hooks {
    OnDeltas deltas;
    OnTrouble trouble;  // may be empty
  };
  // How long an answer may bring nothing before it counts as dead.
  struct Patience {
    Duration silence = std::chrono::seconds(120);  // bookmarks come about every minute
    // For the first objects of a list that is streamed: a server that does not know
    // sendInitialEvents ignores it, and says nothing more.
    Duration initial = std::chrono::seconds(30);
  };
  Reflector(Client& client, ReflectorState state, Hooks hooks, Random random, Patience patience);

  // On the thread.
  void Start();
  void Stop();  // no hook is called afterwards
  [[nodiscard]] const ReflectorState& state() const { return state_; }

 private:
  class Answer;

  void Ask();
  void Finish(const ReflectorState::End& end);
  void Tell(std::vector<Delta> deltas);
  void WatchForSilence(std::uint64_t lines_before);
  [[nodiscard]] Status TakePiece(std::string_view piece, net::LineSplitter& lines);
  [[nodiscard]] Status TakeBody(std::string body);

  Client& client_;
  net::Transport& transport_;
  ReflectorState state_;
  Hooks hooks_;
  Random random_;
  Patience patience_;
  bool stopped_ = false;
  net::RequestId request_{};
  net::TimerId silence_timer_{};
  std::uint64_t lines_ = 0;  // of the stream under way
  bool too_silent_ = false;
};

}  // namespace strata::kube
