//===- FormKernels.cpp - Group ops of a task into kernels -----------------===//
//
// Visits ops from the last to the first. An op that is in no kernel yet becomes
// the root of a new kernel, which is built at the root's place. These ops join
// it:
// - elementwise ops that feed it, if all their users outside of the kernel come
//   after the root;
// - one product, convolution or pooling, if the kernel computes functions of
//   its elements;
// - values that the kernel uses row by row (KernelRows.h): reductions, and
//   elementwise ops on their results;
// - other sums of a tensor that the kernel sums up.
//
// Small values and broadcasts are cloned into each kernel that uses them. On a
// GPU, where each thread computes single elements, these join too: sums with as
// many elements as the kernel, sums of small tensors, and unrelated small ops.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Target/Target.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/AlikeSums.h"
#include "Kernels/KernelRows.h"
#include "Kernels/Kernels.h"
#include "Kernels/PartSums.h"
#include "Tasks/CopyUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAFORMKERNELS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// The most elements of a kernel that unrelated small ops may join: on a GPU,
/// computing them too costs less than launching another kernel.
static constexpr int64_t kSmall = 4096;

/// The most elements of a matrix that parts of the rows may each pack again.
/// With matrices of 1024 x 1024 in such kernels, the forwards of an MLP took
/// 1.15 times as long (bench --phases, AMD EPYC). Heads with few classes stay
/// in one kernel with their softmax.
static constexpr int64_t kLargeMatrix = 1 << 14;

namespace {

/// The limits of the size of a kernel.
struct Room {
  /// The most inputs and results together. Each is an address to compute at
  /// each launch, and a register or stack slot.
  size_t operands;
  /// The most ops. The compile time of a kernel may grow faster than linearly;
  /// and if a long chain is divided, equal pieces of it become one function.
  size_t ops;
};

/// The usual limits. The largest kernels of common networks, the updates of
/// optimizers, have half as many ops.
constexpr Room kRoom = {48, 64};

/// The limits of a kernel of unrelated small ops, whose results a GPU's thread
/// keeps in registers until it stores them all.
constexpr Room kRoomForSmall = {72, 112};

class KernelFormer {
public:
  KernelFormer(func::FuncOp task, const SymbolTable &symbols,
               const FormingPolicy &policy)
      : task(task), symbols(symbols), policy(policy) {}

  /// Prepares the task as the policy demands: moves writes to its end, splits
  /// large reductions, and brings reductions of the same tensor together.
  void prepare();
  /// Forms the kernels. `copiesUses` must have been made after all tasks were
  /// prepared; it is null if no op is for a single copy.
  void form(const CopyUses *copiesUses);

private:
  using Members = llvm::SetVector<Operation *>;

  /// An op in the kernel whose operands may join the kernel.
  struct Reader {
    Operation *op;
    bool readsTerms; ///< whether operands are terms of a sum, and not elements
                     ///< of the kernel's shape
  };
  SmallVector<Reader> collectReaders(Operation *root);
  void grow(Operation *root);
  bool joinOperand(Value operand, const Reader &reader, Operation *root);
  Operation *findSpread(Value term, Operation *root);
  void take(Operation *op, Operation *root);
  void growBySums(Operation *root);
  void growBySmall(Operation *root);
  void drop(Operation *root, size_t count);
  void visitNeighbours(Operation *root,
                       function_ref<void(Operation *)> visit) const;
  bool feeds(Operation *op, Operation *root) const;
  bool wouldJoinProducer(Operation *op);
  bool isFreeToJoin(Operation *op, Operation *root);
  bool isReductionOfRows(Operation *op, Operation *root);
  bool isProducerFor(Operation *op, Operation *root);
  bool isSumOfElements(Operation *op, Operation *root);
  bool canJoin(Operation *op, Operation *root, bool isTerm = false);
  bool hasRoom(const Members &members, Operation *op);
  bool allUsesAllow(Operation *op, Operation *root);
  ArrayRef<int64_t> getElements(Operation *root) const;
  bool isUsedIn(Operation *op, Operation *root);
  bool comesBeforeUsers(Operation *op, Operation *root);
  void emit(Operation *root);
  static SmallVector<Value> collectResults(ArrayRef<Operation *> ops,
                                           const Members &members);
  void collectInputs(const Members &members, SetVector<Value> &inputs,
                     SetVector<Operation *> &clones);

