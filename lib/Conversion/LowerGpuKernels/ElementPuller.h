//===- ElementPuller.h - Kernels element by element -------------*- C++ -*-===//
//
// A thread of a GPU computes single elements. Whole tensors would need memory;
// instead, of each value of a kernel only the elements that are asked for are
// computed: a sum asks for its terms, a slice for an element of its source.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPULLER_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPULLER_H

#include "SharedSums.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <array>
#include <functional>
#include <map>
#include <optional>

namespace mlir::hfta {

/// `count` neighbours along an axis of a tensor, from these indices on. The
/// first one's index along the axis is a multiple of `count`.
struct Run {
  SmallVector<Value> indices;
  unsigned axis;
  int64_t count;
};

/// The place in memory where a run's elements are stored unchanged.
struct RunSource {
  Value memory;
  SmallVector<Value> indices; ///< indices of the first element
  Value isInside; ///< if false, all elements are +0; NULL: always true
};

/// The most bytes that a thread reads or writes at once. In each copy's memory
/// tensors begin at multiples of it, and so do rows whose bytes are a multiple
/// of it.
inline constexpr int64_t kAccessBytes = 16;

/// Returns the vector whose elements these are, in order; NULL if there is
/// none.
Value findWhole(ArrayRef<Value> elements);

/// Returns whether a float has 16 bits. Emulated code moves these as integers,
/// as the host may have no instructions for them.
bool isNarrowFloat(Type type);

/// Returns whether neighbouring elements of an op can be computed together.
/// They can't if its body contains loops, as values read in the loop of one
/// element aren't available to the next.
bool computesRuns(linalg::GenericOp op);

/// Builds the code that computes elements of the tensors of one kernel's body.
/// Each value is built once, in the outermost loop in which it can be computed,
/// for all its uses there. The terms of a sum are added to its initial element
/// in the order of the op's reduction loops. If the op has lanes or groups,
/// each of these adds its own terms, and then their sums are added.
class ElementPuller {
public:
  /// Builds at the end of a block, before its terminator if there is one, and
  /// constants at its beginning. `globals` returns the memory of a constant.
  ElementPuller(OpBuilder &builder, Block *block,
                std::function<Value(arith::ConstantOp)> globals);

  /// Says that the elements of this tensor, an argument of the kernel, are in
  /// `memory`.
  void place(Value tensor, Value memory) { places[tensor] = memory; }

  /// From here on several threads add up each sum together, wherever all of
  /// them get to it.
  void shareSums(const SumLanes &lanes) { sumLanes = lanes; }

  /// Returns the element of a tensor, which may be computed; the indices must
  /// be in bounds. Fails with an error on an op that has no single elements.
  FailureOr<Value> pull(Value tensor, ArrayRef<Value> wanted);
  /// Returns the element of an op's operand at these indices of the op's loops.
  FailureOr<Value> pullOperand(linalg::GenericOp op, OpOperand &operand,
                               ArrayRef<Value> loops);

  /// Returns the element of an op's operand at these indices of the op's loops,
  /// and those that follow along one of the loops, as in a run.
  FailureOr<SmallVector<Value>> pullOperandRun(linalg::GenericOp op,
                                               OpOperand &operand,
                                               ArrayRef<Value> loops,
                                               unsigned loop, int64_t count);

  /// Returns where the elements of pullOperandRun are in memory, which may have
  /// a narrower type; nothing if they are computed, or aren't contiguous.
  /// Builds only the computation of the address.
  FailureOr<std::optional<RunSource>> findSource(linalg::GenericOp op,
                                                 OpOperand &operand,
                                                 ArrayRef<Value> loops,
                                                 unsigned loop, int64_t count);

  FailureOr<SmallVector<Value>> pullRun(Value tensor, const Run &run);
  /// Stores a run's elements, at the end of the code built so far.
  void writeRun(Value memory, ArrayRef<Value> elements, const Run &run);

