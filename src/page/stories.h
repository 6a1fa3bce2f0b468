#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "kube/mailbox.h"
#include "net/transport.h"
#include "page/story_json.h"
#include "page/worker.h"

namespace strata::page {

// Stories of jobs, found out beside everything else: one at a time, each once for every verdict,
// and given up when nobody asks any more. For the thread that serves the mailbox.
class Stories {
 public:
  using MakeCase = std::function<std::shared_ptr<const StoryCase>()>;

  explicit Stories(std::shared_ptr<kube::Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  struct Question {
    std::string group;     // "namespace/podgroup"
    std::string verdict;   // another one makes an answer out of date
    std::string sentence;  // what is known without a search
    std::string reason;
    std::string phase;
  };
  // The story as far as it is known: at first what the verdict says, then the search, then what
  // would help ("state": "computing", "done", or "failed").
  [[nodiscard]] std::string Tell(const Question& question,
                                 const MakeCase& make_case,
                                 net::SteadyTime now);
  // Gives up what nobody has asked for lately, and forgets what is old.
  void Tidy(net::SteadyTime now);

 private:
  struct Entry {
    std::string verdict;
    std::string answer;  // "" as long as nothing but the verdict is known
    bool is_done = false;
    std::stop_source stop;
    net::SteadyTime began{};
    net::SteadyTime asked{};
    std::uint64_t number = 0;
  };

  void Begin(const Question& question, const MakeCase& make_case, Entry& entry);
  void Take(const std::string& group, std::uint64_t number, std::string answer, bool is_done);

  std::shared_ptr<kube::Mailbox> mailbox_;
  std::map<std::string, Entry> entries_;  // by group
  std::uint64_t last_ = 0;
  Worker worker_{"stories", 32};  // last: it is over before the rest goes
};

}  // namespace strata::page
