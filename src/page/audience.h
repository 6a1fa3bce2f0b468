#pragma once

#include <memory>
#include <string>

#include "net/transport.h"
#include "page/cluster_columns.h"
#include "page/columns_json.h"
#include "page/pictures.h"
#include "page/scope.h"

namespace strata::page {

// The picture as viewers who may not see all of it get it. Positions, epochs and revisions are
// those of the whole picture.
class Audience {
 public:
  explicit Audience(Scope scope) : scope_(std::move(scope)) {}

  // Takes the next picture; `kind` is what it was for those who see everything. The text is that of
  // a change, "" for another kind. COST: a copy of the columns.
  [[nodiscard]] std::string Follow(const ClusterColumns& all,
                                   const Stamp& stamp,
                                   const Namespaces& known,
                                   Pictures::Update::Kind kind);
  // The answer of `cluster`; made once per revision. REQUIRES: Follow was called.
  [[nodiscard]] std::shared_ptr<const Pictures::Text> Cluster(const Stamp& stamp);
  [[nodiscard]] const ClusterColumns& columns() const { return columns_; }
  [[nodiscard]] const Scope& scope() const { return scope_; }

  net::SteadyTime asked{};  // when somebody of it asked last

 private:
  Scope scope_;
  ClusterColumns columns_;
  std::shared_ptr<const Pictures::Text> text_;
};

}  // namespace strata::page
