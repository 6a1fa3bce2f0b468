#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "discovery/reader.h"

namespace strata::controllers {

// What the outside answered in one pass of a source, in order. Slow answers are gathered on a
// thread of their own; what follows from them is worked out afterwards, from the cluster as it is
// then.
struct ReaderAnswers {
  using Answer = std::variant<Result<std::string>,
                              Result<std::map<std::string, std::string>>,
                              Result<discovery::CommandOutput>,
                              Result<discovery::HttpAnswer>,
                              Status>;
  std::deque<Answer> answers;
};

// A reader that passes everything on and writes the answers down. `into` must outlive it.
[[nodiscard]] std::unique_ptr<discovery::Reader> Recording(std::unique_ptr<discovery::Reader> real,
                                                           ReaderAnswers& into);
// A reader that gives the same answers again; kUnavailable for a question that was not asked.
[[nodiscard]] std::unique_ptr<discovery::Reader> Replaying(ReaderAnswers answers);

}  // namespace strata::controllers
