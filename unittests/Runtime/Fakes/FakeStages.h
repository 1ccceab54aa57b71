//===- FakeStages.h - A hand-written pipeline for tests ---------*- C++ -*-===//
//
// The program that the compiler would emit for a chain of stages, each of which
// multiplies its input elementwise by a weight, and for the same chain as a
// single stage ("uncut"). The first stage's output also skips to the last
// stage, which multiplies it by a copy of the first stage's weight and adds it
// to its own product. Losses and gradients depend on the order of summation.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_FAKE_STAGES_H
#define HFTA_UNITTESTS_FAKE_STAGES_H

#include "hfta/instance.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

/// The kinds of actions of a stage.
enum : uint32_t { FORWARD = 0, BACKWARD = 1, RECEIVE = 2 };

struct StagesOptions {
  std::vector<int64_t> replicas; ///< the number of replicas of each stage
  int64_t microBatches = 4;
  int64_t groups = 0;   ///< groups of micro-batches; 0: one per replica
  int64_t inFlight = 2; ///< micro-batches in flight in each stage
  bool isUncut = false; ///< whether the chain is a single stage
  /// The position of each worker in the order in which workers are assigned to
  /// ranks; empty: workers are assigned by number.
  std::vector<int64_t> places = {};
  /// Whether a forward's input is received while the forward before it
  /// computes. This takes one instance more than there are micro-batches in
  /// flight.
  bool receivesAhead = false;
  /// The order of each stage's actions; empty: one forward, one backward, after
  /// as many forwards as may be in flight.
  std::vector<std::vector<hfta_action>> orders = {};
};

/// A program of stages. Its tables are members of this object, which must
/// outlive them.
class FakeStages {
public:
  explicit FakeStages(const StagesOptions &options);
  FakeStages(const FakeStages &) = delete;

  const hfta_program *get() const { return &program; }

  /// The program's table, for tests that damage it.
  hfta_program program = {};
  std::vector<hfta_segment> segments;
  std::vector<hfta_schedule> schedules;
  std::vector<std::vector<hfta_command>> commands;
  std::vector<hfta_action_list> orders;
  std::vector<hfta_stage> stages;
  std::vector<hfta_task> tasks;

  /// Returns a whole batch. Different keys give different batches.
  std::vector<double> makeBatch(int key) const;

  static constexpr int64_t copies = 2, width = 5;

protected:
  struct Schedule;

  uint32_t addSegment(const std::string &name, uint32_t role, int stage,
                      int64_t instances, uint64_t bytes);
  uint32_t addTensor(const std::string &name, uint32_t segment, uint64_t offset,
                     int64_t rows, int64_t columns, bool isShared,
                     uint32_t flags);
  uint32_t addTask(const std::string &name, hfta_kernel kernel,
                   const std::vector<hfta_binding> &bindings,
                   const std::vector<uint32_t> &writes, bool isPerCopy);
  void addSegments();
  void addTasks();
  void addStage(int stage);
  void addSchedules(int stage);
  void addUncutSchedules();
  void writeSharedWeight(Schedule &to, int stage);
  void writeInitialize(Schedule &to, int stage);
  void writeReceive(Schedule &to, int stage, int32_t ahead);
  void writeForward(Schedule &to, int stage, bool receivesAhead);
  void writeBackward(Schedule &to, int stage);
  void writeUpdate(Schedule &to, int stage);
  void finish();

  StagesOptions options;
  int count; ///< the number of stages
  std::deque<std::string> names;
  std::deque<std::vector<int64_t>> shapes;
  std::deque<std::vector<hfta_binding>> bindings;
  std::deque<std::vector<uint32_t>> lists;
  std::deque<hfta_launch> launches;
  std::vector<hfta_tensor> tensors;
  std::vector<std::vector<hfta_action>> actions;
  std::vector<uint32_t> weights, gradients, received, cuts, differences;
  std::vector<uint32_t> init, forward, backward, combine, update;
  uint32_t input, results, receivedResults, scalars;
  uint32_t combineResults, evaluate;
  hfta_data_field field = {};
  double rates[copies] = {0.25, 0.5};
  hfta_hyper_parameter rate = {};
  hfta_model model = {};
  uint32_t modelOfCopy[copies] = {0, 0};
};

#endif // HFTA_UNITTESTS_FAKE_STAGES_H
