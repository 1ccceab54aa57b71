//===- ElementPuller.h - Kernels element by element -------------*- C++ -*-===//
//
// A thread of a GPU computes single elements, as whole tensors would need
// memory. For each value of a kernel, only the elements that are asked for are
// computed: a sum asks for its terms, a slice for an element of its source
// (pull model).
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_ELEMENTPULLER_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_ELEMENTPULLER_H

#include "Hfta/Target/GpuReferenceModel.h"
#include "Pull/SharedSums.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <array>
#include <functional>
#include <map>
#include <optional>

namespace mlir::hfta {

/// A run of `count` neighbours along an axis of a tensor, the first one at
/// `indices`. The first one's index along the axis is a multiple of `count`.
struct Run {
  SmallVector<Value> indices;
  unsigned axis;
  int64_t count;
};

/// The place in memory at which the elements of a run are stored unchanged.
struct RunSource {
  Value memory;
  SmallVector<Value> indices; ///< indices of the first element
  Value isInside; ///< if false at run time, all elements are +0; NULL: always
                  ///< true
};

/// The most bytes that a thread reads or writes by one instruction. In each
/// copy's memory tensors begin at multiples of this number, and so do rows
/// whose size in bytes is a multiple of it.
inline constexpr int64_t kAccessBytes = GpuReferenceModel::kAccessBytes;

/// Returns the vector of which these are all elements, in order; NULL if there
/// is none.
Value findWhole(ArrayRef<Value> elements);

/// Returns whether a float type has 16 bits. Emulated code moves such floats as
/// integers, as the host may have no instructions for them.
bool isNarrowFloat(Type type);

/// Returns whether neighbouring elements of an op's result can be computed
/// together, as a run. This isn't possible if the op's body contains loops:
/// values that the loop of one element reads aren't available to the loop of
/// the next.
bool computesRuns(linalg::GenericOp op);

/// Builds the code of one thread, which computes single elements of a kernel's
/// tensors. Each value is built once, in the outermost scope in which it can be
/// computed, and is reused there. The terms of a sum are added to its initial
/// element in the order of the op's reduction loops. If the op has lanes or
/// groups, each lane or group adds up its own terms, and then their sums are
/// added.
class ElementPuller {
public:
  /// Builds code at the end of `block`, before the terminator if there is one,
  /// and constants at its beginning. `globals` returns the memory of a constant
  /// that isn't a splat.
  ElementPuller(OpBuilder &builder, Block *block,
                std::function<Value(arith::ConstantOp)> globals);

  /// Declares that the elements of `tensor`, an argument of the kernel, are in
  /// `memory`.
  void place(Value tensor, Value memory) { places[tensor] = memory; }

  /// Lets several threads share each sum that is built from here on, wherever
  /// all of them reach the sum.
  void shareSums(const SumLanes &lanes) { sumLanes = lanes; }

  /// Returns an element of a tensor, and builds its computation if necessary.
  /// The indices must be in bounds. Emits an error and fails on an op whose
  /// elements can't be computed one by one.
  FailureOr<Value> pull(Value tensor, ArrayRef<Value> wanted);
  /// Returns the element of an op's operand that the op reads at the loop
  /// indices `loops`.
  FailureOr<Value> pullOperand(linalg::GenericOp op, OpOperand &operand,
                               ArrayRef<Value> loops);

  /// Returns a run of `count` elements of an op's operand: the one read at the
  /// loop indices `loops`, and those read when the index of `loop` increases.
  FailureOr<SmallVector<Value>> pullOperandRun(linalg::GenericOp op,
                                               OpOperand &operand,
                                               ArrayRef<Value> loops,
                                               unsigned loop, int64_t count);

  /// Returns the place in memory of the elements that pullOperandRun returns;
  /// their type in memory may be narrower. Returns nothing if the elements are
  /// computed or aren't contiguous. Builds only the computation of the address.
  FailureOr<std::optional<RunSource>> findSource(linalg::GenericOp op,
                                                 OpOperand &operand,
                                                 ArrayRef<Value> loops,
                                                 unsigned loop, int64_t count);

