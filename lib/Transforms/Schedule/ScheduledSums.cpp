//===- ScheduledSums.cpp - Tasks that add up the sums of groups -----------===//
//
// A step forms a sum of gradients, and of losses, for each group of its
// micro-batches, and finally adds up these sums in an order that depends only
// on the number of groups. Gradients are added up without regard to variables,
// in blocks of bytes, so that ranks can share the blocks of any model evenly.
// Results, which are few and of several types, are added up variable by
// variable.
//===----------------------------------------------------------------------===//

#include "Schedule/ScheduledSums.h"

#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Precision/Precision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::hfta;

ScheduledSums::ScheduledSums(ModuleOp module, const Job &job,
                             const std::map<int64_t, int64_t> &groupOf)
    : module(module), job(job) {
  int64_t groups = job.getMostGroups();
  if (groups == 1)
    return;
  ArrayAttr table = SegmentAttr::getTable(module);
  received = static_cast<int64_t>(table.size());
  int64_t most = 0;
  for (auto [number, segment] :
       llvm::enumerate(table.getAsRange<SegmentAttr>())) {
    if (!segment.isOfGroups() || segment.getInstances() == 1 ||
        segment.getBytes() == 0 || groupOf.count(static_cast<int64_t>(number)))
      continue;
    addSums(static_cast<int64_t>(number), segment);
    const Sums &added = all.back();
    most = std::max(most, std::min(added.attribute.getBytes(),
                                   std::max(job.bucket, added.blockBytes)));
  }
  SmallVector<Attribute> segments(table.begin(), table.end());
  segments.push_back(SegmentAttr::get(module.getContext(), Role::received,
                                      /*block=*/-1, most, groups,
                                      /*copyBytes=*/0));
  module->setAttr(HftaDialect::kSegmentsAttrName,
                  ArrayAttr::get(module.getContext(), segments));
}

/// Returns whether the segment holds sums of evaluations, not of steps.
bool ScheduledSums::holdsEvaluations(int64_t segment) {
  return llvm::any_of(module.getOps<VariableOp>(), [&](VariableOp variable) {
    std::optional<BindingAttr> place = variable.getLocation();
    return place && place->getSegment() == segment &&
           variable.isFor(Purpose::evaluation_loss);
  });
}

void ScheduledSums::addSums(int64_t number, SegmentAttr segment) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  bool isFlat = SegmentAttr::isSummed(segment.getRole());
  Sums sums = {number, segment,
               isFlat ? SegmentAttr::kBlockBytes : segment.getBytes(), nullptr};
  std::string part = parts::kCombine.str();
  if (segment.getRole() != Role::gradient)
    part += isFlat ? "_moments" : "_results";
  if (!isFlat && holdsEvaluations(number))
    part += "_of_evaluations";
  auto getName = [&] {
    return (names::kTaskPrefix + TaskAttr::makeName(part, segment.getBlock()))
        .str();
  };
  // A block has several segments of a role if only some variables are fused, or
  // if other stages read some of its variables.
  std::string first = part;
  for (int64_t more = 1; module.lookupSymbol(getName()); ++more)
    part = first + "_" + std::to_string(more);
  sums.task = TaskOp::create(
      builder, module.getLoc(), getName(), part, segment.getBlock(),
      ArrayRef<int64_t>{number, received}, ArrayRef<int64_t>{number},
      DenseI64ArrayAttr(), /*by_copies=*/false, ReplicasAttr());
  sums.task.getBody().emplaceBlock();
  if (isFlat) {
    Type type =
        getFloatType(module.getContext(), segment.getRole() == Role::gradient
                                              ? job.precision.gradients
                                              : job.precision.compute);
    int64_t elements =
        SegmentAttr::kBlockBytes * 8 / type.getIntOrFloatBitWidth();
    addLaunch(sums, RankedTensorType::get({elements}, type), 0,
              SegmentAttr::kBlockBytes);
  } else {
    for (auto variable : module.getOps<VariableOp>()) {
      std::optional<BindingAttr> place = variable.getLocation();
      if (!place || place->getSegment() != number)
        continue;
      RankedTensorType type = variable.getTensorType();
      // Padding between two copies' tensors is added up with them.
      int64_t between = place->getStride() * 8 / type.getElementTypeBitWidth();
      int64_t elements =
          type.getNumElements() + (getCopies(type).value_or(1) - 1) * between;
      addLaunch(sums, RankedTensorType::get({elements}, type.getElementType()),
                place->getOffset(), 0);
    }
  }
  all.push_back(sums);
}

