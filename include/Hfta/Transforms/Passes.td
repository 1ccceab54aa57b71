//===- Passes.td - Transformations on the hfta dialect -----*- tablegen -*-===//

#ifndef HFTA_TRANSFORMS_PASSES
#define HFTA_TRANSFORMS_PASSES

include "Hfta/Transforms/KernelPasses.td"
include "mlir/Pass/PassBase.td"

def HftaApplyPrecision : Pass<"hfta-apply-precision", "::mlir::ModuleOp"> {
  let summary = "Give the models' floats the job's types";
  let description = [{
    Up to here a model has its natural types: those of an ONNX file, f32 in the
    language. This pass alone puts the casts of the job's `precision`:
    - parameters and statistics have their stored types. Where they are read
      they are widened to the compute type, where they are written they are
      rounded to the nearest number, ties to even; all other floats have the
      compute type. A constant whose natural type didn't hold its number
      (`hfta.exact`) is rounded once, to that.
    - operands of what adds up terms, forward or in its derivative (SumTrait),
      of additions of several operands, and the results of `objective` are
      widened to the accumulation type. Results are rounded to the compute type.
    - products (ProductTrait) of f32 say what the job's `multiply` wants their
      operands rounded to (`hfta.multiply`): derivatives hand it on, and
      hfta-round-factors obeys it.

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
    stored as [n, space…, c] where that makes the better vectors, in memory
    between kernels and in saved and cut variables. All tensors that elementwise ops tie
    together have one order, through all tasks. It follows from shapes alone:
    neither the number of copies nor the target decides.

    Types of values between kernels are those of the stored tensors. Inside a
    kernel elementwise ops and reductions work on the stored order;
    hfta.transpose stands where convolutions and pooling, which are defined on
    the logical one, read and write, and their lowerings look behind it. What
    tasks give to other than saved and cut variables, and reshape, is plain. A
    remark says what was chosen.

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
  let summary = "Say which variables stay in memory within a budget";
  let description = [{
    Of a job with a budget of memory. A block's parameters and its optimizer's state
    are `spilled`: they lie in the store while other blocks are computed. What
    forward leaves for backward, and gradients, are `transient`: they have a place
    from their first use to their last one; gradients are `spilled`, too, where
    updates wait for the norms of all. A plan, `hfta.memory_plan`, may have more stay
    in memory, block by block. With `spill = none` parameters and state
    stay. What is of no block, running statistics, scalars, results, and what
    several stages read are always `resident`.

    ```mlir
    hfta.variable @weight : tensor<8x8xf32, #hfta.copies<2>> role parameter block 0
    // becomes, beside what else it has
    hfta.variable @weight : tensor<8x8xf32, #hfta.copies<2>> role parameter block 0 {residency = #hfta.residency<spilled>}
    ```
  }];
}

def HftaBatchKfac : Pass<"hfta-batch-kfac", "::mlir::ModuleOp"> {
  let summary = "Invert matrices of one size together";
  let description = [{
    Of each task the ops that invert or decompose matrices of one size, of all
    copies or of one, become one op on all of them.

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

    ```mlir
    %1 = hfta.softmax %0 along 1 : tensor<2x3xf32>
    // ==>
    %m = hfta.reduce max %0 over [1] : tensor<2x3xf32>
    …
    %1 = hfta.div %e, %s : tensor<2x3xf32>, tensor<2x3xf32>
    ```
  }];
}

def HftaDescribeLayers : Pass<"hfta-describe-layers", "::mlir::ModuleOp"> {
  let summary = "Note the cuts and the trained layers on the module";
  let description = [{
    Starts the module's `hfta.plan_json`, which `info --json` of the training
    binary shows, with the cuts of `hfta.cuts` and every hfta.layer: kind,
    parameter, bias, one copy's types of its input and output gradient. Then
    takes these ops out: kernels, which are formed next, are made of what
    computes. What only they read goes with the next clean-up.
  }];
}

def HftaDifferentiate : Pass<"hfta-differentiate", "::mlir::ModuleOp"> {
  let summary = "Turn the array's model into a training step";
  let description = [{
    Takes the single `hfta.model` of a fused module and builds module-level
    variables and undivided functions: `training`, a micro-batch's forward and
    backward, which adds into gradients, and what keeps running statistics up;
    `evaluation`; and `inference`. A job without training gets the last one alone.
    Each op says which task hfta-split-tasks gives it to: its part, `hfta.part`, and
    its block, `hfta.block`, one that hfta-plan-pipeline has noted or that follows
    from the ops that it reads or serves.

    Reverse mode from DifferentiableOpInterface; all ops without a derivative
    are listed before anything is built. Where a block's forward is to be computed
    again before its backward, by the order of a pipeline or as the job says, all
    ops of it have `hfta.keep = #hfta.keep<recompute>`.

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
  let summary = "Say what stages of a pipeline read of each other";
  let description = [{
    Of a job of several stages: a variable that another stage reads than the one
    of its block says so (`readers`); it is sent there, values of a micro-batch
    for each, weights and norms once they are there. Norms and losses get a block;
    what is saved, cut or received has as many instances as there are
    micro-batches in flight, what is computed again as many as there are from
    then on; within a budget of memory all that crosses stages has as many as there
    are micro-batches. Nothing with one stage.

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
    replaces them by one model whose variables are arrayed. Values that no
    copy's variable reaches stay shared. Constants that differ are stacked.
    Frozen variables with equal contents stay shared. What only some models have
    is each copy's own, on its part of arrayed values, and a remark tells.

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
  let summary = "Give a job with `precondition kfac` second-order steps";
  let description = [{
    Behind hfta-split-tasks. Finds by hfta.layer what each trained parameter is
    a weight of, and makes units of them (`KfacUnits.h`), of each of which a remark
    tells the rule. Then it adds tasks, by block:

    - `forward_moments`, `backward_moments` and `backward_weight_moments`:
      forward and backward, which also add up second moments of layers' inputs
      and output gradients; `sampled_moments`, those of output gradients from
      targets that are drawn;
      `shared_moments`, of what all copies share;
    - `curvature`: takes moments into running means, the Kronecker factors;
    - `invert`: the factors' inverses, damped;
    - `precondition`: gradients times inverses, in the gradients' place, and the
      inner products of both;
    - `backward_rows`, `backward_rows_moments` and `precondition_rows`: versions
      that steps run where layers have few rows (`KfacFromRows.h`): backward leaves
      these in place of a gradient, and they are multiplied with the inverses;
    - `scale`: what the results are multiplied with, from these products; norm and
      update do so where they read them.

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
  let summary = "Make one block of neighbouring ones";
  let description = [{
    Between hfta-differentiate and hfta-split-tasks: gives the ops of block b, and
    variables of it, to block `into[b]`, and forgets the cuts that no longer part
    blocks. What hfta-split-tasks makes of it is what it would make of a model
    that was cut so.

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
      "for each block its new number, from 0 on, each the last one's or one more">
  ];
}

def HftaOutlineKernels : Pass<"hfta-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move kernels' regions into functions, equal ones once";
  let description = [{
    Every region becomes a private `func.func` on one copy's plain tensors with
    the attribute `hfta.kernel`; kernels of equal region share one. The
    hfta.launch ops of planned memory refer to it. `hfta.copies` on the function
    is how many copies a launch computes; `hfta.reads_copies` on a launch says
    that it reads what other copies compute, so that all have to be there.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def HftaPlanMemory : Pass<"hfta-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every variable and every value of a task in a segment";
  let description = [{
    Variables go to the segment of their role and block, values between
    kernels to the workspace, by their life times, in a slab a copy. Kernels become hfta.launch
    ops on (segment, offset, copy stride) bindings. A value that is only
    written to a variable is computed there; elementwise updates work in place.
    The table of segments is the module's `hfta.segments`.

    With `state-in-slabs` all that a copy has from step to step lies in slabs, too,
    so that a device may have those of some copies, while others' lie elsewhere.
  }];
  let options = [
    Option<"stateInSlabs", "state-in-slabs", "bool", /*default=*/"false",
      "each copy's parameters and state lie together, segment by segment">
  ];
}

def HftaPlanPipeline : Pass<"hfta-plan-pipeline", "::mlir::ModuleOp"> {
  let summary = "Note on each op of the array's model in which block it is";
  let description = [{
    A job's `cuts`, or else the option's, each name a value, or several, of the
    fused model, by origin: what depends on any of them comes after the cut, in a
    later block. What depends on no cut's value, and is none, goes to the first
    block that uses it: weights to their layer, a label's preparation to the
    loss. All else that crosses a cut is simply carried. Blocks of a job's cuts
    are the stages of its pipeline, or the chunks of these.

    `cuts=all` stands for each value that alone, with parameters, labels, and what
    is made of data without a gradient, carries the training on; of those between two layers only the last one. A job
    of one stage that computes forwards again is cut so, too, and so are, beside
    their own cuts, a job's stages within a budget of memory, whose first blocks are
    noted in the job (`stage_blocks`). The cuts' names are noted as the module's
    `hfta.cuts`.

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
  let summary = "Plan what of a step is kept, spilled or computed again";
  let description = [{
    Of a job with a budget of memory, between hfta-differentiate and
    hfta-split-tasks. By what types and rates say of the undivided step, the
    fastest plan is found that fits: neighbouring blocks are merged, and each op of
    the forward gets a `hfta.keep`; nothing is computed again unless the job's
    `recompute` says so. What stays in memory of each block, and how many copies make
    a turn, is noted on the module as `hfta.memory_plan`. What the budget has to be in
    the end is known when memory is planned: `hfta.memory_reserve` says how much of it
    isn't the planner's. If nothing fits, what needs least is noted, and the reserve
    stays. A remark has the plan as a table.

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
    The second-order hook: one line for each hfta.layer, from the first block's
    backward task on, with its kind, its parameter and bias, the types of its
    input, output gradient and weight gradient, its window and what the loss was
    divided by.
  }];
}

def HftaSchedule : Pass<"hfta-schedule", "::mlir::ModuleOp"> {
  let summary = "Make tasks data, and the order in which they run schedules";
  let description = [{
    Each task's function, a list of launches by now, becomes an hfta.task. The
    orders in which tasks run, and what is copied for them to and from the host,
    become hfta.schedules: `initialize`, `step`, `accumulate`, `update`,
    `evaluate` and `infer`, as far as the program has the tasks for them. Fields of
    a batch go through a queue of their own, 1; all else through queue 0.
  }];
}

def HftaScheduleTransfers
    : Pass<"hfta-schedule-transfers", "::mlir::ModuleOp"> {
  let summary = "Give segments that aren't resident places in the arena";
  let description = [{
    Of a job with a budget of memory. Tasks, or loops over micro-batches, are
    positions in the order of a schedule. Segments that aren't resident get windows
    of positions in which they lie in the arena: a transient one from its first use
    to its last one, a spilled one around each use, fetched a position ahead and
    written back behind the last one, unless it wasn't written or nothing needs it
    any more. Where there is room, it stays between uses that are near each other,
    and is fetched earlier. What resident segments leave of the budget is the
    arena; addresses in it are offsets of intervals, as in workspaces. As many
    copies make a turn as fit. Where all that a turn's copies have in the store has
    room beside what a step uses, and less is moved in this way, copies also take
    turns of several steps: `turn_step` is a step in which it has a place all the
    time, `begin_turn` fetches it and `end_turn` evicts it; where there is room for
    two turns' copies, `begin_turn_beside` fetches every other turn's to another
    place. Where transfers are there already, the pass checks that kernels, which have been lowered since, leave the
    program in the budget.

    Fetches go to a queue of their own, evictions to another one. They await that
    tasks, and evictions, that had the place before are done, and tasks await what
    is fetched for them:

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
  let summary = "Deal a training step's ops out to tasks";
  let description = [{
    Behind hfta-differentiate: makes a task of each part and block of the undivided
    functions, `forward`, `backward` (in an order that splits it, `backward_weight`
    has what no other block waits for), `sampled_moments`, `statistics`, `evaluate`
    and `infer`. Then it adds what follows from the variables: `norm` and `update` of
    each block, `clip`, `report` and `init`.

    Values that cross from block to block become `cut` variables. What the backward
    needs of an op of its block's forward it gets as the op's `hfta.keep` says:

    - `save`: the forward leaves it in a `saved` variable; `spill`: in one whose
      residency is `spilled`, as is a `cut` variable of it;
    - `recompute`: the task `recompute` computes it, right before the backward; but
      for what is there anyway, because it crosses a cut or statistics take it, and
      for what the forward reads of variables that the step changes;
    - where it says nothing, it is saved.

    Ops that are cheap, and don't say `save` or `spill`, are computed again in the
    backward itself where all their operands are there.

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
  let summary = "Have values kept at random, for tests";
  let description = [{
    Between hfta-differentiate and hfta-split-tasks: of the training step's forward
    ops, a quarter gets `#hfta.keep<save>` and half `#hfta.keep<recompute>`, by a
    generator of random numbers that starts from `seed`. What is trained doesn't
    depend on it.

    ```mlir
    hfta.tanh %x {hfta.block = 0 : i64, hfta.part = #hfta.part<forward>} …
    // ==>
    hfta.tanh %x {hfta.block = 0 : i64, hfta.keep = #hfta.keep<recompute>, hfta.part = #hfta.part<forward>} …
    ```
  }];
  let options = [
    Option<"seed", "seed", "int64_t", /*default=*/"0", "chooses the ops">
  ];
}

def HftaVerifySchedules : Pass<"hfta-verify-schedules", "::mlir::ModuleOp"> {
  let summary = "Prove that each command finds what it is to use";
  let description = [{
    Follows each schedule as the host would, with a clock a queue that events carry
    to other queues (vector clocks: Fidge, "Timestamps in message-passing systems
    that preserve the partial ordering", 1988). Of two commands that touch the same
    bytes of an instance of a segment, and one of which writes, one must come after
    the other. The host waits after each schedule, so that each is looked at by
    itself, in calls one after the other, with and without batches that are
    offered ahead, with two turns of copies and with one, and an evaluation with
    fewer micro-batches or none; what is repeated is followed until every instance
    of a segment has been used twice. So it is as one rank, and as the first and the
    last of as many ranks as there are workers. Before `initialize` the host doesn't
    wait: queue 0 may still be writing what segments hold at first.

    Accesses being in order, it is known what each command finds:
    - a task: the fields of its own micro-batch, what this one has left in segments
      of roles `saved` and `cut`, and in those of role `exchange` what the same
      call has written for it, or another rank has given; and the host's scalars of
      this call;
    - sums of groups: results are cleared before micro-batches add to them, each
      byte is added up once, after the last of them, and read outside of
      micro-batches only then; there is an instance for each group. Gradients may
      come from calls before;
    - the host gives fields and inputs to their variables' places, and scalars;
      results that a call leaves are given to the host, and nothing else is;
    - other ranks: all commands that exchange something with them, which stand in
      no repeat, are in one order, on whichever queues;
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
