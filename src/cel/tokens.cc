#include "cel/tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/utf8.h"

namespace strata::cel {
namespace {

// Two characters before one.
constexpr std::array<std::string_view, 25> kSymbols = {
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "?", ":", ",", ".",
    "(",  ")",  "[",  "]",  "{",  "}",  "+", "-", "*", "/", "%", "="};

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsHex(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool IsCharacter(std::uint32_t code) {
  return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

void AppendUtf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U);
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

// The character that a backslash and a single letter stand for.
std::optional<char> SimpleEscape(char c) {
  constexpr std::string_view kFrom = "abfnrtv\\?\"'`";
  constexpr std::string_view kTo = "\a\b\f\n\r\t\v\\?\"'`";
  const std::size_t at = kFrom.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return kTo[at];
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    for (SkipBlanks(); at_ < text_.size(); SkipBlanks()) {
      TRY_ASSIGN(Token token, Next());
      tokens.push_back(std::move(token));
    }
    tokens.push_back({.kind = Token::Kind::kEnd, .text = "", .value = {}, .at = at_});
    return tokens;
  }

 private:
  [[nodiscard]] std::string_view Rest() const { return text_.substr(at_); }
  [[nodiscard]] char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (Rest().starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\r\n\f").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  Result<Token> Next() {
    const std::size_t begin = at_;
    if (IsDigit(Peek()) || (Peek() == '.' && IsDigit(Peek(1)))) return Number();
    const bool raw = (Peek() == 'r' || Peek() == 'R') && (Peek(1) == '"' || Peek(1) == '\'');
    if (raw) ++at_;
    if (raw || Peek() == '"' || Peek() == '\'') return Text(begin, raw);
    if (IsLetter(Peek())) {
      while (IsLetter(Peek()) || IsDigit(Peek())) ++at_;
      const std::string_view name = text_.substr(begin, at_ - begin);
      if (Peek() == '"' || Peek() == '\'') {
        return FailAt(begin, fmt::format("a string with prefix \"{}\" is not supported", name));
      }
      return Token{Token::Kind::kName, std::string(name), {}, begin};
    }
    for (const std::string_view symbol : kSymbols) {
      if (!Rest().starts_with(symbol)) continue;
      at_ += symbol.size();
      return Token{Token::Kind::kSymbol, std::string(symbol), {}, begin};
    }
    return FailAt(begin, fmt::format("unexpected character \"{}\"", FirstCharacter(Rest())));
  }

  static std::string_view FirstCharacter(std::string_view text) {
    std::size_t size = 1;
    while (size < text.size() && IsUtf8Continuation(text[size])) ++size;
    return text.substr(0, size);
  }

  Result<Token> Number() {
    const std::size_t begin = at_;
    const bool hex = Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X');
    if (hex) at_ += 2;
    const std::size_t digits = at_;
    bool whole = true;
    while (hex ? IsHex(Peek()) : IsDigit(Peek())) ++at_;
    if (!hex && Peek() == '.' && IsDigit(Peek(1))) {
      whole = false;
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    if (!hex && (Peek() == 'e' || Peek() == 'E')) {
      whole = false;
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    const std::string_view text = text_.substr(digits, at_ - digits);
    if (Peek() == 'u' || Peek() == 'U') {
      return FailAt(begin, "unsigned integers are not supported");
    }
    Token token{Token::Kind::kLiteral, "", {}, begin};
    if (!(whole ? ReadInteger(text, hex ? 16 : 10, token.value) : ReadDouble(text, token.value)) ||
        IsLetter(Peek())) {
      return FailAt(begin, "invalid number");
    }
    return token;
  }

  static bool ReadInteger(std::string_view text, int base, nlohmann::json& value) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    value = number;
    return error == std::errc{} && end == text.data() + text.size();
  }
  static bool ReadDouble(std::string_view text, nlohmann::json& value) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    value = number;
    return error == std::errc{} && end == text.data() + text.size();
  }

  Result<Token> Text(std::size_t begin, bool raw) {
    const std::string_view rest = Rest();
    const bool triple = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    const std::string_view quote = rest.substr(0, triple ? 3 : 1);
    at_ += quote.size();
    std::string out;
    while (!Rest().starts_with(quote)) {
      if (at_ >= text_.size() || (!triple && (Peek() == '\n' || Peek() == '\r'))) {
        return FailAt(begin, "string without end");
      }
      if (Peek() == '\\' && !raw) {
        TRY(Escape(out));
      } else {
        out += text_[at_++];
      }
    }
    at_ += quote.size();
    return Token{Token::Kind::kLiteral, "", std::move(out), begin};
  }

  // Reads the escape sequence at a backslash.
  Status Escape(std::string& out) {
    const std::size_t begin = at_++;
    const char kind = Peek();
    if (const std::optional<char> simple = SimpleEscape(kind)) {
      ++at_;
      out += *simple;
      return {};
    }
    std::size_t digits = 0;
    int base = 16;
    if (kind == 'x' || kind == 'X') {
      digits = 2;
    } else if (kind == 'u') {
      digits = 4;
    } else if (kind == 'U') {
      digits = 8;
    } else if (kind >= '0' && kind <= '3') {
      digits = 3;
      base = 8;
    }
    if (digits == 0) return FailAt(begin, "invalid escape sequence");  // also where the text ends
    if (base == 16) ++at_;
    const std::string_view number = Rest().substr(0, digits);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), code, base);
    const bool good = number.size() == digits && error == std::errc{} &&
                      end == number.data() + number.size() && IsCharacter(code);
    if (!good) return FailAt(begin, "invalid escape sequence");
    at_ += digits;
    AppendUtf8(code, out);
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

tl::unexpected<Error> FailAt(std::size_t offset, std::string_view what) {
  return Fail(Code::kInvalidArgument, fmt::format("{} at character {}", what, offset + 1));
}

Result<std::vector<Token>> Tokenize(std::string_view text) {
  return Tokenizer(text).Run();
}

}  // namespace strata::cel