void ScheduledSums::addLaunch(Sums &sums, RankedTensorType type, int64_t offset,
                              int64_t stride) {
  MLIRContext *context = module->getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(&sums.task.getBody().front());
  Attribute bindings[] = {
      BindingAttr::get(context, sums.segment, offset, stride, /*copy=*/-1),
      BindingAttr::get(context, received, offset, stride, /*copy=*/-1)};
  LaunchOp::create(builder, module.getLoc(), getKernel(type).getSymName(),
                   ArrayAttr::get(context, bindings), /*inputs=*/2,
                   /*written=*/ArrayRef<int64_t>{0}, /*per_copy=*/stride != 0,
                   /*copy=*/IntegerAttr(), /*joins=*/false,
                   /*only=*/DenseI64ArrayAttr());
}

/// Returns the kernel that adds its second operand to its first one, in f32 or
/// a wider type.
func::FuncOp ScheduledSums::getKernel(RankedTensorType type) {
  std::string name;
  llvm::raw_string_ostream(name)
      << names::kKernelPrefix << parts::kCombine << '.' << type.getElementType()
      << '.' << type.getNumElements();
  SymbolTable symbols(module);
  if (auto known = symbols.lookup<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto kernel = func::FuncOp::create(
      builder, loc, name, builder.getFunctionType({type, type}, {type}));
  kernel.setPrivate();
  kernel->setAttr("hfta.kernel", builder.getUnitAttr());
  kernel->setAttr("hfta.ties", builder.getDenseI64ArrayAttr({0}));
  // The launch isn't divided into work items, because it has enough blocks for
  // all threads.
  kernel->setAttr("hfta.copies", builder.getI64IntegerAttr(1 << 16));
  Block *body = kernel.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  auto computed = RankedTensorType::get(
      type.getShape(), atLeastF32(cast<FloatType>(type.getElementType())));
  auto castTo = [&](Value value, RankedTensorType to) -> Value {
    return value.getType() == to ? value
                                 : CastOp::create(builder, loc, to, value);
  };
  Value sum =
      AddOp::create(builder, loc, castTo(body->getArgument(0), computed),
                    castTo(body->getArgument(1), computed));
  func::ReturnOp::create(builder, loc, castTo(sum, type));
  return kernel;
}

void ScheduledSums::addBuckets(const Sums &sums,
                               SmallVectorImpl<SumBucket> &buckets) const {
  MLIRContext *context = module->getContext();
  int64_t size = sums.blockBytes;
  int64_t most = std::max(job.bucket / size, int64_t(1)) * size;
  for (int64_t at = 0; at < sums.attribute.getBytes(); at += most)
    buckets.push_back(
        {sums.task, std::min(most, sums.attribute.getBytes() - at),
         PlaceAttr::get(context, Space::segment, sums.segment, at, size),
         PlaceAttr::get(context, Space::segment, received, 0, 0)});
}

SmallVector<SumBucket> ScheduledSums::getBuckets(Role role,
                                                 int64_t block) const {
  SmallVector<SumBucket> buckets;
  for (const Sums &sums : all)
    if (sums.attribute.getRole() == role && sums.attribute.getBlock() == block)
      addBuckets(sums, buckets);
  return buckets;
}

SmallVector<SumBucket> ScheduledSums::getBuckets(Role role) const {
  SmallVector<SumBucket> buckets;
  for (const Sums &sums : all)
    if (sums.attribute.getRole() == role)
      addBuckets(sums, buckets);
  return buckets;
}