  func::FuncOp task;
  const SymbolTable &symbols;
  const CopyUses *uses = nullptr;
  FormingPolicy policy;
  Room room = kRoom;
  bool isFull = false; ///< whether an op could not join for lack of room
  /// Whether all writes are at the task's end, so that any op may be moved
  /// down.
  bool areWritesLast = false;
  WriteSet fixedWrites; ///< writes past which nothing may be moved
  DenseMap<Operation *, unsigned> position;
  /// The root of the kernel that an op is in, and the ops of each kernel by its
  /// root.
  DenseMap<Operation *, Operation *> rootOf;
  DenseMap<Operation *, Members> membersOf;
  DenseSet<Operation *> terms; ///< ops that compute the terms of a sum
  SmallVector<Operation *> roots;
  /// Caches the users of ops, as a value may have very many. An op's users are
  /// in reverse program order; those that have joined a kernel are removed only
  /// when they are found at the end.
  DenseMap<Operation *, SmallVector<Operation *>> freeUsers;
};

} // namespace

static int64_t countElements(Operation *op) {
  return ShapedType::getNumElements(getResultShape(op));
}

static bool isProducer(Operation *op) { return op->hasTrait<ProducerTrait>(); }

/// Whether all rows of a product read the same large matrix. Work items that
/// are rows would each pack it again; items that are columns pack only their
/// part.
static bool needsColumns(Operation *op) {
  auto product = dyn_cast<ContractOp>(op);
  if (!product || product.getType().getRank() == 0)
    return false;
  SmallVector<AffineMap> maps = llvm::to_vector(
      product.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  ArrayRef<AffineExpr> rows = maps.back().getResults().drop_back();
  auto column = cast<AffineDimExpr>(maps.back().getResults().back());
  return llvm::any_of(llvm::zip(maps, product.getOperands()), [&](auto pair) {
    auto [map, operand] = pair;
    return map.isFunctionOfDim(column.getPosition()) &&
           llvm::none_of(rows,
                         [&, map = map](AffineExpr row) {
                           return llvm::is_contained(map.getResults(), row);
                         }) &&
           getTensorType(operand).getNumElements() > kLargeMatrix;
  });
}

/// Whether `op` can be computed at the place of `root`: all of its users that
/// are in no kernel yet come after the root. Users in other kernels always do,
/// as kernels are formed from the last to the first: they will use the value as
/// a result of this kernel.
bool KernelFormer::comesBeforeUsers(Operation *op, Operation *root) {
  auto [found, isNew] = freeUsers.try_emplace(op);
  SmallVector<Operation *> &users = found->second;
  if (isNew) {
    visitUsers(op, [&](Operation *user) { users.push_back(user); });
    llvm::sort(users, [&](Operation *a, Operation *b) {
      return position.lookup(a) > position.lookup(b);
    });
  }
  while (!users.empty() && rootOf.contains(users.back()))
    users.pop_back();
  return users.empty() || position.lookup(users.back()) > position.lookup(root);
}

/// Returns the shape of the elements over which a kernel loops: those of the
/// results of an elementwise root, or of the input of part sums. For a
/// reduction of rows these are the input's if threads share rows, else the
/// rows themselves. Returns an empty shape for other roots, such as reductions
/// whose terms aren't the kernel's elements.
ArrayRef<int64_t> KernelFormer::getElements(Operation *root) const {
  if (isElementwise(root))
    return getResultShape(root);
  if (auto parts = dyn_cast<PartSumsOp>(root))
    return parts.getInput().getType().getShape();
  if (policy.threadsShareRows && areRowsStorable(root))
    return cast<ReduceOp>(root).getInput().getType().getShape();
  if (!policy.threadsShareRows && isa<ReduceOp>(root) &&
      isOfRows(root, getResultShape(root)))
    return getResultShape(root);
  return {};
}

/// Whether the users of `op` allow it to join. If the root is a reduction, an
/// op that could join a product's kernel is left to the product, unless nothing
/// else uses the op.
bool KernelFormer::allUsesAllow(Operation *op, Operation *root) {
  if (isElementwise(root) || isa<PartSumsOp>(root) ||
      (policy.threadsShareRows && getResultShape(op) == getResultShape(root)))
    return comesBeforeUsers(op, root);
  return isUsedIn(op, root) ||
         (!getElements(root).empty() && comesBeforeUsers(op, root) &&
          !wouldJoinProducer(op));
}

bool KernelFormer::isUsedIn(Operation *op, Operation *root) {
  bool isUsedOutside = false;
  visitUsers(op, [&](Operation *user) {
    isUsedOutside |= rootOf.lookup(user) != root;
  });
  return !isUsedOutside;
}

/// Whether `op` is a reduction of rows that the kernel can use row by row. If
/// threads share rows, this requires enough rows, and a kernel without a
/// product.
bool KernelFormer::isReductionOfRows(Operation *op, Operation *root) {
  auto reduce = dyn_cast<ReduceOp>(op);
  ArrayRef<int64_t> elements = getElements(root);
  if (!reduce || !isOfRows(op, elements))
    return false;
  if (!policy.threadsShareRows)
    return llvm::none_of(membersOf[root], needsColumns);
  return reduce.getType().getShape().size() < elements.size() &&
         haveRowsThreads(reduce) && llvm::none_of(membersOf[root], isProducer);
}

/// Whether `op` is a product, convolution or pooling that can join. A kernel
/// has at most one of these. If threads share rows, it must have as many
/// elements as the kernel, and no sum may be beside it: a product without sums
/// is computed by tiles. If they don't, no sum may be beside a product whose
/// work items should be columns.
bool KernelFormer::isProducerFor(Operation *op, Operation *root) {
  if (!isProducer(op) || !(isElementwise(root) || isa<PartSumsOp>(root)))
    return false;
  int64_t elements = ShapedType::getNumElements(getElements(root));
  return (!policy.threadsShareRows || countElements(op) == elements) &&
         llvm::none_of(membersOf[root], [&](Operation *member) {
           return isProducer(member) ||
                  ((policy.threadsShareRows || needsColumns(op)) &&
                   (isa<ReduceOp>(member) || isScatteredSum(member)));
         });
}

/// Whether `op` is a sum that can join the kernel of `root` because their
/// results have the same shape. If threads share rows, each of its elements is
/// then computed only once.
bool KernelFormer::isSumOfElements(Operation *op, Operation *root) {
  return policy.threadsShareRows && (isa<ReduceOp>(op) || isScatteredSum(op)) &&
         (isElementwise(root) || isa<ReduceOp>(root)) &&
         llvm::none_of(membersOf[root], isProducer) &&
         getResultShape(op) == getResultShape(root);
}

/// Whether `op` can join the kernel of `root`. With `isTerm`, it would compute
/// terms of a sum, which aren't the kernel's elements.
bool KernelFormer::canJoin(Operation *op, Operation *root, bool isTerm) {
  if (!op || rootOf.contains(op) || op == root || isRepeated(op) ||
      (isTerm && !isElementwise(op)))
    return false;
  if (!isElementwise(op) && !isReductionOfRows(op, root) &&
      !isSumOfElements(op, root) && !isProducerFor(op, root))
    return false;
  if (auto sums = dyn_cast<PartSumsOp>(root);
      sums && !(policy.threadsShareRows && canHaveParts(sums, op)))
    return false;
  if (policy.threadsShareRows &&
      !areOfSameRows(membersOf[root].getArrayRef(), op, getElements(root)))
    return false;
  // A shared value is computed once, not once per copy.
  if (isArrayed(op->getResult(0)) != isArrayed(root->getResult(0)))
    return false;
  // All ops of a kernel serve the same copies. Otherwise some copies would have
  // to wait for kernels of others.
  if (uses && uses->getCopies(op) != uses->getCopies(root))
    return false;
  if (!(isTerm ? isUsedIn(op, root) : allUsesAllow(op, root)))
    return false;
  bool fits = hasRoom(membersOf[root], op);
  isFull |= !fits;
  return fits;
}

bool KernelFormer::hasRoom(const Members &members, Operation *op) {
  if (members.size() >= room.ops ||
      !haveRoomForParts(members.getArrayRef(), op))
    return false;
  size_t bound = op->getNumOperands() + 1;
  for (Operation *member : members)
    bound += member->getNumOperands() + member->getNumResults();
  if (bound <= room.operands)
    return true;
  Members grown = members;
  grown.insert(op);
  SetVector<Value> inputs;
  SetVector<Operation *> clones;
  collectInputs(grown, inputs, clones);
  return inputs.size() + collectResults(grown.getArrayRef(), grown).size() <=
         room.operands;
}

/// Returns the ops whose operands may join the kernel: its members, and the
/// cloned ops by which it recomputes elements or terms of its sums.
SmallVector<KernelFormer::Reader>
KernelFormer::collectReaders(Operation *root) {
  ArrayRef<int64_t> elements = getElements(root);
  SmallVector<Reader> readers;
  for (Operation *op : membersOf[root])
    if (!isProducer(op) && !isScatteredSum(op))
      readers.push_back(
          {op, terms.contains(op) ||
                   (isa<ReduceOp>(op) && !isReductionOfRows(op, root))});
  for (size_t i = 0; i < readers.size() && readers.size() <= room.ops; ++i) {
    bool readsTerms = readers[i].readsTerms;
    for (Value operand : readers[i].op->getOperands()) {
      Operation *op = operand.getDefiningOp();
      bool isAnew =
          op && isElementwise(op) && isRepeated(op) &&
          (readsTerms || getResultShape(op) == elements) &&
          llvm::none_of(readers, [&](Reader &known) { return known.op == op; });
      if (isAnew)
        readers.push_back({op, readsTerms});
    }
  }
  return readers;
}

void KernelFormer::grow(Operation *root) {
  if (!isElementwise(root) && !getSummed(root))
    return;
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Reader &reader : collectReaders(root))
      for (Value operand : reader.op->getOperands())
        changed |= joinOperand(operand, reader, root);
  }
}

