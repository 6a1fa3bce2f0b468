#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::objects {

// One value of a parsed JSON document: two words, cheap to copy, valid as long as its Document.
// Keeps the JSON library out of every other file.
class Value {
 public:
  enum class Type : std::uint8_t { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };
  struct Member;

  // kInteger is what fits into 64 signed bits; every other number is a kNumber.
  [[nodiscard]] Type type() const;

  // REQUIRES: the type is the one in the name.
  [[nodiscard]] bool AsBool() const;
  [[nodiscard]] std::int64_t AsInteger() const;
  [[nodiscard]] double AsNumber() const;
  [[nodiscard]] std::string_view AsString() const;
  [[nodiscard]] std::vector<Value> Items() const;
  // In document order; a duplicate key is in it twice.
  [[nodiscard]] std::vector<Member> Members() const;
  // REQUIRES: an object. The first member of that name.
  [[nodiscard]] std::optional<Value> Find(std::string_view key) const;

  // A number as JSON writes it, in its shortest form. REQUIRES: kInteger or kNumber.
  [[nodiscard]] std::string NumberText() const;
  // "string \"x\"", "number 3", "boolean true", "list", "object", "null": for messages.
  [[nodiscard]] std::string Describe() const;

 private:
  friend class Document;
  Value(const void* document, std::size_t index) : document_(document), index_(index) {}

  const void* document_;
  std::size_t index_;
};

struct Value::Member {
  std::string_view key;
  Value value;
};

// A parsed JSON text. Movable; owns what its Values point to.
class Document {
 public:
  // How many bytes behind `text` may be read, so that a large text need not be copied.
  static constexpr std::size_t kPadding = 64;
  enum class Tail : std::uint8_t { kNone, kReadable };

  // Reads exactly one JSON value, UTF-8, at most 500 levels deep. kInvalidArgument with the place
  // and the problem: "line 3, column 7: ...". `tail` says whether kPadding bytes behind `text` are
  // readable.
  [[nodiscard]] static Result<Document> ParseJson(std::string_view text, Tail tail = Tail::kNone);

  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  [[nodiscard]] Value root() const;

 private:
  struct Impl;
  explicit Document(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::objects
