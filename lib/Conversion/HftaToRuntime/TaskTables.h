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
  LogicalResult buildTasks();
  LogicalResult buildSchedules();
  SegmentAttr getSegment(int64_t number) const;
  bool hasSlabs(int64_t segment) const;
  Record getBinding(LaunchOp launch, size_t number, int64_t bytes) const;
  std::optional<Record> getMap(DictionaryAttr map);
  std::optional<std::vector<Record>> getMaps(DictionaryAttr launch);
  FailureOr<FlatSymbolRefAttr> getWarpGroups(Operation *kernel);
  FailureOr<Record> getLaunch(LaunchOp launch);
  FlatSymbolRefAttr getSegments(ArrayRef<int64_t> numbers);
  std::vector<Record> getWorkspaces(TaskOp task) const;
  uint32_t getFlags(TaskOp task) const;
  uint32_t addOrder(ArrayRef<int64_t> order);
  FailureOr<uint32_t> findPeriod(Operation *op, StringRef name);
  LogicalResult setField(ScheduleCommandOpInterface op,
                         hfta_command_field_kind kind, Attribute value,
                         hfta_command &row);
  FailureOr<hfta_command> getRow(ScheduleCommandOpInterface op);
  LogicalResult addCommand(ScheduleCommandOpInterface op,
                           std::vector<Record> &commands);

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