/// If `term` is a broadcast of a value with the shape of the kernel's result,
/// to the terms of one of its reductions, returns the op that computes this
/// value; otherwise null. An example is the mean among the terms of a variance.
Operation *KernelFormer::findSpread(Value term, Operation *root) {
  for (Operation *member : membersOf[root])
    if (auto sum = dyn_cast<ReduceOp>(member);
        sum && policy.threadsShareRows &&
        getResultShape(sum) == getResultShape(root))
      if (Operation *source = getSumSource(term, sum))
        return source;
  return nullptr;
}

bool KernelFormer::joinOperand(Value operand, const Reader &reader,
                               Operation *root) {
  if (reader.readsTerms)
    if (Operation *op = findSpread(operand, root)) {
      bool joins = canJoin(op, root);
      if (joins)
        take(op, root);
      return joins;
    }
  Operation *op = getRowSource(operand);
  bool isSpread = op && op != operand.getDefiningOp();
  if (!canJoin(op, root, reader.readsTerms) ||
      (isSpread && !isOfRows(op, getElements(root))))
    return false;
  take(op, root);
  if (reader.readsTerms)
    terms.insert(op);
  return true;
}

void KernelFormer::take(Operation *op, Operation *root) {
  membersOf[root].insert(op);
  rootOf[op] = root;
}

