//===- ElementPuller.h - Kernels element by element -------------*- C++ -*-===//
//
// A thread of a GPU computes single elements. Instead of whole tensors, which
// would need memory, it has of each value of a kernel only what the element
// asks for: what is asked of a sum are its terms, of a slice an element of what
// it was cut from.
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

/// So many neighbours along an axis of a tensor, from these indices on. The
/// first one's index along the axis is a multiple of their count.
struct Run {
  SmallVector<Value> indices;
  unsigned axis;
  int64_t count;
};

/// Where in memory a run's elements lie as they are, if they do.
struct RunSource {
  Value memory;
  SmallVector<Value> indices; ///< of the first one
  Value isInside;             ///< else all of them are +0; NULL: always
};

/// What a thread reads of memory, or writes, at once at most. Tensors begin at
/// multiples of that, in each copy's memory, too, and so do rows of as many
/// elements.
inline constexpr int64_t kAccessBytes = 16;

/// The vector whose elements these are, in order; NULL if there is none.
Value findWhole(ArrayRef<Value> elements);

/// Whether a float has 16 bits. What moves these emulated moves integers, as
/// there may be no instructions for them.
bool isNarrowFloat(Type type);

/// Whether an op's elements can be computed together: what is read within a
/// loop of one isn't there for the next one.
bool computesRuns(linalg::GenericOp op);

/// Builds what computes elements of the tensors of one kernel's body. Each
/// value stands in the outermost loop in which it can be computed, once for all
/// that ask for it there. The terms of a sum are added in the order of the op's
/// reduction loops, to the element that it starts from; but where the op says
/// so, those of some lanes or groups are, and then what these have.
class ElementPuller {
public:
  /// Builds at the end of a block, before its terminator if there is one, and
  /// constants at its beginning. `globals` gives the memory of a constant.
  ElementPuller(OpBuilder &builder, Block *block,
                std::function<Value(arith::ConstantOp)> globals);

  /// Elements of this tensor, an argument of the kernel, lie in memory.
  void place(Value tensor, Value memory) { places[tensor] = memory; }

  /// From here on several threads add up each sum together, where all of them
  /// get there.
  void shareSums(const SumLanes &lanes) { sumLanes = lanes; }

  /// The element of a tensor, or of what computes it; the indices lie in it.
  /// Fails with an error on an op that has no single elements.
  FailureOr<Value> pull(Value tensor, ArrayRef<Value> wanted);
  /// The element of an op's operand at these numbers of the op's loops.
  FailureOr<Value> pullOperand(linalg::GenericOp op, OpOperand &operand,
                               ArrayRef<Value> loops);

  /// The elements of an op's operand at these numbers of the op's loops, and
  /// those behind it along one of the loops, as of a run.
  FailureOr<SmallVector<Value>> pullOperandRun(linalg::GenericOp op,
                                               OpOperand &operand,
                                               ArrayRef<Value> loops,
                                               unsigned loop, int64_t count);

  /// The same of where these elements lie, which may be in a narrower type;
  /// nothing where they are computed, or don't lie together. Builds only what
  /// says where.
  FailureOr<std::optional<RunSource>> findSource(linalg::GenericOp op,
                                                 OpOperand &operand,
                                                 ArrayRef<Value> loops,
                                                 unsigned loop, int64_t count);

  FailureOr<SmallVector<Value>> pullRun(Value tensor, const Run &run);
  /// Stores a run's elements, at the end of what is built.
  void writeRun(Value memory, ArrayRef<Value> elements, const Run &run);

  /// Whoever asks for an element of this tensor gets this one; NULL: no more.
  void own(Value tensor, Value element);
  /// What follows is built in a block of a loop or a branch, which stands in
  /// the one that was built before.
  /// `diverges`: threads of a block needn't go through it together.
  void enter(Block *block, Operation *opener, bool isConditional,
             bool diverges) {
    scopes.push_back({block, opener, isConditional, diverges});
  }
  void leave() { scopes.pop_back(); }

  /// `inside` where the condition holds, else `outside`.
  FailureOr<Value> choose(Value condition, Type type,
                          llvm::function_ref<FailureOr<Value>()> inside,
                          llvm::function_ref<FailureOr<Value>()> outside);