  /// Returns the elements of a run of a tensor.
  FailureOr<SmallVector<Value>> pullRun(Value tensor, const Run &run);
  /// Stores the elements of a run to memory, at the end of the code built so
  /// far.
  void writeRun(Value memory, ArrayRef<Value> elements, const Run &run);

  /// Makes `pull` return `element` for any element of this tensor, until `own`
  /// is called with NULL.
  void own(Value tensor, Value element);
  /// Enters the scope of a block of `opener`, a loop or a branch in the current
  /// block. `isConditional`: the block's ops may not run. `diverges`: the
  /// threads of a GPU's block may not all run it together.
  void enter(Block *block, Operation *opener, bool isConditional,
             bool diverges) {
    scopes.push_back({block, opener, isConditional, diverges});
  }
  void leave() { scopes.pop_back(); }

  /// Returns what `inside` builds if the condition holds, else what `outside`
  /// builds. A null condition always holds.
  FailureOr<Value> choose(Value condition, Type type,
                          llvm::function_ref<FailureOr<Value>()> inside,
                          llvm::function_ref<FailureOr<Value>()> outside);

  /// Chooses as `choose` does, between runs of equal length.
  using MakeRun = llvm::function_ref<FailureOr<SmallVector<Value>>()>;
  FailureOr<SmallVector<Value>> chooseRun(Value condition, MakeRun inside,
                                          MakeRun outside);

  /// Computes an affine expression whose dims are `operands`.
  Value apply(AffineExpr expression, ArrayRef<Value> operands);
  /// Computes the bitwise exclusive or of two indices.
  Value exclusiveOr(Value lhs, Value rhs);
  Value index(int64_t value);
  /// Returns a scalar constant, which is built once.
  Value pullSplat(TypedAttr value);
  /// Returns the indices, in a tensor of this shape, of the element with the
  /// row-major index `number`, an expression whose dims are `operands`.
  SmallVector<Value> delinearize(AffineExpr number, ArrayRef<Value> operands,
                                 ArrayRef<int64_t> shape);

private:
  /// A block in which code is built. `opener` is the loop or branch that
  /// contains the block; null for the outermost block.
  struct Scope {
    Block *block;
    Operation *opener;
    bool isConditional; ///< the block's ops may not run
    bool diverges; ///< the threads of a GPU's block may not all run the ops
                   ///< together
  };
  struct Entry {
    Value value;
    Block *block;
  };
  /// A tensor that a loop carries, of which one element is known.
  struct Carried {
    SmallVector<Value> indices;
    Value element;
    SmallVector<Value>
        others; ///< indices that equal `indices` wherever the element is used
  };
  using Key = SmallVector<const void *>;

  /// Returns the outermost scope, as an index into `scopes`, in which all of
  /// these values are available. A scope that may not run isn't left.
  size_t findLevel(ValueRange operands) const;
  void setInsertionPoint(size_t level);
  Value remember(const Key &key, Value value);
  Value recall(const Key &key) const;

  /// Computes a scalar of the kernel's body or of a region in it. `known` maps
  /// values that have been computed already; `find` returns those that no op
  /// computes.
  FailureOr<Value> compute(Value scalar, const IRMapping &known,
                           llvm::function_ref<FailureOr<Value>(Value)> find);
  FailureOr<Value>
  computeLoop(scf::ForOp op, unsigned result, const IRMapping &known,
              llvm::function_ref<FailureOr<Value>(Value)> find);
  FailureOr<Value> computeScalar(Value scalar);
  FailureOr<Value> compute(Value tensor, ArrayRef<Value> indices);

  FailureOr<Value> computeNumber(OpFoldResult number);
  /// Replaces indices along axes of one element by 0.
  SmallVector<Value> simplify(Value tensor, ArrayRef<Value> indices);