  /// Makes every request for an element of this tensor return `element`; NULL
  /// undoes that.
  void own(Value tensor, Value element);
  /// Continues in the block of a loop or a branch, which is in the current
  /// block. `diverges`: the threads of a block needn't run it together.
  void enter(Block *block, Operation *opener, bool isConditional,
             bool diverges) {
    scopes.push_back({block, opener, isConditional, diverges});
  }
  void leave() { scopes.pop_back(); }

  /// Returns `inside` if the condition holds, else `outside`.
  FailureOr<Value> choose(Value condition, Type type,
                          llvm::function_ref<FailureOr<Value>()> inside,
                          llvm::function_ref<FailureOr<Value>()> outside);

  /// As `choose`, for runs of equal length.
  using MakeRun = llvm::function_ref<FailureOr<SmallVector<Value>>()>;
  FailureOr<SmallVector<Value>> chooseRun(Value condition, MakeRun inside,
                                          MakeRun outside);

  /// Computes an affine expression of indices.
  Value apply(AffineExpr expression, ArrayRef<Value> operands);
  /// Computes the bitwise exclusive or of two indices.
  Value exclusiveOr(Value lhs, Value rhs);
  Value index(int64_t value);
  /// Returns a constant, which is built once.
  Value pullSplat(TypedAttr value);
  /// Returns the indices of the element with a row-major index `number`, an
  /// expression of the operands.
  SmallVector<Value> delinearize(AffineExpr number, ArrayRef<Value> operands,
                                 ArrayRef<int64_t> shape);

private:
  /// `opener` is the loop or branch that contains the block; null for the
  /// outermost block.
  struct Scope {
    Block *block;
    Operation *opener;
    bool isConditional; ///< its ops may not run
    bool diverges;      ///< the threads of a block needn't run it together
  };
  struct Entry {
    Value value;
    Block *block;
  };
  /// The one element that is known of a tensor that a loop carries.
  struct Carried {
    SmallVector<Value> indices;
    Value element;
    SmallVector<Value> others; ///< indices that are equal wherever they matter
  };
  using Key = SmallVector<const void *>;

  /// Returns the outermost level in which these values are all available.
  size_t findLevel(ValueRange operands) const;
  void setInsertionPoint(size_t level);
  Value remember(const Key &key, Value value);
  Value recall(const Key &key) const;

  /// Computes a scalar of the kernel's body or of a region in it, given the
  /// values in `known`.
  FailureOr<Value> compute(Value scalar, const IRMapping &known,
                           llvm::function_ref<FailureOr<Value>(Value)> find);
  FailureOr<Value>
  computeLoop(scf::ForOp op, unsigned result, const IRMapping &known,
              llvm::function_ref<FailureOr<Value>(Value)> find);
  FailureOr<Value> computeScalar(Value scalar);
  FailureOr<Value> compute(Value tensor, ArrayRef<Value> indices);

  FailureOr<Value> computeNumber(OpFoldResult number);
  /// Replaces the index of each axis of one element by 0.
  SmallVector<Value> simplify(Value tensor, ArrayRef<Value> indices);

  FailureOr<Value> pullConstant(arith::ConstantOp op, ArrayRef<Value> indices);
  FailureOr<Value> pullGeneric(linalg::GenericOp op, unsigned result,
                               ArrayRef<Value> indices);
  /// Computes an op's body on one element of each operand; `outputs`, if given,
  /// replace the elements of the outputs. `loops` are the indices of the op's
  /// loops.
  FailureOr<Value> computeBody(linalg::GenericOp op, ArrayRef<Value> loops,
                               ArrayRef<Value> outputs, unsigned result);
  FailureOr<Value> addTerms(linalg::GenericOp op, SmallVector<Value> loops,
                            ArrayRef<unsigned> reduced, unsigned result,
                            ArrayRef<Value> indices);
  /// The terms that one step adds: those of `count` consecutive iterations of
  /// `loop`, whose elements are read together. They are consecutive terms of
  /// one sum (`areTerms`), or one term of each of `count` sums.
  struct SumStep {
    unsigned loop;
    int64_t count;
    bool areTerms;

