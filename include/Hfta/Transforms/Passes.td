//===- Passes.td - Transformations on the hfta dialect -----*- tablegen -*-===//

#ifndef HFTA_TRANSFORMS_PASSES
#define HFTA_TRANSFORMS_PASSES

include "Hfta/Transforms/KernelPasses.td"
include "mlir/Pass/PassBase.td"

def HftaApplyPrecision : Pass<"hfta-apply-precision", "::mlir::ModuleOp"> {
  let summary = "Give the models' floats the job's types";
  let description = [{
    Up to here a model has its natural types: those of an ONNX file, f32 in the
    language. This pass alone inserts the casts of the job's `precision`:
    - parameters and statistics have their stored types. Where they are read
      they are widened to the compute type, where they are written they are
      rounded to the nearest number, ties to even; all other floats have the
      compute type. A constant whose natural type didn't hold its number
      (`hfta.exact`) is rounded once, to that.
    - operands of ops that add up terms, or whose derivatives do (SumTrait), of
      additions of several operands, and the results of `objective` are widened
      to the accumulation type. Results are rounded to the compute type.
    - products (ProductTrait) of f32 are marked with the type that the job's
      `multiply` wants their operands rounded to (`hfta.multiply`): derivatives
      pass the mark on, and hfta-round-factors rounds.

    Gradients and the optimizer's state are declared in their types by
    hfta-differentiate, which makes them; a gradient is taken of a parameter's
    widest value, so that no term is rounded before it is added. An inference
    binary without a `precision` keeps its file's types.

    Before, with `precision f32, parameters = bf16, accumulate = f64`:
    ```mlir
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x4xf32>
    …
    %w = hfta.read @w : tensor<3x4xf32>
    %1 = hfta.contract %x, %w … : tensor<8x4xf32>, tensor<3x4xf32>
    ```
    After:
    ```mlir
    hfta.variable @w {role = #hfta.role<parameter>, trained} : tensor<3x4xbf16>
    …
    %w = hfta.read @w : tensor<3x4xbf16>
    %w32 = hfta.cast %w : tensor<3x4xbf16> to f32
    %w64 = hfta.cast %w32 : tensor<3x4xf32> to f64
    %x64 = hfta.cast %x : tensor<8x4xf32> to f64
    %1 = hfta.contract %x64, %w64 … : tensor<8x4xf64>, tensor<3x4xf64>
    %y = hfta.cast %1 : tensor<8x3xf64> to f32
    ```
  }];
}