/// Whether an op in the kernel of `root` uses a result of `op`.
bool KernelFormer::feeds(Operation *op, Operation *root) const {
  bool isUsed = false;
  visitUsers(op,
             [&](Operation *user) { isUsed |= rootOf.lookup(user) == root; });
  return isUsed;
}

/// Lets earlier reductions join that read the same tensor as one of the
/// kernel's reductions or, with `policy.joinsSmallOps`, are small and like one
/// of them.
void KernelFormer::growBySums(Operation *root) {
  SmallVector<Operation *> sums;
  for (Operation *member : membersOf[root])
    if (getSummed(member))
      sums.push_back(member);
  if (sums.empty())
    return;
  visitNeighbours(root, [&](Operation *op) {
    bool isFree =
        getSummed(op) && !rootOf.contains(op) &&
        areOfSameRows(membersOf[root].getArrayRef(), op, getElements(root)) &&
        llvm::any_of(sums, [&](Operation *sum) {
          return readAlike(op, sum) ||
                 (policy.joinsSmallOps && areSmallAndAlike(op, sum));
        });
    if (!isFree || !comesBeforeUsers(op, root) || feeds(op, root) ||
        !hasRoom(membersOf[root], op) ||
        (uses && uses->getCopies(op) != uses->getCopies(root)))
      return;
    take(op, root);
    grow(root);
  });
}

