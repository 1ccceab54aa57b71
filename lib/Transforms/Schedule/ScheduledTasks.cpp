//===- ScheduledTasks.cpp - Tasks as lists of launches --------------------===//

#include "Schedule/ScheduledTasks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// The way in which launches of a task use the copies of the array.
class LaunchUses {
public:
  explicit LaunchUses(ModuleOp module)
      : segments(SegmentAttr::getTable(module)) {}

  /// Returns whether the task may run for some copies first and for others
  /// later.
  bool runsByCopies(func::FuncOp task) const {
    return llvm::all_of(task.getOps<LaunchOp>(), [&](LaunchOp launch) {
      return isOfCopy(launch) || isRepeatable(launch);
    });
  }

  /// Returns whether a copy computes the launch for itself, from its own and
  /// from shared values only. Then it may do so while other copies compute
  /// other launches.
  static bool isOfCopy(LaunchOp launch) {
    if (launch->hasAttr("hfta.reads_copies"))
      return false;
    if (launch.getCopy())
      return true;
    return launch.getPerCopy() &&
           llvm::all_of(launch.getWritten(), [&](int64_t index) {
             return cast<BindingAttr>(launch.getBindings()[index])
                        .getStride() != 0;
           });
  }

private:
  /// Returns whether a launch for all copies may be repeated within a step
  /// because it always computes the same: it uses only data, and results of
  /// such launches.
  bool isRepeatable(LaunchOp launch) const {
    if (launch.getPerCopy() || launch->hasAttr("hfta.reads_copies"))
      return false;
    auto inputs = static_cast<int64_t>(launch.getInputs());
    for (auto [index, attribute] : llvm::enumerate(launch.getBindings())) {
      std::optional<Role> role =
          getRole(cast<BindingAttr>(attribute).getSegment());
      bool isWritten =
          llvm::is_contained(launch.getWritten(), static_cast<int64_t>(index));
      bool isOfData =
          role == Role::workspace || role == Role::saved || role == Role::cut;
      bool isGiven = role == Role::input || role == Role::constant ||
                     role == Role::scalar || role == Role::moment;
      if (isWritten && (!isOfData || static_cast<int64_t>(index) < inputs))
        return false;
      if (!isOfData && !isGiven)
        return false;
    }
    return true;
  }

  std::optional<Role> getRole(int64_t segment) const {
    if (segment < 0 || segment >= static_cast<int64_t>(segments.size()))
      return std::nullopt;
    return cast<SegmentAttr>(segments[segment]).getRole();
  }

  ArrayAttr segments;
};

} // namespace

/// Lets adjacent launches run together, copy by copy, if they run once per copy
/// and no copy reads what another one writes. Then a thread's caches still
/// contain the values that the next launch reads. A launch for a single copy
/// isn't joined, so that all threads work on this copy; nor are launches for
/// different copies.
static void joinLaunches(TaskOp task) {
  LaunchOp open;
  for (auto launch : task.getBody().getOps<LaunchOp>()) {
    bool canJoin = launch.getPerCopy() && LaunchUses::isOfCopy(launch);
    launch.setJoins(canJoin && open &&
                    launch.getOnlyAttr() == open.getOnlyAttr());
    open = canJoin ? launch : LaunchOp();
  }
}

/// Finds the segments that a task's launches read or, if `written`, write.
static SmallVector<int64_t> findSegments(func::FuncOp task, bool written) {
  std::set<int64_t> found;
  for (auto launch : task.getOps<LaunchOp>())
    for (auto [index, binding] : llvm::enumerate(launch.getBindings())) {
      auto number = static_cast<int64_t>(index);
      bool isTouched = written
                           ? llvm::is_contained(launch.getWritten(), number)
                           : number < static_cast<int64_t>(launch.getInputs());
      if (isTouched)
        found.insert(cast<BindingAttr>(binding).getSegment());
    }
  return llvm::to_vector(found);
}

/// Finds the bytes of each workspace that the launches use. Returns null if a
/// kernel isn't in the module, so that its operands' types are unknown.
static DenseI64ArrayAttr findWorkspace(TaskOp task,
                                       const SymbolTable &symbols) {
  constexpr int64_t alignment = 64; // as for all places of values
  ArrayAttr segments = SegmentAttr::getTable(task);
  DenseMap<int64_t, int64_t> ends;
  for (auto launch : task.getBody().getOps<LaunchOp>()) {
    auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
    if (!kernel)
      return {};
    auto note = [&](int64_t number, Type type) {
      auto place = cast<BindingAttr>(launch.getBindings()[number]);
      int64_t &end = ends[place.getSegment()];
      end = std::max<int64_t>(
          end,
          llvm::alignTo(place.getOffset() + getLogicalBytes(type), alignment));
    };
    for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
      note(static_cast<int64_t>(index), type);
    for (auto [number, type] :
         llvm::zip(launch.getWritten(), kernel.getResultTypes()))
      note(number, type);
  }
  SmallVector<int64_t> needed;
  for (int64_t number : task.findWorkspaces())
    needed.push_back(
        std::min(ends.lookup(number),
                 cast<SegmentAttr>(segments[number]).getUnitBytes()));
  return DenseI64ArrayAttr::get(task.getContext(), needed);
}

void hfta::convertTasks(ModuleOp module) {
  LaunchUses uses(module);
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(HftaDialect::kTaskAttrName))
      functions.push_back(function);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (func::FuncOp function : functions) {
    auto attribute =
        function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    auto task = TaskOp::create(
        builder, function.getLoc(), function.getSymName(), attribute.getPart(),
        attribute.getBlock(), findSegments(function, /*written=*/false),
        findSegments(function, /*written=*/true), DenseI64ArrayAttr(),
        uses.runsByCopies(function), attribute.getReplicas());
    Block &body = task.getBody().emplaceBlock();
    for (auto launch : llvm::make_early_inc_range(function.getOps<LaunchOp>()))
      launch->moveBefore(&body, body.end());
    function.erase();
    joinLaunches(task);
    if (!task.findWorkspaces().empty())
      task.setWorkspaceAttr(findWorkspace(task, symbols));
  }
}
