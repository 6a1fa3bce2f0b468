#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "patch/limits.h"
#include "patch/patch.h"
#include "schema/type_words.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;
using Pointer = std::vector<std::string>;

tl::unexpected<Error> Refused(std::string message) {
  return Fail(Code::kConflict, std::move(message));
}

// RFC 6901: "~1" is '/', "~0" is '~'.
std::optional<std::string> Unescape(std::string_view token) {
  std::string text;
  text.reserve(token.size());
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      text += token[i];
      continue;
    }
    ++i;
    if (i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    text += token[i] == '0' ? '~' : '/';
  }
  return text;
}

std::optional<Pointer> ParsePointer(std::string_view text) {
  if (text.empty()) return Pointer{};
  if (text.front() != '/') return std::nullopt;
  Pointer pointer;
  for (const std::string_view token : Split(text.substr(1), '/')) {
    std::optional<std::string> plain = Unescape(token);
    if (!plain) return std::nullopt;
    pointer.push_back(*std::move(plain));
  }
  return pointer;
}

// An index of a list of `size` items; no leading zeros (RFC 6901).
std::optional<std::size_t> Index(std::string_view token, std::size_t size) {
  if (token.size() > 1 && token.front() == '0') return std::nullopt;
  const auto number = WholeNumber(token, static_cast<std::int64_t>(size) - 1);
  return number ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
}

Json* ChildAt(Json& parent, const std::string& token) {
  if (parent.is_object()) {
    const auto found = parent.find(token);
    return found == parent.end() ? nullptr : &*found;
  }
  if (!parent.is_array()) return nullptr;
  const auto index = Index(token, parent.size());
  return index ? &parent[*index] : nullptr;
}

// What the first `steps` tokens lead to; nullptr when there is nothing.
Json* Walk(Json& root, const Pointer& pointer, std::size_t steps) {
  Json* at = &root;
  for (std::size_t i = 0; i < steps && at != nullptr; ++i) at = ChildAt(*at, pointer[i]);
  return at;
}

Json* Locate(Json& root, const Pointer& pointer) {
  return Walk(root, pointer, pointer.size());
}

// Adds to `moved` how many items of a list made room.
bool Add(Json& root, const Pointer& pointer, Json value, std::size_t& moved) {
  if (pointer.empty()) {
    root = std::move(value);
    return true;
  }
  Json* parent = Walk(root, pointer, pointer.size() - 1);
  if (parent == nullptr) return false;
  const std::string& last = pointer.back();
  if (parent->is_object()) {
    (*parent)[last] = std::move(value);
    return true;
  }
  if (!parent->is_array()) return false;
  const auto at = last == "-" ? std::optional(parent->size()) : Index(last, parent->size() + 1);
  if (!at) return false;
  moved += parent->size() - *at;
  parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(*at), std::move(value));
  return true;
}

bool Remove(Json& root, const Pointer& pointer, std::size_t& moved) {
  if (pointer.empty()) return false;
  Json* parent = Walk(root, pointer, pointer.size() - 1);
  if (parent == nullptr) return false;
  if (parent->is_object()) return parent->erase(pointer.back()) == 1;
  if (!parent->is_array()) return false;
  const auto index = Index(pointer.back(), parent->size());
  if (!index) return false;
  moved += parent->size() - *index;
  parent->erase(*index);
  return true;
}

struct Operation {
  std::string op;
  std::string path_text;
  Pointer path;
  std::optional<Pointer> from = std::nullopt;  // none: not given, or no pointer
  const Json* value = nullptr;
};

Result<Operation> ReadOperation(const Json& entry) {
  const auto text = [&entry](const char* key) -> const std::string* {
    const auto found = entry.find(key);
    if (found == entry.end()) return nullptr;
    return found->get_ptr<const std::string*>();
  };
  const std::string* op = text("op");
  const std::string* path = text("path");
  if (op == nullptr) return Refused("operation without op");
  if (path == nullptr) return Refused(*op + " operation without path");
  std::optional<Pointer> pointer = ParsePointer(*path);
  if (!pointer) return Refused(*op + " operation: " + *path + " is not a path");
  Operation operation{.op = *op, .path_text = *path, .path = *std::move(pointer)};
  if (const std::string* from = text("from")) operation.from = ParsePointer(*from);
  if (const auto value = entry.find("value"); value != entry.end()) operation.value = &*value;
  return operation;
}