  /// The same of runs of as many elements.
  using MakeRun = llvm::function_ref<FailureOr<SmallVector<Value>>()>;
  FailureOr<SmallVector<Value>> chooseRun(Value condition, MakeRun inside,
                                          MakeRun outside);

  /// An affine expression of indices.
  Value apply(AffineExpr expression, ArrayRef<Value> operands);
  /// Of two indices the bits that only one of them has.
  Value exclusiveOr(Value lhs, Value rhs);
  Value index(int64_t value);
  /// A constant, once for all.
  Value pullSplat(TypedAttr value);
  /// The indices of the element of this number, in row-major order, which is an
  /// expression of the operands.
  SmallVector<Value> delinearize(AffineExpr number, ArrayRef<Value> operands,
                                 ArrayRef<int64_t> shape);

private:
  /// A block that is being built; `opener` stands in the one around it.
  struct Scope {
    Block *block;
    Operation *opener;
    bool isConditional; ///< what stands in it needn't run
    bool diverges;      ///< threads of a block needn't go through it together
  };
  struct Entry {
    Value value;
    Block *block;
  };
  /// A tensor that a loop carries: of all its elements one.
  struct Carried {
    SmallVector<Value> indices;
    Value element;
    SmallVector<Value> others; ///< indices that are the same where it matters
  };
  using Key = SmallVector<const void *>;

  /// Where values that depend on these can be computed.
  size_t findLevel(ValueRange operands) const;
  void setInsertionPoint(size_t level);
  Value remember(const Key &key, Value value);
  Value recall(const Key &key) const;

  /// A scalar of the kernel's body or of a region in it, with the values that
  /// `known` says.
  FailureOr<Value> compute(Value scalar, const IRMapping &known,
                           llvm::function_ref<FailureOr<Value>(Value)> find);
  FailureOr<Value>
  computeLoop(scf::ForOp op, unsigned result, const IRMapping &known,
              llvm::function_ref<FailureOr<Value>(Value)> find);
  FailureOr<Value> computeScalar(Value scalar);
  FailureOr<Value> compute(Value tensor, ArrayRef<Value> indices);

  FailureOr<Value> computeNumber(OpFoldResult number);
  /// Of an axis of one element the index is known, however it was computed.
  SmallVector<Value> simplify(Value tensor, ArrayRef<Value> indices);

  FailureOr<Value> pullConstant(arith::ConstantOp op, ArrayRef<Value> indices);
  FailureOr<Value> pullGeneric(linalg::GenericOp op, unsigned result,
                               ArrayRef<Value> indices);
  /// What the op's body makes of one element of each operand, of `outputs`
  /// where there are some; `loops` are the numbers of its loops.
  FailureOr<Value> computeBody(linalg::GenericOp op, ArrayRef<Value> loops,
                               ArrayRef<Value> outputs, unsigned result);
  FailureOr<Value> addTerms(linalg::GenericOp op, SmallVector<Value> loops,
                            ArrayRef<unsigned> reduced, unsigned result,
                            ArrayRef<Value> indices);
  /// What is added at a time: neighbours along a loop, which are read
  /// together. They are terms of one sum, one after the other, or terms of as
  /// many sums.
  struct SumStep {
    unsigned loop;
    int64_t count;
    bool areTerms;

