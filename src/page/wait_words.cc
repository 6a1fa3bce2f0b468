#include <charconv>

#include "objects/waiting_advice.h"
#include "page/cluster_columns.h"

namespace strata::page {
namespace {

// Reads a text from its front.
class Front {
 public:
  explicit Front(std::string_view text) : rest_(text) {}

  bool Skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // Up to `mark`, which is passed over; false when it does not come.
  bool TakeTo(std::string_view mark, std::string& out) {
    const std::size_t at = rest_.find(mark);
    if (at == std::string_view::npos) return false;
    out = rest_.substr(0, at);
    rest_.remove_prefix(at + mark.size());
    return true;
  }
  template <typename Number>
  bool Take(Number& out) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }

 private:
  std::string_view rest_;
};

// "HyperNode s1 (tier 1) takes 2 of 4"
bool TakeMiss(Front& text, WaitWords::Miss& miss) {
  return text.Skip("HyperNode ") && text.TakeTo(" (tier ", miss.hypernode) &&
         text.Take(miss.tier) && text.Skip(") takes ") && text.Take(miss.takes) &&
         text.Skip(" of ") && text.Take(miss.of);
}

}  // namespace

WaitWords ReadWaitWords(std::string_view message) {
  WaitWords words;
  words.message = objects::WithoutAdvice(message);
  if (words.message.size() < message.size()) {
    words.helps = message.substr(words.message.size() + objects::kAdvice.size());
  }
  constexpr std::string_view kNearest = "; nearest: ";
  const std::size_t at = words.message.find(kNearest);
  if (at == std::string::npos) return words;
  Front text(std::string_view(words.message).substr(at + kNearest.size()));
  WaitWords::Miss miss;
  do {
    if (!TakeMiss(text, miss)) break;
    words.nearest.push_back(miss);
  } while (text.Skip(", "));
  return words;
}

}  // namespace strata::page
