//===- ChooseGpuKernels.cpp - The kernels for one kind of chip ------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "hfta/program.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTACHOOSEGPUKERNELS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static FlatSymbolRefAttr getReplaced(Operation *function) {
  return function->getAttrOfType<FlatSymbolRefAttr>(kWarpGroupsOfAttrName);
}

/// Returns whether the last parameter is a block of bytes that holds as many
/// tensor maps as the function's attribute says. The hardware can read maps
/// only from a constant parameter with this alignment.
static bool endsWithMaps(LLVM::LLVMFuncOp function) {
  unsigned parameters = function.getNumArguments();
  if (parameters == 0)
    return false;
  auto get = [&](StringRef name) {
    return function.getArgAttr(parameters - 1, name);
  };
  auto type =
      dyn_cast_or_null<TypeAttr>(get(LLVM::LLVMDialect::getByValAttrName()));
  auto bytes = type ? dyn_cast<LLVM::LLVMArrayType>(type.getValue()) : nullptr;
  auto alignment =
      dyn_cast_or_null<IntegerAttr>(get(LLVM::LLVMDialect::getAlignAttrName()));
  auto count = function->getAttrOfType<IntegerAttr>(kMapCountAttrName);
  return bytes && bytes.getElementType().isInteger(8) &&
         bytes.getNumElements() == hfta_map_block_bytes(count.getInt()) &&
         alignment && alignment.getInt() == HFTA_MAP_ALIGNMENT;
}

/// Returns whether a function's launch attributes are valid: tensor maps, if
/// there are any, are the last parameter, and dynamic shared memory is at most
/// what a chip has.
static bool hasSoundLaunch(LLVM::LLVMFuncOp function) {
  constexpr int64_t kMostMaps = 2, kMostBytes = 227 * 1024;
  auto isBelow = [&](StringRef name, int64_t most, unsigned bits) {
    auto number = function->getAttrOfType<IntegerAttr>(name);
    return !function->hasAttr(name) ||
           (number && number.getType().isInteger(bits) && number.getInt() > 0 &&
            number.getInt() <= most);
  };
  bool hasMaps = function->hasAttr(kMapCountAttrName);
  return isBelow(kMapCountAttrName, kMostMaps, /*bits=*/32) &&
         isBelow(kSharedBytesAttrName, kMostBytes, /*bits=*/64) &&
         (!hasMaps ||
          (function->hasAttr(kSharedBytesAttrName) && endsWithMaps(function)));
}

/// Returns whether both functions have the same parameters, except for tensor
/// maps at the end of the first one's.
static bool isCalledLike(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp other) {
  ArrayRef<Type> own = function.getArgumentTypes();
  return own.drop_back(function->hasAttr(kMapCountAttrName) ? 1 : 0) ==
             other.getArgumentTypes() &&
         function.getFunctionType().getReturnType() ==
             other.getFunctionType().getReturnType();
}

/// Returns the function that `function` replaces on chips with warp groups.
/// Emits an error and returns null if there is none.
static LLVM::LLVMFuncOp findReplaced(LLVM::LLVMFuncOp function,
                                     const SymbolTable &symbols) {
  FlatSymbolRefAttr of = getReplaced(function);
  auto other =
      of ? symbols.lookup<LLVM::LLVMFuncOp>(of.getAttr()) : LLVM::LLVMFuncOp();
  if (other && !other->hasAttr(kWarpGroupsOfAttrName) &&
      isCalledLike(function, other))
    return other;
  function.emitError("expected ")
      << kWarpGroupsOfAttrName
      << " to name another function of the same type, got "
      << function->getAttr(kWarpGroupsOfAttrName);
  return {};
}

namespace {
struct ChooseGpuKernelsPass
    : hfta::impl::HftaChooseGpuKernelsBase<ChooseGpuKernelsPass> {
  using HftaChooseGpuKernelsBase::HftaChooseGpuKernelsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<LLVM::LLVMFuncOp> others;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (!hasSoundLaunch(function)) {
        function.emitError("expected ")
            << kMapCountAttrName
            << " to be the number of tensor maps in the last "
            << "parameter, and " << kSharedBytesAttrName
            << " to be at most what chips have";
        return signalPassFailure();
      }
      if (function->hasAttr(kWarpGroupsOfAttrName))
        others.push_back(function);
    }
    for (LLVM::LLVMFuncOp function : others) {
      LLVM::LLVMFuncOp replaced = findReplaced(function, symbols);
      if (!replaced)
        return signalPassFailure();
      choose(function, replaced, symbols);
    }
  }

  /// Keeps one of the two functions, the one for this kind of chip, and erases
  /// the other. If an entry point is kept in place of another, it takes over
  /// the other's name; the name of a function that only its entry point calls
  /// doesn't matter.
  void choose(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp replaced,
              SymbolTable &symbols) const {
    if (!warpGroups)
      return symbols.erase(function);
    symbols.erase(replaced);
    StringAttr name = getReplaced(function).getAttr();
    function->removeAttr(kWarpGroupsOfAttrName);
    if (function->hasAttr(hfta_gpu::HftaGpuDialect::kEntryAttrName))
      SymbolTable::setSymbolName(function, name);
  }
};
} // namespace
