//===- TaskTables.h - Tasks and schedules as tables -------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATORUNTIME_TASKTABLES_H
#define HFTA_LIB_CONVERSION_HFTATORUNTIME_TASKTABLES_H

#include "ConstantTables.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "hfta/program.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::hfta {

/// Returns the record of a set of replicas; an empty set if the attribute is
/// null.
StructRecord<hfta_replicas> getReplicasRecord(ReplicasAttr replicas);

/// Builds the tables of a module's tasks and schedules.
class TaskTables {
public:
  TaskTables(ModuleOp module, const Job &job, ConstantTables &tables);

  LogicalResult build();

  /// The tables; null if they have no rows.
  FlatSymbolRefAttr taskTable, scheduleTable, orderTable;
  uint32_t taskCount = 0, scheduleCount = 0, orderCount = 0, eventCount = 0,
           queueCount = 1;
  int64_t scratchBytes =
      0; ///< the most bytes of scratch memory that a kernel needs

private:
  struct Command;

  LogicalResult buildTasks();
  LogicalResult buildSchedules();
  bool hasSlabs(int64_t segment) const;
  Record getBinding(LaunchOp launch, size_t number, int64_t bytes) const;
  std::optional<Record> getMap(DictionaryAttr map);
  std::optional<std::vector<Record>> getMaps(DictionaryAttr launch);
  FailureOr<FlatSymbolRefAttr> getWarpGroups(Operation *kernel);
  FailureOr<Record> getLaunch(LaunchOp launch);
  FlatSymbolRefAttr getSegments(ArrayRef<int64_t> numbers);
  std::vector<Record> getWorkspaces(TaskOp task) const;
  uint32_t addOrder(ActionsOp actions);
  void addCommand(const Command &command, std::vector<Record> &commands);
  LogicalResult addCommand(Operation &op, std::vector<Record> &commands);
  LogicalResult addBody(Operation &op, std::vector<Record> &commands);

  ModuleOp module;
  const Job &job;
  ConstantTables &tables;
  SymbolTable symbols;
  ArrayAttr segments;
  llvm::StringMap<uint32_t> taskNumbers;
  std::vector<Record> orders;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATORUNTIME_TASKTABLES_H
