//===- JobOrder.h - The order that a job's stages work in -------*- C++ -*-===//
//
// Converts between the order of forwards and backwards as a job states it, by a
// name or a list, and lib/Planning's orders, which list the actions of all
// workers. Terms differ: the planner calls a job's stage a position of its
// pipeline, and a job's block a stage.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_JOB_JOBORDER_H
#define HFTA_DIALECT_HFTA_JOB_JOBORDER_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Pipelines/Order.h"

namespace mlir::hfta {

/// Returns the pipeline that a job describes by cuts, replicas, groups and
/// chunks.
planning::PipelineShape getPipelineShape(const Job &job);

/// Stores an order in the job, as the list Job::orderRows. The order must be
/// valid for the job's pipeline.
void setOrder(Job &job, const planning::Order &order);

/// Returns the order of all workers of a job with several stages, or an error
/// that says why there is none. Error messages refer to the job's list of
/// actions by the name `rows`.
llvm::Expected<planning::Order> makeOrder(const Job &job,
                                          llvm::StringRef rows = "order_rows");

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_JOBORDER_H