    int64_t countTerms() const { return areTerms ? count : 1; }
  };
  static SumStep getStep(linalg::GenericOp op, ArrayRef<unsigned> reduced);
  /// A loop over some terms, by the number of a step's first one, from and to
  /// which it goes; its body is built, and the loop stands in the scope of a
  /// level.
  FailureOr<SmallVector<Value>>
  addSome(linalg::GenericOp op, SmallVector<Value> loops,
          ArrayRef<unsigned> reduced, ArrayRef<Value> begins, SumStep step,
          std::array<Value, 3> range, size_t level, bool diverges);
  FailureOr<SmallVector<Value>> addStep(linalg::GenericOp op,
                                        ArrayRef<Value> loops,
                                        ArrayRef<Value> before, SumStep step);
  /// Whether all threads of a block get to what is built in a level.
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
  /// Where an element lies in what is sliced.
  FailureOr<SmallVector<Value>> findUnsliced(tensor::ExtractSliceOp op,
                                             ArrayRef<Value> indices);
  FailureOr<Value> pullSlice(tensor::ExtractSliceOp op,
                             ArrayRef<Value> indices);
  /// Where an element lies in what is inserted, if it does, and which of the
  /// whole it then is.
  struct InsertedIndices {
    SmallVector<Value> indices, own;
    Value isInside; ///< NULL: always
  };
  FailureOr<InsertedIndices> findInserted(tensor::InsertSliceOp op,
                                          ArrayRef<Value> indices);
  FailureOr<Value> pullInsertion(tensor::InsertSliceOp op,
                                 ArrayRef<Value> indices);
  /// Where an element lies in what is padded, if it does.
  struct PaddedIndices {
    SmallVector<Value> indices;
    Value isInside; ///< NULL: always
  };
  FailureOr<PaddedIndices> findUnpadded(tensor::PadOp op,
                                        ArrayRef<Value> indices);
  FailureOr<Value> pullPadded(tensor::PadOp op, ArrayRef<Value> indices);
  // Of runs.
  FailureOr<SmallVector<Value>> pullOneByOne(Value tensor, const Run &run);
  SmallVector<Value> readRun(Value memory, Location loc, const Run &run);
  /// The run of another tensor that a run is, where a condition holds.
  struct MovedRun {
    Value from;
    Run run;
    Value isInside; ///< NULL: always
    Value outside;  ///< the scalar that all its elements are elsewhere
  };
  /// Of what the tensor is made of; nothing where it is computed, or where its
  /// neighbours aren't neighbours there.
  FailureOr<std::optional<MovedRun>> moveRun(Value tensor, const Run &run);
  FailureOr<std::optional<MovedRun>> movePaddedRun(tensor::PadOp op,
                                                   const Run &run);
  FailureOr<std::optional<MovedRun>> moveSlicedRun(tensor::ExtractSliceOp op,
                                                   const Run &run);
  FailureOr<std::optional<MovedRun>> moveInsertedRun(tensor::InsertSliceOp op,
                                                     const Run &run);
  template <typename Reshape>
  std::optional<MovedRun> moveReshapedRun(Reshape op, const Run &run);
  /// Whether the axis is one of whole runs.
  static bool isWhole(Value tensor, const Run &run);
  /// Whether the run's elements are neighbours in the tensor's memory.
  static bool isReadTogether(Value tensor, const Run &run);
  /// The numbers of an op's loops for the first element of a run of its result,
  /// and the loop that goes along the run; nothing where these aren't known.
  struct RunLoops {
    SmallVector<Value> loops;
    unsigned loop;
  };
  static std::optional<RunLoops> findRunLoops(linalg::GenericOp op,
                                              OpResult result, const Run &run);
  /// The run of an operand that goes along one loop, if one axis alone does.
  std::optional<Run> findOperandRun(linalg::GenericOp op, OpOperand &operand,
                                    ArrayRef<Value> loops, unsigned loop,
                                    int64_t count);
  FailureOr<SmallVector<Value>> computeRun(Value tensor, const Run &run);
  FailureOr<SmallVector<Value>>
  computeGenericRun(linalg::GenericOp op, OpResult result, const Run &run);
  FailureOr<SmallVector<Value>> addRun(linalg::GenericOp op, OpResult result,
                                       const Run &run);
  /// What the op's body makes of each element of a run of its operands along a
  /// loop. Of sums `running` are those before, one for each, or one alone, to
  /// which all are added one after the other; empty: those that the op begins
  /// with.
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
  // Conditions; NULL holds always.
  Value isBetween(Value index, Value low, Value high, int64_t size);
  Value isMultiple(Value number, int64_t of);
  Value both(Value first, Value second);

  OpBuilder &builder;
  std::function<Value(arith::ConstantOp)> globals;
  SmallVector<Scope> scopes;
  DenseMap<Value, Value> places, owned;
  std::optional<SumLanes> sumLanes;
  DenseMap<Value, Carried> carried;
  /// Of loops that carry tensors: their numbers.
  IRMapping iterations;
  std::map<Key, Entry> entries;
  std::map<Key, SmallVector<Value>> runs;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_ELEMENTPULLER_H
