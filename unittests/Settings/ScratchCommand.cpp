//===- ScratchCommand.cpp - hftac with one more command -------------------===//
//
// This compiler has one more command of schedules than hftac: an op in a
// dialect of its own, and a record in its copy of hfta/commands.h. It shows
// that a command needs no change elsewhere in the compiler.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Driver/Main/Driver.h"
#include "Hfta/InitAll.h"
#include "Hfta/Target/Cpu/CpuTarget.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Inverts the bits at a place, in all instances of a segment:
/// `"scratch.flip"() {bytes = 4, at = #hfta.place<segment, 2, 0>, queue = 0}`.
class FlipOp
    : public Op<FlipOp, OpTrait::ZeroOperands, OpTrait::ZeroResults,
                OpTrait::ZeroRegions, ScheduleCommandOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "scratch.flip"; }

  SmallVector<CommandAccess> getAccesses() {
    return {{CommandAccess::Kind::readWrite,
             (*this)->getAttrOfType<PlaceAttr>("at").withoutStride(),
             hfta::detail::getNumber(*this, "bytes"),
             CommandAccess::Instances::all}};
  }
};

class ScratchDialect : public Dialect {
public:
  explicit ScratchDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ScratchDialect>()) {
    addOperations<FlipOp>();
  }
  static StringRef getDialectNamespace() { return "scratch"; }
};

/// The host, with one more dialect.
class ScratchTarget : public CpuTarget {
public:
  StringRef getName() const override { return "scratch"; }
  void registerDialects(DialectRegistry &registry) const override {
    CpuTarget::registerDialects(registry);
    registry.insert<ScratchDialect>();
  }
};

} // namespace

int main(int argc, char **argv) {
  static const ScratchTarget target;
  registerAllTargets();
  registerTarget(target);
  return runDriver(argc, argv);
}