/// Calls `visit` with the ops before `root`, the nearest first, up to a write
/// past which nothing may be moved, or a limit that bounds the cost of the
/// search.
void KernelFormer::visitNeighbours(
    Operation *root, function_ref<void(Operation *)> visit) const {
  Operation *op = root->getPrevNode();
  for (size_t i = 0; i < 4 * room.ops && op && !fixedWrites.contains(op);
       ++i, op = op->getPrevNode())
    visit(op);
}

/// Whether `op`, as a root, would take a product into its kernel. Follows
/// operands through elementwise ops, as long as no other op before `op` needs
/// them.
bool KernelFormer::wouldJoinProducer(Operation *op) {
  llvm::SmallSetVector<Operation *, 8> taken;
  taken.insert(op);
  auto isNeededBefore = [&](Operation *source) {
    bool isNeeded = false;
    visitUsers(source, [&](Operation *user) {
      isNeeded |= !rootOf.contains(user) && !taken.contains(user) &&
                  position.lookup(user) < position.lookup(op);
    });
    return isNeeded;
  };
  for (bool changed = true; changed && taken.size() < room.ops;) {
    changed = false;
    for (Operation *reader : SmallVector<Operation *>(taken.getArrayRef()))
      for (Value operand : reader->getOperands()) {
        Operation *source = getRowSource(operand);
        if (!source || rootOf.contains(source) || taken.contains(source) ||
            !(isProducer(source) || isElementwise(source)) ||
            isNeededBefore(source))
          continue;
        if (isProducer(source) && countElements(source) == countElements(op))
          return true;
        changed |= isElementwise(source) && taken.insert(source);
      }
  }
  return false;
}

/// Whether `op` may join a kernel that is unrelated to it: a constant that is
/// stored joins such constants, an elementwise op a kernel of elementwise ops.
/// An elementwise op must not have more elements than the root, as the kernel
/// computes its sums for each of its elements. Nor may it be one that would
/// take a product into its kernel, because such kernels compute only functions
/// of the product's elements.
bool KernelFormer::isFreeToJoin(Operation *op, Operation *root) {
  if (isa<ConstantOp>(root))
    return !rootOf.contains(op) && areStoredAlike(op, root, symbols) &&
           (!uses || uses->getCopies(op) == uses->getCopies(root)) &&
           comesBeforeUsers(op, root) && hasRoom(membersOf[root], op);
  return isElementwise(op) && countElements(op) <= countElements(root) &&
         canJoin(op, root) && !wouldJoinProducer(op);
}

/// Removes the members that joined last, until `count` are left. Clears the
/// cached users, as some of them are in no kernel any more.
void KernelFormer::drop(Operation *root, size_t count) {
  Members &members = membersOf[root];
  while (members.size() > count) {
    Operation *op = members.pop_back_val();
    rootOf.erase(op);
    terms.erase(op);
  }
  freeUsers.clear();
}

/// Lets unrelated small ops join, the nearest first, or, if the root is a
/// constant that is stored, such constants of any size. An op joins together
/// with the ops that it depends on, or not at all if there is no room for
/// these: a kernel with one half of an update would have to wait for the kernel
/// with the other.
void KernelFormer::growBySmall(Operation *root) {
  bool isSmall = isElementwise(root) && countElements(root) <= kSmall &&
                 llvm::none_of(membersOf[root], isProducer);
  if (!isSmall && !isa<ConstantOp>(root))
    return;
  room = kRoomForSmall;
  isFull = false;
  visitNeighbours(root, [&](Operation *op) {
    if (isFull || !isFreeToJoin(op, root))
      return;
    size_t before = membersOf[root].size();
    take(op, root);
    grow(root);
    if (isFull)
      drop(root, before);
  });
  room = kRoom;
}

void KernelFormer::collectInputs(const Members &members,
                                 SetVector<Value> &inputs,
                                 SetVector<Operation *> &clones) {
  SmallVector<Operation *> worklist(members.begin(), members.end());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (membersOf.contains(def) || members.contains(def)) {
        if (!members.contains(def))
          inputs.insert(operand);
        continue;
      }
      if (isRepeated(def) && !rootOf.contains(def)) {
        if (clones.insert(def))
          worklist.push_back(def);
        continue;
      }
      inputs.insert(operand);
    }
  }
}