def HftaAssignLayouts : Pass<"hfta-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "Choose in which order kernels store activations";
  let description = [{
    Activations that convolutions and pooling read or write, [n, c, space…], are
    stored as [n, space…, c] where that gives better vectors, in memory between
    kernels and in saved and cut variables. All tensors that elementwise ops
    connect have one order, through all tasks. It follows from shapes alone, not
    from the number of copies or the target.

    Types of values between kernels are those of the stored tensors. Inside a
    kernel elementwise ops and reductions work on the stored order; an
    hfta.transpose is inserted where convolutions and pooling, which are defined
    on the logical order, read and write, and their lowerings look through it.
    Values that tasks write to other than saved and cut variables, or reshape,
    have the logical order. A remark reports the choice.

    Before:
    ```mlir
    %1 = hfta.kernel "relu"(%0) : (tensor<8x16x14x14xf32>) -> tensor<8x16x14x14xf32> {
    ^bb0(%x: tensor<8x16x14x14xf32>):
      %r = hfta.relu %x : tensor<8x16x14x14xf32>
      hfta.yield %r : tensor<8x16x14x14xf32>
    }
    ```
    After:
    ```mlir
    %1 = hfta.kernel "relu"(%0) : (tensor<8x14x14x16xf32>) -> tensor<8x14x14x16xf32> {
    ^bb0(%x: tensor<8x14x14x16xf32>):
      %r = hfta.relu %x : tensor<8x14x14x16xf32>
      hfta.yield %r : tensor<8x14x14x16xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

def HftaAssignResidency : Pass<"hfta-assign-residency", "::mlir::ModuleOp"> {
  let summary = "Choose which variables stay in memory within a budget";
  let description = [{
    This pass is for jobs with a memory budget. A block's parameters and its
    optimizer's state are `spilled`: they lie in the store while other blocks
    are computed. Values that forward leaves for backward, and gradients, are
    `transient`: they have a place from their first use to their last one;
    gradients are `spilled`, too, where updates wait for the norms of all. A
    plan, `hfta.memory_plan`, may let more of them stay in memory, block by
    block. With `spill = none` parameters and state stay. Values of no block,
    running statistics, scalars, results, and values that several stages read
    are always `resident`.

    ```mlir
    hfta.variable @weight : tensor<8x8xf32, #hfta.copies<2>> role parameter block 0
    // becomes, with its other attributes
    hfta.variable @weight : tensor<8x8xf32, #hfta.copies<2>> role parameter block 0 {residency = #hfta.residency<spilled>}
    ```
  }];
}

def HftaBatchMatrices : Pass<"hfta-batch-matrices", "::mlir::ModuleOp"> {
  let summary = "Merge ops on matrices of one size";
  let description = [{
    In each task, the ops that do the same with matrices of one size, for the
    same copies, become one op on all of these matrices: inverses,
    decompositions, and iterations of optimizers. Matrices of an iteration are
    merged up to 2^20 elements.

    ```mlir
    %a, %s = hfta.spd_inverse %f, %d, %x : tensor<1x36xf32>, …
    %b, %t = hfta.spd_inverse %g, %e, %y : tensor<2x36xf32>, …
    // ==>
    %all, %tries = hfta.spd_inverse %fg, %de, %xy : tensor<3x36xf32>, …
    %a = hfta.slice %all from [0, 0] size [1, 36] …
    ```
  }];
}

def HftaDecompose : Pass<"hfta-decompose"> {
  let summary = "Rewrite composite ops in terms of simpler ones";
  let description = [{
    Every op with DecomposableOpInterface (softmax, batch_norm, dropout,
    optimizer updates) becomes elementwise ops, broadcasts and reductions.
    With `keeps-matrices`, ops on whole matrices stay, so that
    hfta-batch-matrices can merge them.

    ```mlir
    %1 = hfta.softmax %0 along 1 : tensor<2x3xf32>
    // ==>
    %m = hfta.reduce max %0 over [1] : tensor<2x3xf32>
    …
    %1 = hfta.div %e, %s : tensor<2x3xf32>, tensor<2x3xf32>
    ```
  }];
  let options = [
    Option<"keepsMatrices", "keeps-matrices", "bool", "false",
           "leave ops on whole matrices as they are">
  ];
}

def HftaDescribeLayers : Pass<"hfta-describe-layers", "::mlir::ModuleOp"> {
  let summary = "Note the cuts and the trained layers on the module";
  let description = [{
    Starts the module's `hfta.plan_json`, which `info --json` of the training
    binary shows, with the cuts of `hfta.cuts` and every hfta.layer: kind,
    parameter, bias, one copy's types of its input and output gradient. Then
    removes these ops, since kernels, which are formed next, hold only ops that
    compute. Values that only they read are removed by the next clean-up.
  }];
}

def HftaDifferentiate : Pass<"hfta-differentiate", "::mlir::ModuleOp"> {
  let summary = "Turn the array's model into a training step";
  let description = [{
    Takes the single `hfta.model` of a fused module and builds module-level
    variables and undivided functions: `training`, with a micro-batch's forward,
    its backward, which adds into gradients, and the updates of running
    statistics; `evaluation`; and `inference`. A job without training gets the
    last one alone. Attributes of each op say which task hfta-split-tasks gives
    it to: its part, `hfta.part`, and its block, `hfta.block`, which
    hfta-plan-pipeline has noted or which follows from the ops that it reads or
    serves.

    Derivatives follow in reverse mode from DifferentiableOpInterface; all ops
    without a derivative are listed before anything is built. Where a block's
    forward is to be recomputed before its backward, by the order of a pipeline
    or as the job says, all its ops have `hfta.keep = #hfta.keep<recompute>`.

    ```mlir
    hfta.model @array copies [0, 1] { … func.func @forward … }
    // ==>
    hfta.variable @weight …
    hfta.variable @"hfta.gradient/weight" …
    func.func @"task/training"() attributes {hfta.task = #hfta.task<training, -1>} {
      %w = hfta.read @weight {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} …
      …
      hfta.write %g, @"hfta.gradient/weight" {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} …
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def HftaStagePipeline : Pass<"hfta-stage-pipeline", "::mlir::ModuleOp"> {
  let summary = "Note which variables stages of a pipeline read from each other";
  let description = [{
    This pass is for jobs of several stages. A variable that stages other than
    that of its block read lists these (`readers`) and is sent to them: values
    of a micro-batch for each micro-batch, weights and norms once they are
    computed. Norms and losses get a block. Saved, cut or received values have
    as many instances as there are micro-batches in flight; recomputed ones as
    many as are in flight from the recomputation on. With a memory budget, all
    values that cross stages have an instance for each micro-batch. With one
    stage the pass does nothing.

    ```mlir
    hfta.variable @"hfta.cut/0" {role = #hfta.role<cut>, block = 0}
    // ==>
    hfta.variable @"hfta.cut/0" {role = #hfta.role<cut>, block = 0,
        instances = 3, readers = array<i64: 1>}
    ```
  }];
}

def HftaFuseModels : Pass<"hfta-fuse-models", "::mlir::ModuleOp"> {
  let summary = "Fuse the copies' models into one array program";
  let description = [{
    Matches the models of a module op by op through FusableOpInterface and
    replaces them by one model whose variables are arrayed. Values that don't
    depend on any copy's variables stay shared. Constants that differ are
    stacked. Frozen variables with equal contents stay shared. Ops that only
    some models have are built for each of their copies, on its part of arrayed
    values, and a remark reports them.

    With `fuse = false` every copy keeps ops of its own, reading and writing
    its copy of the arrayed variables: the serial baseline.

    ```mlir
    hfta.model @mlp copies [0, 1] { hfta.variable @w … : tensor<4xf32> … }
    // ==>
    hfta.model @array copies [0, 1] {
      hfta.variable @w … : tensor<4xf32, #hfta.copies<2>> …
    }
    ```
  }];
}

def HftaInsertKfac : Pass<"hfta-insert-kfac", "::mlir::ModuleOp"> {
  let summary = "Add the tasks of `precondition kfac` to a training step";
  let description = [{
    This pass follows hfta-split-tasks. It finds by hfta.layer the layers whose
    weights are trained parameters, and forms units of them (`KfacUnits.h`); a
    remark reports the rule of each. Then it adds tasks, by block:

    - `forward_moments`, `backward_moments` and `backward_weight_moments`:
      forward and backward, which also add up second moments of layers' inputs
      and output gradients; `sampled_moments`: moments of output gradients for
      targets that are drawn; `shared_moments`: moments of values that all
      copies share;
    - `curvature`: updates running means of the moments, the Kronecker factors;
    - `invert`: computes the factors' inverses, damped;
    - `precondition`: multiplies gradients by inverses, in place, and computes
      the inner products of both;
    - `backward_rows`, `backward_rows_moments` and `precondition_rows`: versions
      that steps run where layers have few rows (`KfacFromRows.h`): backward
      saves the rows instead of a gradient, and they are multiplied by the
      inverses;
    - `scale`: computes the factor of the results from these products; norm and
      update multiply by it where they read the results.

    ```mlir
    hfta.layer dense @w input %x … output_gradient %g … weight_gradient %gw …
    // ==>
    %m = hfta.second_moment %x, %old blocks [] columns [1] scale 1.0 : …
    hfta.write %m, @"hfta.moment/input/w" : …
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def HftaMergeBlocks : Pass<"hfta-merge-blocks", "::mlir::ModuleOp"> {
  let summary = "Merge neighbouring blocks";
  let description = [{
    This pass runs between hfta-differentiate and hfta-split-tasks. It gives the
    ops of block b, and its variables, to block `into[b]`, and removes the cuts
    that no longer separate blocks. hfta-split-tasks then builds the same tasks
    as for a model with these cuts alone.

    ```mlir
    hfta.tanh %x {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} …
    hfta.neg %0 {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} …
    hfta.mul %1, %w {hfta.block = 2 : i64, hfta.part = #hfta.part<forward>} …
    // ==> with into=0,0,1
    hfta.tanh %x {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} …
    hfta.neg %0 {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} …
    hfta.mul %1, %w {hfta.block = 1 : i64, hfta.part = #hfta.part<forward>} …
    ```
  }];
  let options = [
    ListOption<"into", "into", "int64_t",
      "each block's new number: 0 for block 0, then the same as for the block "
      "before, or one more">
  ];
}

def HftaOutlineKernels : Pass<"hfta-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move kernels' regions into functions, one for equal regions";
  let description = [{
    Every region becomes a private `func.func` on one copy's plain tensors with
    the attribute `hfta.kernel`; kernels of equal regions share one. The
    hfta.launch ops of planned memory refer to it. `hfta.copies` on the function
    is how many copies a launch computes; `hfta.reads_copies` on a launch says
    that it reads values that other copies compute, so that all of them must
    have been computed.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def HftaPlaceUpdates : Pass<"hfta-place-updates", "::mlir::ModuleOp"> {
  let summary = "Let replicas share the updates of matrices";
  let description = [{
    Where the replicas of a program, or of a stage, all would update a parameter
    by an optimizer that computes with whole matrices, one of them may do so
    alone, and send the new parameter to the others, with averages of weights;
    only this owner has the optimizer's other states of the parameter. Owners are chosen by the rule of K-FAC's
    factors, from estimated times. An `update` task is divided into one for each
    owner, which comes first, and one for all replicas, which also clears all
    gradients. Nothing changes with a memory budget.

    ```mlir
    func.func @"task/update.0"() attributes {hfta.task = #hfta.task<update, 0>}
    // ==>
    func.func @"task/update.0.on_1"() attributes {hfta.task = #hfta.task<update, 0, <1, 1, 1>>}
    func.func @"task/update.0"() attributes {hfta.task = #hfta.task<update, 0>}
    ```
  }];
}

def HftaPlanMemory : Pass<"hfta-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every variable and every value of a task in a segment";
  let description = [{
    Variables are placed in the segment of their role and block, values between
    kernels in the workspace, by their lifetimes, in one slab per copy. Kernels
    become hfta.launch ops on (segment, offset, copy stride) bindings. A value
    that is only written to a variable is computed there; elementwise updates
    work in place. The table of segments is the module's `hfta.segments`.

    If the forming policy of the module's `hfta.target` puts state in slabs,
    everything that a copy keeps from step to step lies in slabs, too, so that a
    device may hold the slabs of some copies, while those of others lie
    elsewhere.
  }];
}

def HftaPlanPipeline : Pass<"hfta-plan-pipeline", "::mlir::ModuleOp"> {
  let summary = "Note the block of each op of the array's model";
  let description = [{
    A job's `cuts`, or else the option's, each name a value, or several, of the
    fused model, by origin: ops that depend on any of them come after the cut,
    in a later block. Ops that depend on no cut's value, and compute none, go to
    the first block that uses them: weights to their layer, a label's
    preparation to the loss. All other values that cross a cut are simply
    carried. Blocks of a job's cuts are the stages of its pipeline, or the
    chunks of these.

    `cuts=all` stands for each value on which alone, with parameters, labels,
    and values made of data without a gradient, the rest of the training
    depends; among those between two layers only for the last one. A job of one
    stage that recomputes forwards is cut like this, too; and so are, in
    addition to their own cuts, the stages of a job with a memory budget, whose
    first blocks are noted in the job (`stage_blocks`). The cuts' names are
    noted as the module's `hfta.cuts`.

    Where copies have ops of their own, a name is that of each copy's own value.
    It is an error if a name is unknown or given twice, if a cut depends on a
    later one, or if a block has nothing that the loss depends on.

    ```mlir
    %0 = hfta.tanh %x : tensor<4x3xf32> loc("hidden")
    %1 = hfta.neg %0 : tensor<4x3xf32>
    // ==> with cuts=hidden
    %0 = hfta.tanh %x {hfta.block = 0 : i64} : tensor<4x3xf32> loc("hidden")
    %1 = hfta.neg %0 {hfta.block = 1 : i64} : tensor<4x3xf32>
    ```
  }];
  let options = [
    ListOption<"cuts", "cuts", "std::string",
      "names of the values after which a new block begins, in order">
  ];
}

def HftaPlanSpill : Pass<"hfta-plan-spill", "::mlir::ModuleOp"> {
  let summary = "Plan which values of a step are kept, spilled or recomputed";
  let description = [{
    This pass is for jobs with a memory budget, between hfta-differentiate and
    hfta-split-tasks. It models the undivided step by types and rates and finds
    the fastest plan that fits: neighbouring blocks are merged, and each op of
    the forward gets a `hfta.keep`; nothing is recomputed unless the job's
    `recompute` says so. The plan of each block's memory, and how many copies
    make a turn, are noted on the module as `hfta.memory_plan`. How much memory
    the program really needs is known only when memory is planned:
    `hfta.memory_reserve` is the part of the budget that the planner doesn't
    use. If nothing fits, the plan with the least memory is noted, and the
    reserve stays. A remark shows the plan as a table.

    ```mlir
    %1 = hfta.exp %0 {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : …
    // ==>
    %1 = hfta.exp %0 {hfta.block = 0 : i64, hfta.keep = #hfta.keep<recompute>, hfta.part = #hfta.part<forward>} : …
    ```
  }];
}

def HftaPrintLayers : Pass<"hfta-print-layers", "::mlir::ModuleOp"> {
  let summary = "Print every trained layer: parameter, input, output gradient";
  let description = [{
    The interface for second-order methods: prints one line for each hfta.layer,
    from the first block's backward task on, with its kind, its parameter and
    bias, the types of its input, output gradient and weight gradient, its
    window and the divisor of the loss.
  }];
}

def HftaSchedule : Pass<"hfta-schedule", "::mlir::ModuleOp"> {
  let summary = "Turn tasks into data, and the orders in which they run into schedules";
  let description = [{
    Each task's function, which is a list of launches now, becomes an hfta.task.
    The orders in which tasks run, and the copies to and from the host, become
    hfta.schedules: `initialize`, `step`, `accumulate`, `update`, `evaluate` and
    `infer`, as far as the program has the tasks for them. Fields of a batch are
    copied on a queue of their own, 1; all other commands use queue 0.
  }];
}

def HftaScheduleTransfers
    : Pass<"hfta-schedule-transfers", "::mlir::ModuleOp"> {
  let summary = "Give segments that aren't resident places in the arena";
  let description = [{
    This pass is for jobs with a memory budget. Tasks, or loops over
    micro-batches, are positions in the order of a schedule. Segments that
    aren't resident get windows of positions in which they lie in the arena: a
    transient one from its first use to its last one, a spilled one around each
    use, fetched a position ahead and written back after its last use, unless it
    wasn't written or nothing needs it any more. Where there is room, it stays
    between uses that are close together, and is fetched earlier. The arena is
    the part of the budget that resident segments leave; addresses in it are
    offsets of intervals, as in workspaces. A turn has as many copies as fit.
    Where there is room for all spilled state of a turn's copies beside a step's
    other needs, and fewer bytes are moved in this way, copies also take turns
    of several steps: `turn_step` is a step in which this state has a place all
    the time, `begin_turn` fetches it and `end_turn` evicts it; where there is
    room for two turns' copies, `begin_turn_beside` fetches every other turn's
    to another place. Where transfers exist already, the pass checks that the
    program stays within the budget with the kernels, which have been lowered
    since.

    Fetches have a queue of their own, evictions another one. They wait until
    the tasks, and evictions, that had the place before are done, and tasks wait
    for their segments to be fetched:

    ```mlir
    hfta.run @"task/forward.0"
    // becomes
    hfta.await 9 {queue = 3}
    hfta.fetch 2 at 0 contents stored {queue = 3}
    hfta.record 10 {queue = 3}
    hfta.await 10
    hfta.run @"task/forward.0"
    hfta.record 9
    hfta.drop 2
    ```
  }];
}

def HftaSplitTasks : Pass<"hfta-split-tasks", "::mlir::ModuleOp"> {
  let summary = "Distribute the ops of a training step to tasks";
  let description = [{
    This pass follows hfta-differentiate. It makes a task of each part and block
    of the undivided functions, `forward`, `backward` (in an order that splits
    it, `backward_weight` has the ops that no other block waits for),
    `sampled_moments`, `statistics`, `evaluate` and `infer`. Then it adds tasks
    that follow from the variables: `norm` and `update` of each block, `clip`,
    `report` and `init`. Ops of a forward that augment samples become a task
    `augment`, since all copies share them.

    Values that cross from block to block become `cut` variables. The results of
    its block's forward ops that the backward needs are available as the op's
    `hfta.keep` says:

    - `save`: the forward leaves it in a `saved` variable; `spill`: in one whose
      residency is `spilled`, as is a `cut` variable of it;
    - `recompute`: the task `recompute` computes it, right before the backward;
      except for values that exist anyway, because they cross a cut or
      statistics use them, and for the forward's reads of variables that the
      step changes;
    - without `hfta.keep`, it is saved.

    Ops that are cheap, and aren't marked `save` or `spill`, are recomputed in
    the backward itself where all their operands are available.

    ```mlir
    func.func @"task/training"() attributes {hfta.task = #hfta.task<training, -1>} {
      %1 = hfta.tanh %0 {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} : tensor<4xf32>
      …
      %3 = hfta.mul %2, %1 {hfta.block = 0 : i64, hfta.part = #hfta.part<backward>} : …
      …
    }
    // ==>
    hfta.variable @"hfta.saved/0" {block = 0 : i64, role = #hfta.role<saved>} : tensor<4xf32>
    func.func @"task/forward.0"() attributes {hfta.task = #hfta.task<forward, 0>} {
      %1 = hfta.tanh %0 : tensor<4xf32>
      hfta.write %1, @"hfta.saved/0" : tensor<4xf32>
      …
    }
    func.func @"task/backward.0"() attributes {hfta.task = #hfta.task<backward, 0>} {
      %1 = hfta.read @"hfta.saved/0" : tensor<4xf32>
      %3 = hfta.mul %2, %1 : …
      …
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def HftaTestKeep : Pass<"hfta-test-keep", "::mlir::ModuleOp"> {
  let summary = "Choose at random which values are saved or recomputed, for tests";
  let description = [{
    This pass runs between hfta-differentiate and hfta-split-tasks. Of the
    training step's forward ops, a quarter gets `#hfta.keep<save>` and half
    `#hfta.keep<recompute>`, chosen by a random number generator that starts
    from `seed`. The trained values don't depend on it.

    ```mlir
    hfta.tanh %x {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} …
    // ==>
    hfta.tanh %x {hfta.block = 0 : i64, hfta.keep = #hfta.keep<recompute>, hfta.part = #hfta.part<forward>} …
    ```
  }];
  let options = [
    Option<"seed", "seed", "int64_t", /*default=*/"0",
      "seed of the random choice">
  ];
}

def HftaVerifySchedules : Pass<"hfta-verify-schedules", "::mlir::ModuleOp"> {
  let summary = "Verify that each command of a schedule finds the data that it uses";
  let description = [{
    Follows each schedule as the host would, with a vector clock for each queue
    that events carry to other queues (Fidge, "Timestamps in message-passing
    systems that preserve the partial ordering", 1988). Where two commands touch
    the same bytes of an instance of a segment, and one of them writes, one must
    come after the other. The host waits after each schedule, so each is checked
    alone, in successive calls, with and without batches that are offered ahead,
    with two turns of copies and with one, and an evaluation with fewer
    micro-batches or none; loops are followed until every instance of a segment
    has been used twice. All this is checked for a single rank, and for the
    first and the last of as many ranks as there are workers. Before
    `initialize` the host doesn't wait: queue 0 may still be initializing
    segments.

    As accesses are ordered, it is known what each command finds:
    - a task finds the fields of its own micro-batch, the values of this
      micro-batch in segments of roles `saved` and `cut`, and in those of role
      `exchange` the values that the same call has written for it, or another
      rank has sent; and the host's scalars of this call;
    - sums of groups: results are cleared before micro-batches add to them, each
      byte is added up once, after the last of them, and read outside of
      micro-batches only then; there is an instance for each group. Gradients may
      come from calls before;
    - the host copies fields and inputs to their variables' places, and scalars;
      all results of a call are copied to the host, and nothing else is;
    - other ranks: all commands that exchange data with them, which are in no
      loop, have one order, on whichever queues;
    - other stages: messages are of whole segments, and those of one segment in one
      order; norms and sums are received in the call that reads them, changed
      parameters wherever they are read, and nothing changes once it was sent.

    ```mlir
    hfta.transfer 64 from #hfta.place<field, 0, 0> to #hfta.place<segment, 0, 0> {queue = 1}
    // error: reads bytes of segment 0 that queue 1 may still be writing
    hfta.run @"task/forward.0"
    ```
  }];
}

#endif // HFTA_TRANSFORMS_PASSES
