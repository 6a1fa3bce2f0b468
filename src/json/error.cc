#include "json/error.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace strata {
namespace {

using Json = nlohmann::json;

constexpr int kNumberOverflow = 406;  // the library's id

// Accepts every value and keeps the first error.
class ErrorFinder : public Json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(Json::number_integer_t /*value*/) override { return true; }
  bool number_unsigned(Json::number_unsigned_t /*value*/) override { return true; }
  bool number_float(Json::number_float_t /*value*/, const std::string& /*text*/) override {
    return true;
  }
  bool string(std::string& /*value*/) override { return true; }
  bool binary(Json::binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return true; }
  bool key(std::string& /*value*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*size*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position,
                   const std::string& /*last_token*/,
                   const Json::exception& error) override {
    position_ = position;
    message_ = error.id == kNumberOverflow ? ": found a number beyond 64 bits, want a smaller one"
                                           : error.what();
    return false;
  }

  [[nodiscard]] std::size_t position() const { return position_; }
  // Without the library's own preamble "[json.exception...] parse error at line ...: ", and without
  // the text that was read last, which may be part of a Secret.
  [[nodiscard]] std::string message() const {
    const std::size_t preamble = message_.find(": ");
    const std::size_t start = preamble == std::string::npos ? 0 : preamble + 2;
    const std::size_t end = std::min(message_.find("; last read:", start), message_.size());
    return message_.substr(start, end - start);
  }

 private:
  std::size_t position_ = 0;
  std::string message_;
};

}  // namespace

std::string LineAndColumn(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n');
  const std::size_t column =
      start == std::string_view::npos ? before.size() + 1 : before.size() - start;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string DescribeJsonError(std::string_view text) {
  ErrorFinder finder;
  if (Json::sax_parse(text.begin(), text.end(), &finder)) return "";
  const std::size_t offset = finder.position() == 0 ? 0 : finder.position() - 1;
  return LineAndColumn(text, offset) + ": " + finder.message();
}

}  // namespace strata