    int64_t countTerms() const { return areTerms ? count : 1; }
  };
  static SumStep getStep(linalg::GenericOp op, ArrayRef<unsigned> reduced);
  /// Builds a loop over some terms, and its body. `range` is the begin, end and
  /// step of the index of a step's first term; the loop is built in the scope
  /// of `level`.
  FailureOr<SmallVector<Value>>
  addSome(linalg::GenericOp op, SmallVector<Value> loops,
          ArrayRef<unsigned> reduced, ArrayRef<Value> begins, SumStep step,
          std::array<Value, 3> range, size_t level, bool diverges);
  FailureOr<SmallVector<Value>> addStep(linalg::GenericOp op,
                                        ArrayRef<Value> loops,
                                        ArrayRef<Value> before, SumStep step);
  /// Returns whether all threads of a block run the code of a level.
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
  /// Returns the indices of an element of a slice in the source.
  FailureOr<SmallVector<Value>> findUnsliced(tensor::ExtractSliceOp op,
                                             ArrayRef<Value> indices);
  FailureOr<Value> pullSlice(tensor::ExtractSliceOp op,
                             ArrayRef<Value> indices);
  /// The indices of an element in the inserted tensor, if it is in it, and
  /// those that it then has in the whole tensor.
  struct InsertedIndices {
    SmallVector<Value> indices, own;
    Value isInside; ///< NULL: always true
  };
  FailureOr<InsertedIndices> findInserted(tensor::InsertSliceOp op,
                                          ArrayRef<Value> indices);
  FailureOr<Value> pullInsertion(tensor::InsertSliceOp op,
                                 ArrayRef<Value> indices);
  /// Where an element is in the padded tensor's source, if it is in it.
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
  /// The run of another tensor that equals a run if a condition holds.
  struct MovedRun {
    Value from;
    Run run;
    Value isInside; ///< NULL: always true
    Value outside;  ///< the scalar that all elements equal if it is false
  };
  /// Finds the run in the tensor that an op moves; nothing if the tensor is
  /// computed, or if neighbours of it aren't neighbours there.
  FailureOr<std::optional<MovedRun>> moveRun(Value tensor, const Run &run);
  FailureOr<std::optional<MovedRun>> movePaddedRun(tensor::PadOp op,
                                                   const Run &run);
  FailureOr<std::optional<MovedRun>> moveSlicedRun(tensor::ExtractSliceOp op,
                                                   const Run &run);
  FailureOr<std::optional<MovedRun>> moveInsertedRun(tensor::InsertSliceOp op,
                                                     const Run &run);
  template <typename Reshape>
  std::optional<MovedRun> moveReshapedRun(Reshape op, const Run &run);
  /// Returns whether the axis consists of whole runs.
  static bool isWhole(Value tensor, const Run &run);
  /// Returns whether the run's elements are contiguous in the tensor's memory.
  static bool isReadTogether(Value tensor, const Run &run);
  /// The indices of an op's loops for the first element of a run of its result,
  /// and the loop that runs along it; nothing if these are unknown.
  struct RunLoops {
    SmallVector<Value> loops;
    unsigned loop;
  };
  static std::optional<RunLoops> findRunLoops(linalg::GenericOp op,
                                              OpResult result, const Run &run);
  /// Returns the run of an operand along one loop, if that loop moves one axis
  /// only.
  std::optional<Run> findOperandRun(linalg::GenericOp op, OpOperand &operand,
                                    ArrayRef<Value> loops, unsigned loop,
                                    int64_t count);
  FailureOr<SmallVector<Value>> computeRun(Value tensor, const Run &run);
  FailureOr<SmallVector<Value>>
  computeGenericRun(linalg::GenericOp op, OpResult result, const Run &run);
  FailureOr<SmallVector<Value>> addRun(linalg::GenericOp op, OpResult result,
                                       const Run &run);
  /// Computes an op's body on each element of a run of its operands along a
  /// loop. For sums, `running` are the sums so far: one for each element, or a
  /// single one, to which all are added one after the other. If it is empty,
  /// sums start from the op's initial values.
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
  /// The indices of loops that carry tensors.
  IRMapping iterations;
  std::map<Key, Entry> entries;
  std::map<Key, SmallVector<Value>> runs;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPULLER_H
