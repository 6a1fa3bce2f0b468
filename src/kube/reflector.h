#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/delta.h"
#include "kube/reflector_state.h"
#include "kube/watch_trouble.h"
#include "net/line_splitter.h"
#include "net/transport.h"

namespace strata::kube {

// Carries out what a ReflectorState decides, on the thread of client.reads(). Made, started and
// stopped by Informers.
//
// A request that the server took and that brought nothing until its time was over may have gone
// over a connection that is dead, though the peer acknowledges: all connections are closed then,
// and the next request opens a new one.
class Reflector final : public std::enable_shared_from_this<Reflector> {
 public:
  using OnDeltas = std::function<void(std::vector<Delta>)>;
  // Told of each failure that made it try again, and of each object that cannot be read.
  using OnTrouble = std::function<void(const WatchTrouble&)>;

  // Whether what was told is up to date: lost when nothing came for too long, not even a bookmark,
  // regained when everything has been read again.
  enum class Sight : std::uint8_t { kLost, kRegained };
  using OnSight = std::function<void(int source, Sight)>;

  struct Hooks {
    OnDeltas deltas;
    OnTrouble trouble;  // may be empty
    OnSight sight;      // may be empty
  };
  // How long an answer may bring nothing before it counts as dead.
  struct Patience {
    Duration silence = std::chrono::seconds(120);  // bookmarks come about every minute
    // For the first objects of a list that is streamed: a server that does not know
    // sendInitialEvents ignores it, and says nothing more.
    Duration initial = std::chrono::seconds(30);
    // For what CatchUp waits for, before everything is listed again.
    Duration behind = std::chrono::seconds(1);
  };
  Reflector(Client& client, ReflectorState state, Hooks hooks, Random random, Patience patience);

  // On the thread.
  void Start();
  void Stop();  // no hook is called afterwards
  // Asks the server for the version of the collection, and sees to it that everything up to there
  // is told, with kCaughtUp at the end. Where the watch does not come so far soon (an idle
  // collection has no events, and a bookmark per minute), everything is listed again.
  void CatchUp();
  [[nodiscard]] const ReflectorState& state() const { return state_; }

 private:
  class Answer;

  void Ask();
  void TakeVersion(Reply reply);
  void ListAgainIfBehind();
  void Finish(const ReflectorState::End& end);
  void Tell(std::vector<Delta> deltas);
  void Report(WatchTrouble::Kind kind, std::string message, Failure failure = {});
  void NoteSight();
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
  bool under_way_ = false;   // request_
  bool is_dropped_ = false;  // what it brings
  net::RequestId request_{};
  net::TimerId silence_timer_{};
  std::uint64_t lines_ = 0;  // of the stream under way
  bool too_silent_ = false;
  bool overdue_ = false;  // nothing came for too long, and not everything was read since
  bool is_dead_ = false;  // the connection of the last answer
};

}  // namespace strata::kube