  FailureOr<Value> pullConstant(arith::ConstantOp op, ArrayRef<Value> indices);
  FailureOr<Value> pullGeneric(linalg::GenericOp op, unsigned result,
                               ArrayRef<Value> indices);
  /// Computes an op's body at the loop indices `loops`, on one element of each
  /// operand. `outputs`, if given, replace the elements of the outputs.
  FailureOr<Value> computeBody(linalg::GenericOp op, ArrayRef<Value> loops,
                               ArrayRef<Value> outputs, unsigned result);
  FailureOr<Value> addTerms(linalg::GenericOp op, SmallVector<Value> loops,
                            ArrayRef<unsigned> reduced, unsigned result,
                            ArrayRef<Value> indices);
  /// The terms that one step of a sum's loop adds: those of `count` consecutive
  /// iterations of `loop`, whose elements are read together. They are
  /// consecutive terms of one sum (`areTerms`), or one term of each of `count`
  /// sums.
  struct SumStep {
    unsigned loop;
    int64_t count;
    bool areTerms;

    int64_t countTerms() const { return areTerms ? count : 1; }
  };
  static SumStep getStep(linalg::GenericOp op, ArrayRef<unsigned> reduced);
  /// Builds a loop over some of a sum's terms, with its body, in the scope of
  /// `level`. `range` holds the begin, end and step of the index of each step's
  /// first term.
  FailureOr<SmallVector<Value>>
  addSome(linalg::GenericOp op, SmallVector<Value> loops,
          ArrayRef<unsigned> reduced, ArrayRef<Value> begins, SumStep step,
          std::array<Value, 3> range, size_t level, bool diverges);
  FailureOr<SmallVector<Value>> addStep(linalg::GenericOp op,
                                        ArrayRef<Value> loops,
                                        ArrayRef<Value> before, SumStep step);
  /// Returns whether all threads of a GPU's block run the code at a scope level
  /// together.
  bool meetIn(size_t level) const;
  FailureOr<Value> addLanes(linalg::GenericOp op, ArrayRef<Value> loops,
                            ArrayRef<unsigned> reduced, Value begin,
                            size_t level);
  FailureOr<SmallVector<Value>>
  addLanesTogether(linalg::GenericOp op, ArrayRef<Value> loops,
                   ArrayRef<unsigned> reduced, ArrayRef<Value> begins,
                   SumStep step, const SumCombiner &combiner, size_t level);
  FailureOr<Value> addLanesAlone(linalg::GenericOp op, ArrayRef<Value> loops,
                                 ArrayRef<unsigned> reduced, Value begin,
                                 const SumCombiner &combiner, int64_t lanes,
                                 size_t level);
  FailureOr<Value> addGroups(linalg::GenericOp op, ArrayRef<Value> loops,
                             ArrayRef<unsigned> reduced, Value begin,
                             size_t level);
  /// Returns the indices, in the source, of an element of a slice.
  FailureOr<SmallVector<Value>> findUnsliced(tensor::ExtractSliceOp op,
                                             ArrayRef<Value> indices);
  FailureOr<Value> pullSlice(tensor::ExtractSliceOp op,
                             ArrayRef<Value> indices);
  /// The indices of an element of an insertion's result in the inserted tensor
  /// (`indices`), if it is inside of it, and the indices that such an element
  /// has in the whole tensor (`own`).
  struct InsertedIndices {
    SmallVector<Value> indices, own;
    Value isInside; ///< NULL: always true
  };
  FailureOr<InsertedIndices> findInserted(tensor::InsertSliceOp op,
                                          ArrayRef<Value> indices);
  FailureOr<Value> pullInsertion(tensor::InsertSliceOp op,
                                 ArrayRef<Value> indices);
  /// The indices of an element of a padded tensor in the source, if it isn't
  /// padding.
  struct PaddedIndices {
    SmallVector<Value> indices;
    Value isInside; ///< NULL: always true
  };
  FailureOr<PaddedIndices> findUnpadded(tensor::PadOp op,
                                        ArrayRef<Value> indices);
  FailureOr<Value> pullPadded(tensor::PadOp op, ArrayRef<Value> indices);
  // The functions below work on runs.
  FailureOr<SmallVector<Value>> pullOneByOne(Value tensor, const Run &run);
  SmallVector<Value> readRun(Value memory, Location loc, const Run &run);
  /// A run of another tensor that equals the wanted run where a condition
  /// holds.
  struct MovedRun {
    Value from;
    Run run;
    Value isInside; ///< NULL: always true
    Value outside;  ///< the scalar that all elements equal where the condition
                    ///< is false
  };
  /// Returns the run that an op moves to `run` of its result. Returns nothing
  /// if the op computes its result, or if neighbours in the result aren't
  /// neighbours in the source.
  FailureOr<std::optional<MovedRun>> moveRun(Value tensor, const Run &run);
  FailureOr<std::optional<MovedRun>> movePaddedRun(tensor::PadOp op,
                                                   const Run &run);
  FailureOr<std::optional<MovedRun>> moveSlicedRun(tensor::ExtractSliceOp op,
                                                   const Run &run);
  FailureOr<std::optional<MovedRun>> moveInsertedRun(tensor::InsertSliceOp op,
                                                     const Run &run);
  template <typename Reshape>
  std::optional<MovedRun> moveReshapedRun(Reshape op, const Run &run);
  /// Returns whether the axis' size is a multiple of the run's length.
  static bool isWhole(Value tensor, const Run &run);
  /// Returns whether the elements of the run are contiguous in the tensor's
  /// memory.
  static bool isReadTogether(Value tensor, const Run &run);
  /// The loop indices of an op for the first element of a run of its result,
  /// and the loop that runs along the run. Nothing if these can't be
  /// determined.
  struct RunLoops {
    SmallVector<Value> loops;
    unsigned loop;
  };
  static std::optional<RunLoops> findRunLoops(linalg::GenericOp op,
                                              OpResult result, const Run &run);
  /// Returns the run of an operand that the op reads along one loop, if that
  /// loop moves along one axis of the operand only.
  std::optional<Run> findOperandRun(linalg::GenericOp op, OpOperand &operand,
                                    ArrayRef<Value> loops, unsigned loop,
                                    int64_t count);
  FailureOr<SmallVector<Value>> computeRun(Value tensor, const Run &run);
  FailureOr<SmallVector<Value>>
  computeGenericRun(linalg::GenericOp op, OpResult result, const Run &run);
  FailureOr<SmallVector<Value>> addRun(linalg::GenericOp op, OpResult result,
                                       const Run &run);
  /// Computes an op's body for each element of a run of its operands along
  /// `loop`. For sums, `running` holds the sums so far: one for each element,
  /// or a single one, to which all elements are added one after the other. If
  /// `running` is empty, sums start from the op's initial values.
  FailureOr<SmallVector<Value>>
  computeBodies(linalg::GenericOp op, ArrayRef<Value> loops, unsigned loop,
                int64_t count, unsigned result, ArrayRef<Value> running);
  const SmallVector<Value> *recallRun(const Key &key) const;
  FailureOr<Value> pullReshaped(Value source, ArrayRef<AffineExpr> from,
                                ArrayRef<Value> indices);
  SmallVector<AffineExpr> getDims(size_t count);
  FailureOr<Value> pullInserted(tensor::InsertOp op, ArrayRef<Value> indices);
  FailureOr<Value> pullLoop(scf::ForOp op, unsigned result,
                            ArrayRef<Value> indices);
  FailureOr<Value> pullCarried(Value argument, ArrayRef<Value> indices);
  FailureOr<Value> pullWithin(Value tensor, ArrayRef<Value> indices,
                              llvm::function_ref<FailureOr<Value>()> make);
  // Builds conditions; NULL is one that always holds.
  Value isBetween(Value index, Value low, Value high, int64_t size);
  Value isMultiple(Value number, int64_t of);
  Value both(Value first, Value second);

  OpBuilder &builder;
  std::function<Value(arith::ConstantOp)> globals;
  SmallVector<Scope> scopes;
  DenseMap<Value, Value> places, owned;
  std::optional<SumLanes> sumLanes;
  DenseMap<Value, Carried> carried;
  /// Maps the induction variables of loops that carry tensors to those of the
  /// loops built for them.
  IRMapping iterations;
  std::map<Key, Entry> entries;
  std::map<Key, SmallVector<Value>> runs;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_ELEMENTPULLER_H