Status Test(Json& object, const Operation& operation) {
  const Json* found = Locate(object, operation.path);
  const Json wanted = operation.value == nullptr ? Json() : *operation.value;
  // A test for null holds where there is nothing, as in Kubernetes.
  if (found == nullptr ? wanted.is_null() : *found == wanted) return {};
  return Refused("testing value " + operation.path_text + " failed");
}

// A place may not be moved into its own inside.
bool IsInside(const Pointer& inner, const Pointer& outer) {
  if (inner.size() <= outer.size()) return false;
  return std::equal(outer.begin(), outer.end(), inner.begin());
}

class Patcher {
 public:
  explicit Patcher(Json object) : object_(std::move(object)) {}

  Status Run(const Operation& operation) {
    TRY(Carry(operation));
    if (moved_ > kMaxMovedItems) return Refused("the patch moves too many items of lists");
    return {};
  }

  [[nodiscard]] Json Take() { return std::move(object_); }

 private:
  Status Carry(const Operation& operation) {
    if (operation.op == "test") return Test(object_, operation);
    if (operation.op == "remove") return Done(Remove(object_, operation.path, moved_), operation);
    if (operation.op == "move" || operation.op == "copy") return MoveOrCopy(operation);
    const bool replaces = operation.op == "replace";
    if (!replaces && operation.op != "add") return Refused("unexpected kind: " + operation.op);
    if (operation.value == nullptr) return Refused(operation.op + " operation without value");
    if (!replaces) return Done(Add(object_, operation.path, *operation.value, moved_), operation);
    Json* target = Locate(object_, operation.path);
    if (target != nullptr) *target = *operation.value;
    return Done(target != nullptr, operation);
  }

  static Status Done(bool good, const Operation& operation) {
    if (good) return {};
    return Refused(operation.op +
                   " operation does not apply: doc is missing path: " + operation.path_text);
  }

  Status MoveOrCopy(const Operation& operation) {
    if (!operation.from) return Refused(operation.op + " operation without from");
    Json* source = Locate(object_, *operation.from);
    if (source == nullptr) return Done(false, operation);
    if (operation.op == "move") {
      if (*operation.from == operation.path) return {};
      if (IsInside(operation.path, *operation.from)) return Done(false, operation);
      Json value = std::move(*source);
      if (!Remove(object_, *operation.from, moved_)) return Done(false, operation);
      return Done(Add(object_, operation.path, std::move(value), moved_), operation);
    }
    TRY(CheckDepth(*source));
    copied_ += TextSize(*source);
    if (copied_ > kMaxCopiedBytes) return Refused("the patch copies too much");
    return Done(Add(object_, operation.path, *source, moved_), operation);
  }

  Json object_;
  std::size_t copied_ = 0;
  std::size_t moved_ = 0;
};

}  // namespace

Result<Json> JsonPatch(const Json& object, const Json& patch) {
  if (!patch.is_array()) {
    return Fail(Code::kInvalidArgument,
                "json: cannot unmarshal " + std::string(schema::GoWordOf(patch)) +
                    " into Go value of type jsonpatch.Patch");
  }
  for (const Json& entry : patch) {
    if (entry.is_object()) continue;
    return Fail(Code::kInvalidArgument,
                "json: cannot unmarshal " + std::string(schema::GoWordOf(entry)) +
                    " into Go value of type jsonpatch.Operation");
  }
  if (patch.size() > kMaxJsonPatchOperations) {
    return Fail(Code::kInvalidArgument,
                "The allowed maximum operations in a JSON patch is " +
                    std::to_string(kMaxJsonPatchOperations) + ", got " +
                    std::to_string(patch.size()));
  }
  TRY(CheckDepth(patch));
  Patcher patcher(object);
  for (const Json& entry : patch) {
    TRY_ASSIGN(const Operation operation, ReadOperation(entry));
    TRY(patcher.Run(operation));
  }
  Json patched = patcher.Take();
  TRY(CheckDepth(patched));
  return patched;
}

}  // namespace strata::patch
