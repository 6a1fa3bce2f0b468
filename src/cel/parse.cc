#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cel/syntax.h"
#include "cel/tokens.h"

namespace strata::cel {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{16} << 10U;

// Words that CEL keeps for itself.
constexpr std::array<std::string_view, 17> kReserved = {"as",
                                                        "break",
                                                        "const",
                                                        "continue",
                                                        "else",
                                                        "for",
                                                        "function",
                                                        "if",
                                                        "import",
                                                        "let",
                                                        "loop",
                                                        "package",
                                                        "namespace",
                                                        "return",
                                                        "var",
                                                        "void",
                                                        "while"};

struct Binary {
  std::string_view symbol;
  int precedence;
  Op op;
};
constexpr int kWeakest = 1;
constexpr std::array<Binary, 14> kBinary = {{{"||", 1, Op::kOr},
                                             {"&&", 2, Op::kAnd},
                                             {"==", 3, Op::kEqual},
                                             {"!=", 3, Op::kNotEqual},
                                             {"<", 3, Op::kLess},
                                             {"<=", 3, Op::kLessOrEqual},
                                             {">", 3, Op::kGreater},
                                             {">=", 3, Op::kGreaterOrEqual},
                                             {"in", 3, Op::kIn},
                                             {"+", 4, Op::kAdd},
                                             {"-", 4, Op::kSubtract},
                                             {"*", 5, Op::kMultiply},
                                             {"/", 5, Op::kDivide},
                                             {"%", 5, Op::kModulo}}};

// Functions that are called as `value.name(...)`.
struct Method {
  std::string_view name;
  Op op;
  std::size_t arguments;
};
constexpr std::array<Method, 8> kMethods = {{{"all", Op::kAll, 2},
                                             {"contains", Op::kContains, 1},
                                             {"endsWith", Op::kEndsWith, 1},
                                             {"exists", Op::kExists, 2},
                                             {"exists_one", Op::kExistsOne, 2},
                                             {"matches", Op::kMatches, 1},
                                             {"size", Op::kSize, 0},
                                             {"startsWith", Op::kStartsWith, 1}}};
constexpr std::string_view kKnown =
    "all, contains, endsWith, exists, exists_one, has, matches, size, startsWith";

bool IsMacro(Op op) {
  return op == Op::kAll || op == Op::kExists || op == Op::kExistsOne;
}

// The name of a field that is written as an identifier: "a__dash__b" is "a-b", and a word that CEL
// keeps for itself is written "__namespace__".
std::string Unescaped(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEscapes = {
      {{"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}}};
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) {
    const std::string_view word = name.substr(2, name.size() - 4);
    const bool reserved = word == "true" || word == "false" || word == "null" || word == "in" ||
                          std::count(kReserved.begin(), kReserved.end(), word) != 0;
    if (reserved) return std::string(word);
  }
  std::string out;
  while (!name.empty()) {
    const auto* escape = std::find_if(kEscapes.begin(), kEscapes.end(), [&](const auto& known) {
      return name.starts_with(known.first);
    });
    if (escape == kEscapes.end()) {
      out += name.front();
      name.remove_prefix(1);
    } else {
      out += escape->second;
      name.remove_prefix(escape->first.size());
    }
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Parsed> Run() {
    TRY_ASSIGN(Node root, Conditional());
    if (Peek().kind != Token::Kind::kEnd) return Unexpected();
    return Parsed{std::move(root), uses_old_self_};
  }

 private:
  [[nodiscard]] const Token& Peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool Is(std::string_view symbol) const {
    return Peek().kind == Token::Kind::kSymbol && Peek().text == symbol;
  }
  bool Take(std::string_view symbol) {
    if (!Is(symbol)) return false;
    ++at_;
    return true;
  }
  Status Expect(std::string_view symbol) {
    if (Take(symbol)) return {};
    return FailAt(Peek().at, fmt::format("expected \"{}\"", symbol));
  }
  [[nodiscard]] tl::unexpected<Error> Unexpected() const {
    const Token& token = Peek();
    if (token.kind == Token::Kind::kEnd) return FailAt(token.at, "unexpected end");
    if (token.kind == Token::Kind::kLiteral) return FailAt(token.at, "unexpected literal");
    return FailAt(token.at, fmt::format("unexpected \"{}\"", token.text));
  }

  // A node over `args`, unless the tree becomes too deep to walk.
  Result<Node> Make(Op op, std::vector<Node> args, std::size_t at) {
    Node node;
    node.op = op;
    for (const Node& arg : args) node.depth = std::max(node.depth, arg.depth + 1);
    if (node.depth > kMaxDepth) return TooDeep(at);
    node.args = std::move(args);
    return node;
  }
  static tl::unexpected<Error> TooDeep(std::size_t at) {
    return FailAt(at, fmt::format("nested deeper than {} levels", kMaxDepth));
  }
  static std::vector<Node> Args(Node first) {
    std::vector<Node> args;
    args.push_back(std::move(first));
    return args;
  }
  static std::vector<Node> Args(Node first, Node second) {
    std::vector<Node> args = Args(std::move(first));
    args.push_back(std::move(second));
    return args;
  }

  // Every way in which the grammar contains itself leads through here.
  Result<Node> Conditional() {
    const std::size_t at = Peek().at;
    if (++nesting_ > kMaxDepth) return TooDeep(at);
    TRY_ASSIGN(Node condition, BinaryFrom(kWeakest));
    if (Take("?")) {
      TRY_ASSIGN(Node yes, BinaryFrom(kWeakest));
      TRY(Expect(":"));
      TRY_ASSIGN(Node no, Conditional());
      std::vector<Node> args = Args(std::move(condition), std::move(yes));
      args.push_back(std::move(no));
      TRY_ASSIGN(condition, Make(Op::kConditional, std::move(args), at));
    }
    --nesting_;
    return condition;
  }

  [[nodiscard]] const Binary* PeekBinary(int weakest) const {
    const Token& token = Peek();
    const bool may_be = token.kind == Token::Kind::kSymbol || token.text == "in";
    if (!may_be) return nullptr;
    for (const Binary& binary : kBinary) {
      if (binary.symbol == token.text) return binary.precedence >= weakest ? &binary : nullptr;
    }
    return nullptr;
  }

  // Operators of `weakest` precedence and stronger ones; all of them group to the left.
  Result<Node> BinaryFrom(int weakest) {
    TRY_ASSIGN(Node left, Unary());
    while (const Binary* binary = PeekBinary(weakest)) {
      const std::size_t at = Peek().at;
      ++at_;
      TRY_ASSIGN(Node right, BinaryFrom(binary->precedence + 1));
      TRY_ASSIGN(left, Make(binary->op, Args(std::move(left), std::move(right)), at));
    }
    return left;
  }

  Result<Node> Unary() {
    std::vector<std::pair<Op, std::size_t>> prefixes;
    while (Is("!") || Is("-")) {
      prefixes.emplace_back(Is("!") ? Op::kNot : Op::kNegate, Peek().at);
      ++at_;
    }
    TRY_ASSIGN(Node node, Member());
    for (; !prefixes.empty(); prefixes.pop_back()) {
      const auto& [op, at] = prefixes.back();
      TRY_ASSIGN(node, Make(op, Args(std::move(node)), at));
    }
    return node;
  }

  Result<Node> Member() {
    TRY_ASSIGN(Node node, Primary());
    for (;;) {
      const std::size_t at = Peek().at;
      if (Take(".")) {
        if (Peek().kind != Token::Kind::kName) return FailAt(Peek().at, "expected a field name");
        const Token name = Peek();
        ++at_;
        if (Is("(")) {
          TRY_ASSIGN(node, MethodCall(std::move(node), name));
        } else {
          TRY_ASSIGN(node, Make(Op::kField, Args(std::move(node)), at));
          node.name = Unescaped(name.text);
        }
      } else if (Take("[")) {
        TRY_ASSIGN(Node index, Conditional());
        TRY(Expect("]"));
        TRY_ASSIGN(node, Make(Op::kIndex, Args(std::move(node), std::move(index)), at));
      } else {
        return node;
      }
    }
  }

  Result<Node> Primary() {
    const Token token = Peek();
    if (token.kind == Token::Kind::kLiteral) {
      ++at_;
      return Literal(token.value);
    }
    if (token.kind == Token::Kind::kName) return Name(token);
    if (Take("(")) {
      TRY_ASSIGN(Node inner, Conditional());
      TRY(Expect(")"));
      return inner;
    }
    if (Take("[")) return ListLiteral(token.at);
    if (Take("{")) return MapLiteral(token.at);
    return Unexpected();
  }

  static Node Literal(nlohmann::json value) {
    Node node;
    node.value = std::move(value);
    return node;
  }

  Result<Node> Name(const Token& token) {
    const std::string& name = token.text;
    const bool reserved = name == "in" || std::count(kReserved.begin(), kReserved.end(), name) != 0;
    if (reserved) return FailAt(token.at, fmt::format("\"{}\" is a reserved word", name));
    ++at_;
    if (name == "true" || name == "false") return Literal(name == "true");
    if (name == "null") return Literal(nullptr);
    if (Is("(")) return FunctionCall(token);
    if (Is("{")) return FailAt(token.at, fmt::format("type \"{}\" is not supported", name));
    return Variable(token);
  }

  Result<Node> Variable(const Token& token) {
    Node node;
    node.op = Op::kVariable;
    for (std::size_t i = scopes_.size(); i-- > 0;) {
      if (scopes_[i] != token.text) continue;
      node.slot = kOldSelfSlot + 1 + i;
      return node;
    }
    if (token.text == "oldSelf") {
      uses_old_self_ = true;
      node.slot = kOldSelfSlot;
      return node;
    }
    if (token.text == "self") return node;
    return FailAt(token.at, fmt::format("undeclared reference to \"{}\"", token.text));
  }

  Result<Node> ListLiteral(std::size_t at) {
    std::vector<Node> items;
    while (!Is("]")) {
      TRY_ASSIGN(Node item, Conditional());
      items.push_back(std::move(item));
      if (!Take(",")) break;
    }
    TRY(Expect("]"));
    return Make(Op::kList, std::move(items), at);
  }

  Result<Node> MapLiteral(std::size_t at) {
    std::vector<Node> parts;
    while (!Is("}")) {
      TRY_ASSIGN(Node key, Conditional());
      TRY(Expect(":"));
      TRY_ASSIGN(Node value, Conditional());
      parts.push_back(std::move(key));
      parts.push_back(std::move(value));
      if (!Take(",")) break;
    }
    TRY(Expect("}"));
    return Make(Op::kMap, std::move(parts), at);
  }

  Result<std::vector<Node>> Arguments(const Token& function, std::size_t wanted) {
    TRY(Expect("("));
    std::vector<Node> args;
    while (!Is(")")) {
      TRY_ASSIGN(Node arg, Conditional());
      args.push_back(std::move(arg));
      if (!Take(",")) break;
    }
    TRY(Expect(")"));
    if (args.size() == wanted) return args;
    return FailAt(function.at,
                  fmt::format("function \"{}\" takes {} argument{}, not {}",
                              function.text,
                              wanted,
                              wanted == 1 ? "" : "s",
                              args.size()));
  }

  static tl::unexpected<Error> UnknownFunction(const Token& name) {
    return FailAt(name.at,
                  fmt::format("function \"{}\" is not supported (known: {})", name.text, kKnown));
  }

  Result<Node> FunctionCall(const Token& name) {
    if (name.text != "has" && name.text != "size") return UnknownFunction(name);
    TRY_ASSIGN(std::vector<Node> args, Arguments(name, 1));
    if (name.text == "size") return Make(Op::kSize, std::move(args), name.at);
    if (args[0].op != Op::kField) {
      return FailAt(name.at, "the argument of has() must be a field, such as has(self.a)");
    }
    Node field = std::move(args[0]);
    field.op = Op::kHas;
    return field;
  }

  Result<Node> MethodCall(Node target, const Token& name) {
    const auto* method = std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& known) {
      return known.name == name.text;
    });
    if (method == kMethods.end()) return UnknownFunction(name);
    if (IsMacro(method->op)) return Macro(method->op, std::move(target), name);
    TRY_ASSIGN(std::vector<Node> args, Arguments(name, method->arguments));
    if (method->op == Op::kMatches) return Matches(std::move(target), args[0], name);
    args.insert(args.begin(), std::move(target));
    return Make(method->op, std::move(args), name.at);
  }

  Result<Node> Matches(Node target, const Node& pattern, const Token& name) {
    if (pattern.op != Op::kLiteral || !pattern.value.is_string()) {
      return FailAt(name.at,
                    "matches() with a pattern that is not a string literal is not supported");
    }
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(std::int64_t{1} << 20U);
    auto compiled =
        std::make_shared<const RE2>(pattern.value.get_ref<const std::string&>(), options);
    if (!compiled->ok()) {
      return FailAt(name.at, fmt::format("invalid pattern: {}", compiled->error()));
    }
    TRY_ASSIGN(Node node, Make(Op::kMatches, Args(std::move(target)), name.at));
    node.pattern = std::move(compiled);
    return node;
  }

  // target.all(x, predicate)
  Result<Node> Macro(Op op, Node target, const Token& name) {
    TRY(Expect("("));
    const Token variable = Peek();
    if (variable.kind != Token::Kind::kName) {
      return FailAt(variable.at, fmt::format("{}() needs the name of a variable first", name.text));
    }
    ++at_;
    TRY(Expect(","));
    scopes_.push_back(variable.text);
    TRY_ASSIGN(Node predicate, Conditional());
    scopes_.pop_back();
    TRY(Expect(")"));
    TRY_ASSIGN(Node node, Make(op, Args(std::move(target), std::move(predicate)), name.at));
    node.slot = kOldSelfSlot + 1 + scopes_.size();
    return node;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  std::vector<std::string> scopes_;  // variables of the macros around
  bool uses_old_self_ = false;
};

// Whether the result may be a bool; the type of a field is not known.
bool MayBeBool(const Node& node) {
  switch (node.op) {
    case Op::kLiteral:
      return node.value.is_boolean();
    case Op::kConditional:
      return MayBeBool(node.args[1]) && MayBeBool(node.args[2]);
    case Op::kList:
    case Op::kMap:
    case Op::kNegate:
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kModulo:
    case Op::kSize:
      return false;
    default:
      return true;
  }
}

}  // namespace

Result<Parsed> ParseExpression(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return Fail(Code::kInvalidArgument, fmt::format("longer than {} bytes", kMaxTextBytes));
  }
  TRY_ASSIGN(std::vector<Token> tokens, Tokenize(text));
  TRY_ASSIGN(Parsed parsed, Parser(std::move(tokens)).Run());
  if (!MayBeBool(parsed.root)) return Fail(Code::kInvalidArgument, "must evaluate to a bool");
  return parsed;
}

}  // namespace strata::cel
