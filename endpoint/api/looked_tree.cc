#include "endpoint/api/looked_tree.h"

#include "endpoint/api/base.h"

namespace heapgauge::endpoint::api {

Result<LookedTree> LookAtTree(const Call& call, const Filter& filter) {
  Subject::Shape shape;
  HG_ASSIGN(shape.callers, FlagOf(call, "callers"));
  shape.through = call.Parameter("through").value_or("");
  shape.collapse = call.Parameter("collapse").value_or("");
  LookedTree looked;
  if (HasBase(call)) {
    HG_ASSIGN(const Filter base, BaseOf(call, filter));
    HG_ASSIGN(looked.base, LookAt(call, base));
    shape.base = looked.base->subject;
  }
  HG_ASSIGN(looked.now, LookAt(call, filter));
  HG_ASSIGN(looked.tree, looked.now.subject->TreeOf(filter, shape));
  return looked;
}

}  // namespace heapgauge::endpoint::api