/// Returns those of the members' results that other ops use, in the order of
/// `ops`.
SmallVector<Value> KernelFormer::collectResults(ArrayRef<Operation *> ops,
                                                const Members &members) {
  SmallVector<Value> results;
  for (Operation *op : ops)
    if (members.contains(op))
      for (Value result : op->getResults())
        if (isUsedOutside(result, members))
          results.push_back(result);
  return results;
}

/// Clones an op with the types of one copy's plain tensors.
static void cloneLogical(OpBuilder &builder, Operation *op,
                         IRMapping &mapping) {
  Operation *clone = builder.clone(*op, mapping);
  for (Value result : clone->getResults())
    result.setType(getLogicalType(result.getType()));
}

void KernelFormer::emit(Operation *root) {
  Members &members = membersOf[root];
  SetVector<Value> inputs;
  SetVector<Operation *> clones;
  collectInputs(members, inputs, clones);
  SmallVector<Operation *> ordered(members.begin(), members.end());
  llvm::append_range(ordered, clones);
  llvm::sort(ordered, [&](Operation *a, Operation *b) {
    return position.lookup(a) < position.lookup(b);
  });
  SmallVector<Value> results = collectResults(ordered, members);

  OpBuilder builder(root);
  auto kernel =
      KernelOp::create(builder, root->getLoc(), TypeRange(ValueRange(results)),
                       root->getName().stripDialect(), inputs.getArrayRef(),
                       ArrayAttr(), DenseI64ArrayAttr());
  Block &body = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(getLogicalType(input.getType()),
                                        input.getLoc()));
  builder.setInsertionPointToStart(&body);
  for (Operation *op : ordered)
    cloneLogical(builder, op, mapping);
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(mapping.lookup(result));
  YieldOp::create(builder, root->getLoc(), yielded);
  for (auto [result, replacement] : llvm::zip(results, kernel.getResults()))
    result.replaceUsesWithIf(replacement, [&](OpOperand &use) {
      return !members.contains(use.getOwner());
    });
}

void KernelFormer::prepare() {
  areWritesLast = policy.joinsSmallOps && sinkWrites(task);
  fixedWrites = findFixedWrites(task);
  sinkStoredValues(task, areWritesLast);
  splitReductions(task);
  if (policy.joinsReductions)
    gatherSums(task, fixedWrites);
}

void KernelFormer::form(const CopyUses *copiesUses) {
  uses = copiesUses;
  Block &block = task.getBody().front();
  unsigned next = 0;
  for (Operation &op : block)
    position[&op] = next++;
  for (Operation &op : llvm::reverse(block)) {
    if (rootOf.contains(&op) || isStructural(&op))
      continue;
    // An op that kernels recompute needs a kernel of its own only if its result
    // is stored.
    if (isRepeated(&op) && !isStored(&op))
      continue;
    rootOf[&op] = &op;
    membersOf[&op].insert(&op);
    roots.push_back(&op);
    grow(&op);
    if (policy.joinsReductions)
      growBySums(&op);
    if (policy.joinsSmallOps && areWritesLast)
      growBySmall(&op);
  }
  for (Operation *root : roots)
    emit(root);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!isStructural(&op) && op.use_empty())
      op.erase();
}

namespace {
struct FormKernelsPass : hfta::impl::HftaFormKernelsBase<FormKernelsPass> {
  using HftaFormKernelsBase::HftaFormKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = Target::read(module);
    if (!target)
      return signalPassFailure();
    SmallVector<func::FuncOp> tasks;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(HftaDialect::kTaskAttrName))
        tasks.push_back(function);
    SymbolTable symbols(module);
    SmallVector<KernelFormer, 0> formers;
    DenseMap<Attribute, VariableOp> stored;
    for (func::FuncOp task : tasks) {
      storeLargeConstants(task, symbols, stored);
      formers.push_back({task, symbols, target->getForming()});
      formers.back().prepare();
    }
    std::optional<CopyUses> uses;
    if (int64_t copies = countCopiesApart(module))
      uses.emplace(module, copies);
    for (KernelFormer &former : formers)
      former.form(uses ? &*uses : nullptr);
    llvm::for_each(tasks, insertCopies);
  }
};
} // namespace
