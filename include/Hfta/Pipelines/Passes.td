//===- Passes.td - The driver's own passes -----------------*- tablegen -*-===//

#ifndef HFTA_PIPELINES_PASSES
#define HFTA_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def HftaDescribeModel : Pass<"hfta-describe-model", "::mlir::ModuleOp"> {
  let summary = "Note each model's identity and its template for ONNX files";
  let description = [{
    Runs on imported models, before fusion, and gives each an entry in
    `hfta.models`. `identity` is a digest of the model's graph and of the
    optimizer's kind. It leaves out what may differ between runs that share a
    checkpoint: number of copies, batch size, hyper-parameters, weights, places
    in source files.

    `export_header` and `export_graph` are the ONNX inference graph without its
    weights. A model that can't be expressed in ONNX gets none, with a warning
    that gives the reasons.

    ```mlir
    module attributes {hfta.job = {…}} { hfta.model @mlp copies [0, 1] { … } }
    // ==>
    module attributes {hfta.job = {…}, hfta.models = [{copies = array<i64: 0, 1>,
        identity = "9f86d0…", export_header = "…", export_graph = "…"} ]} { … }
    ```
  }];
}

def HftaDescribePlan : Pass<"hfta-describe-plan", "::mlir::ModuleOp"> {
  let summary = "Note the costs of the tasks of a planned module";
  let description = [{
    Adds "model", the digest of the models' identities that plans and measured
    costs name, and "tasks" to `hfta.plan_json`, the JSON object that `info
    --json` of the binary shows: for each task the kernels that it launches,
    their flops (without padding taps) and the bytes that they read and write,
    for the whole array.

    ```mlir
    module attributes {hfta.plan_json = "{\"tasks\": [ … ]}"} { … }
    ```
  }];
}

def HftaFindMixedSamples : Pass<"hfta-find-mixed-samples", "::mlir::ModuleOp"> {
  let summary = "Find models whose samples depend on each other";
  let description = [{
    Runs on imported models. Follows the samples of a batch through each model, in
    inference mode, and notes the node that is the first to mix them on the way to
    the losses, `hfta.loss_mixed_by`, and to the outputs, `hfta.output_mixed_by`: a
    sum over samples, a product of each with each, another order of samples, or
    numbers that depend on a sample's position or on the batch size. Where it
    isn't known whether samples are mixed, nothing is noted.

    It is an error if losses are mixed and a batch consists of several
    micro-batches.

    ```mlir
    module attributes {hfta.job = {…}} { hfta.model @net copies [0] { … } }
    // ==>
    module attributes {hfta.job = {…}, hfta.loss_mixed_by = "mean",
        hfta.output_mixed_by = "mean"} { … }
    ```
  }];
}

def HftaMarkPhase : Pass<"hfta-mark-phase", "::mlir::ModuleOp"> {
  let summary = "Note the phase that the module is in";
  let description = [{
    Sets the module's `hfta.phase`, from which hftac knows where to continue.

    ```mlir
    module attributes {hfta.phase = "fused"} { … }
    ```
  }];
  let options = [
    Option<"phase", "phase", "std::string", /*default=*/"\"import\"",
           "name of the phase, as --emit of hftac lists them">
  ];
}

def HftaSetTarget : Pass<"hfta-set-target", "::mlir::ModuleOp"> {
  let summary = "Set the target that code is made for";
  let description = [{
    Sets the module's `hfta.target`, as hftac does before phase `train`.

    ```mlir
    // hfta-set-target{target=cpu options=cpu=x86-64-v3}
    module attributes {hfta.target = #hfta.target<"cpu", #hfta.processor<
        vector_bytes = 32, …>>} {}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "name of the target, as --list-targets of hftac lists them">,
    ListOption<"given", "options", "std::string",
           "options of the target as hftac has them, NAME=VALUE without dashes">,
    Option<"lastCacheBytes", "last-cache-bytes", "int64_t", /*default=*/"0",
           "if not 0, bytes of the last level of the processor's caches, which "
           "then has one way">
  ];
  let dependentDialects = ["::mlir::hfta::HftaDialect"];
}

#endif // HFTA_PIPELINES_PASSES
