//===- program.h - The table that a compiled program exports ----*- C -*-===//
//
// The interface between generated code and the runtime. The compiler emits one
// constant `hfta_program`; an instance runs its schedules, for the trainer or
// for a user's own loop. Nothing here allocates and nothing here is mutable:
// every pointer leads to constant data inside the binary.
//
// Sizes and offsets are in bytes, shapes in elements, times in steps. All
// structs and enums here are also listed in abi.h, from which the ABI's version
// is computed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PROGRAM_H
#define HFTA_PROGRAM_H

#include "hfta/settings.h"
#include "hfta/training.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Element types of stored tensors. Values are part of the ABI.
typedef enum hfta_element_type {
  HFTA_BOOL = 0, ///< one byte, 0 or 1
  HFTA_U8 = 1,
  HFTA_I8 = 2,
  HFTA_U16 = 3,
  HFTA_I16 = 4,
  HFTA_I32 = 5,
  HFTA_I64 = 6,
  HFTA_F16 = 7,
  HFTA_BF16 = 8,
  HFTA_F32 = 9,
  HFTA_F64 = 10
} hfta_element_type;

/// The contents of a segment; decides who fills it and whether it is saved.
typedef enum hfta_segment_role {
  HFTA_SEGMENT_CONSTANTS = 0,       ///< read only; `image` holds the bytes
  HFTA_SEGMENT_PARAMETERS = 1,      ///< trained and frozen weights
  HFTA_SEGMENT_GRADIENTS = 2,       ///< one per trained parameter
  HFTA_SEGMENT_OPTIMIZER_STATE = 3, ///< moments and other state
  HFTA_SEGMENT_STATISTICS = 4,      ///< running mean and variance
  HFTA_SEGMENT_SAVED = 5,           ///< activations kept for backward
  HFTA_SEGMENT_CUT = 6,             ///< values that cross from block to block
  HFTA_SEGMENT_WORKSPACE = 7,       ///< temporary memory within one task
  HFTA_SEGMENT_SCRATCH = 8,         ///< one instance per thread, temporary
                                    ///< memory within a kernel
  HFTA_SEGMENT_INPUT = 9,           ///< the micro-batch, in the files' element
                                    ///< types
  HFTA_SEGMENT_OUTPUT = 10,         ///< norms, model outputs
  HFTA_SEGMENT_SCALARS = 11, ///< step, learning rates, other run-time scalars
  HFTA_SEGMENT_RESULTS = 12, ///< losses and sums that the host reads
  /// Memory that ranks exchange: one instance for each micro-batch of the whole
  /// step, on every rank.
  HFTA_SEGMENT_EXCHANGE = 13,
  HFTA_SEGMENT_RECEIVED = 14,  ///< other ranks' sums, until they are added
  HFTA_SEGMENT_CURVATURE = 15, ///< statistics and inverses of a preconditioner
  HFTA_SEGMENT_MOMENTS = 16    ///< sums over a step that a preconditioner uses
} hfta_segment_role;

/// The place of a segment while a program runs.
typedef enum hfta_residency {
  HFTA_RESIDENT = 0,  ///< always in memory of its own
  HFTA_TRANSIENT = 1, ///< in the arena from a FETCH to a DROP; otherwise its
                      ///< contents are lost
  HFTA_SPILLED = 2    ///< in the arena from a FETCH to a DROP; otherwise in the
                      ///< store
} hfta_residency;

/// The size in bytes that places in the arena and the store are multiples of,
/// so that files can be read and written past the system's page cache.
#define HFTA_PAGE_BYTES 4096u

/// A set of a stage's replicas (of the program's, if it has one stage): the
/// `count` replicas first, first + stride, ... A count of 0 means that no set
/// is given.
typedef struct hfta_replicas {
  uint32_t first, count, stride;
  uint32_t reserved;
} hfta_replicas;

/// One region of memory. `instances` is the number of regions of this size that
/// the schedules need: for saved activations and cuts the micro-batches in
/// flight, for scalars that differ between micro-batches all those of a step,
/// for gradients and results the groups of the stage, otherwise 1. Scratch
/// needs one per thread, whatever this number is.
typedef struct hfta_segment {
  const char *name; ///< for example "parameters.0"
  uint32_t role;    ///< hfta_segment_role
  int32_t block;    ///< the block it belongs to, -1 for the whole program
  uint64_t bytes;   ///< size of one instance, all copies included
  /// If not 0, the segment consists of slabs of `copy_bytes` bytes, one per
  /// copy. The runtime may allocate only as many slabs as copies run at a time;
  /// copies then find their slab by their position among those that run.
  uint64_t copy_bytes;
  uint64_t alignment;
  uint32_t instances;
  int32_t stage;         ///< the stage that has it; -1: every worker that uses
                         ///< it has it
  hfta_replicas holders; ///< only these replicas allocate it; count 0: every
                         ///< worker that uses it does
  const void *image;     ///< `bytes` bytes of initial contents, or NULL
  /// hfta_residency. A segment that isn't HFTA_RESIDENT has no image, and
  /// consists of whole pages: `copy_bytes` if it has slabs, else `bytes`.
  uint32_t residency;
  uint32_t reserved;
} hfta_segment;

/// Bits of hfta_tensor.flags.
typedef enum hfta_tensor_flag {
  HFTA_TENSOR_TRAINED = 1u << 0,    ///< has a gradient and is updated
  HFTA_TENSOR_CHECKPOINT = 1u << 1, ///< is part of checkpoints
  HFTA_TENSOR_EXPORT = 1u << 2,     ///< an initializer of the exported model
  HFTA_TENSOR_SHARED = 1u << 3      ///< one value for all copies (stride 0)
} hfta_tensor_flag;

/// Reasons why a parameter is trained or not.
typedef enum hfta_training_rule {
#define HFTA_TRAINING_RULE(identifier, number, trained, word, text)            \
  HFTA_TRAINING_##identifier = number,
  HFTA_TRAINING_RULES
#undef HFTA_TRAINING_RULE
} hfta_training_rule;

/// A named tensor in a segment: its logical, row-major shape for one copy. Copy
/// k's tensor begins at `offset + k * copy_stride`.
typedef struct hfta_tensor {
  const char *name; ///< the name within a copy: never contains a copy's number
  uint32_t segment; ///< index into hfta_program.segments
  uint32_t type;    ///< hfta_element_type
  uint64_t offset;
  uint64_t copy_stride; ///< 0: shared by all copies
  const int64_t *shape;
  uint32_t rank;
  uint32_t flags;
  uint64_t bytes; ///< size for one copy
  int32_t copy;   ///< the only copy that has it, or -1: all have it; tensors of
                  ///< different copies may have the same name
  uint32_t training_rule; ///< for a parameter: hfta_training_rule
} hfta_tensor;

/// A kernel that computes one work item. The work of one copy is cut into
/// `items` pieces of the same kind; a call does piece `item` of the copy whose
/// buffers it is given. `scratch` is private to the calling thread, at least
/// hfta_launch.scratch_bytes long and 64-byte aligned.
typedef void (*hfta_kernel)(void *const *buffers, int64_t item, void *scratch);

/// A kernel that computes several items at once, one in each of its
/// hfta_launch.lanes lanes; the items may be of different copies. Lane i has
/// item `items[i]`, and hfta_launch.binding_count buffers from `buffers[i *
/// binding_count]` on. If there are fewer items than lanes, the remaining lanes
/// repeat the last item.
typedef void (*hfta_lanes_kernel)(void *const *buffers, const int64_t *items,
                                  void *scratch);

/// Bits of hfta_binding.access.
typedef enum hfta_access {
  HFTA_ACCESS_READ = 1u << 0,
  HFTA_ACCESS_WRITE = 1u << 1
} hfta_access;

/// The place of a kernel's operand.
typedef struct hfta_binding {
  uint32_t segment;
  uint32_t in_slabs; ///< 1: copies are numbered as the segment's slabs are
  uint64_t offset;
  uint64_t copy_stride; ///< 0: every copy reads the same bytes
  uint64_t bytes;       ///< size of one copy's operand
  uint32_t access;      ///< hfta_access; for some of the bytes or all of them
  uint32_t reserved;
} hfta_binding;

#define HFTA_MAX_BINDINGS 256

/// The most dimensions of an operand that a GPU copies box by box.
#define HFTA_MAX_MAP_RANK 4

/// A dimension of an operand that a GPU copies box by box.
typedef struct hfta_map_dimension {
  uint64_t size;
  uint64_t stride; ///< in bytes; for the first dimension, the size of an
                   ///< element
  uint32_t box;    ///< extent of a box along it, which counts skipped elements
                   ///< too
  uint32_t step;   ///< a box holds every `step`-th element of its extent; 1 for
                   ///< the first dimension
} hfta_map_dimension;

/// Describes an operand as a tensor of which a GPU copies one box at a time (a
/// tensor map).
typedef struct hfta_tensor_map {
  uint32_t binding;       ///< index of the launch's binding
  uint32_t element_bytes; ///< 2 or 4
  uint32_t rank;          ///< 1 to HFTA_MAX_MAP_RANK
  uint32_t reserved;
  const hfta_map_dimension *dimensions; ///< the innermost dimension first
} hfta_tensor_map;

/// The launch of a kernel in images for warp groups. It has as many blocks as
/// in other images, but other block sizes. If it has maps, the kernel gets one
/// more parameter after the others: a block of bytes, aligned to 64 bytes. The
/// block holds, for each map, the driver's tensor-map descriptor of 128 bytes,
/// which has the copies as an additional dimension; then a 32-bit number for
/// each map: 1 if each copy has its own operand, 0 if all share it.
typedef struct hfta_warp_group_launch {
  const hfta_tensor_map *maps;
  uint32_t map_count;
  uint32_t block_threads;
  uint32_t shared_bytes; ///< dynamic shared memory of a block
  uint32_t reserved;
} hfta_warp_group_launch;

/// The size of a descriptor, and the alignment of the block's address and size.
#define HFTA_MAP_BYTES 128
#define HFTA_MAP_ALIGNMENT 64

/// Returns the bytes of the block for `map_count` maps.
static inline uint64_t hfta_map_block_bytes(uint64_t map_count) {
  uint64_t bytes = map_count * (HFTA_MAP_BYTES + sizeof(uint32_t));
  return (bytes + HFTA_MAP_ALIGNMENT - 1) / HFTA_MAP_ALIGNMENT *
         HFTA_MAP_ALIGNMENT;
}

/// A kernel that runs once a copy, once for all copies, or for one copy alone.
typedef struct hfta_launch {
  hfta_kernel kernel; ///< NULL in a program with images
  const char *name;   ///< for profiles and messages
  const char *symbol; ///< the kernel's symbol in images; NULL without images
  const hfta_binding *bindings;
  /// Its launch in images for warp groups; NULL: as in other images.
  const hfta_warp_group_launch *warp_groups;
  uint32_t binding_count; ///< at most HFTA_MAX_BINDINGS
  uint32_t per_copy;      ///< 1: runs once per copy; 0: runs once
  int32_t copy;   ///< the only copy for which it runs; -1: it belongs to no
                  ///< single copy
  uint32_t joins; ///< 1: both this and the launch before it run once per copy,
                  ///< and no copy reads data that another one writes: a copy
                  ///< may go through both launches before the next copy does
  int64_t items;
  int64_t lanes; ///< 0: `kernel` computes one item; else `kernel` is really an
                 ///< hfta_lanes_kernel. lanes times binding_count is at most
                 ///< HFTA_MAX_BINDINGS
  uint64_t scratch_bytes; ///< for each thread of the CPU or of a GPU
  uint32_t block_threads; ///< size of a GPU's block; 0 without images
  uint32_t reserved;
} hfta_launch;

/// The kind of code for a GPU.
typedef enum hfta_image_kind {
  HFTA_IMAGE_CUBIN = 0,   ///< machine code: for chips of its major version,
                          ///< from its minor version on
  HFTA_IMAGE_PTX = 1,     ///< text that ends with a 0 byte: for its chip and
                          ///< later ones
  HFTA_IMAGE_EMULATED = 2 ///< a shared library for the host's processor, only
                          ///< for the emulated driver
} hfta_image_kind;

/// GPU code of some of the kernels, for one chip. A kernel's parameters are,
/// for each binding, an address and a distance in bytes from copy to copy, then
/// the address of scratch memory, in which the threads' parts follow each
/// other, copy by copy. A kernel is launched with as many blocks as its items
/// need, as a grid of (blocks, 1, copies). In images for warp groups, kernels
/// differ where their launch has `warp_groups` (hfta_warp_group_launch).
typedef struct hfta_image {
  const void *data;
  uint64_t bytes;
  const char *chip;     ///< "sm_80"
  uint32_t kind;        ///< hfta_image_kind
  uint32_t warp_groups; ///< 1: the code is for warp groups
} hfta_image;

typedef struct hfta_image_table {
  const hfta_image *images;
  uint64_t count;
} hfta_image_table;

/// Flag of a task that may run for some copies first and for others later:
/// nothing that it computes for a copy, or for all of them, depends on another
/// copy, and it may compute shared values again each time.
#define HFTA_TASK_BY_COPIES 1u

/// The number of bytes that a task uses of a segment, or of each slab of a
/// segment of slabs.
typedef struct hfta_extent {
  uint32_t segment;
  uint32_t reserved;
  uint64_t bytes;
} hfta_extent;

/// Launches that run as one, in order. The purpose of a task is known from its
/// name alone.
typedef struct hfta_task {
  const char *name; ///< "forward.0": its part, and its block if it has one
  const hfta_launch *launches;
  const uint32_t *reads; ///< segment indices
  const uint32_t *writes;
  /// The task's use of workspace segments, which have room for the largest
  /// task.
  const hfta_extent *workspaces;
  uint32_t launch_count;
  uint32_t read_count;
  uint32_t write_count;
  uint32_t flags; ///< HFTA_TASK_BY_COPIES
  uint32_t workspace_count;
  uint32_t reserved;
} hfta_task;

/// The action of a schedule's command. Each command goes to a queue of a
/// device; commands of one queue take effect in order.
typedef enum hfta_command_kind {
  HFTA_COMMAND_RUN = 0,      ///< a task
  HFTA_COMMAND_TRANSFER = 1, ///< copies bytes from one place to another
  HFTA_COMMAND_FILL = 2,     ///< fills a place with zeros
  HFTA_COMMAND_RECORD = 3,   ///< records an event: the queue's earlier commands
                             ///< are done
  HFTA_COMMAND_AWAIT = 4,    ///< the queue waits for the event's last record
  HFTA_COMMAND_REPEAT = 5,   ///< the commands that follow, several times
  HFTA_COMMAND_EVERY = 6,    ///< the commands that follow, for copies whose
                             ///< period is due
  HFTA_COMMAND_ALL_REDUCE = 7, ///< sums the groups' sums of all ranks
  HFTA_COMMAND_ALL_GATHER = 8, ///< gives all ranks what each has computed for
                               ///< its micro-batches
  HFTA_COMMAND_SEND = 9, ///< sends a place's bytes to workers of another stage
  HFTA_COMMAND_RECEIVE = 10,   ///< receives bytes in the same place from a
                               ///< worker of another stage
  HFTA_COMMAND_ACTIONS = 11,   ///< the cases that follow, in the order of a
                               ///< list of actions
  HFTA_COMMAND_CASE = 12,      ///< in ACTIONS: the commands that follow
  HFTA_COMMAND_ONLY = 13,      ///< the commands that follow, on some replicas
                               ///< only
  HFTA_COMMAND_BROADCAST = 14, ///< copies a place's bytes from some replicas to
                               ///< others
  HFTA_COMMAND_TAKE_GROUP = 15, ///< takes one group's sums as the sums of all
                                ///< groups
  HFTA_COMMAND_FETCH = 16,      ///< gives a segment a place in the arena
  HFTA_COMMAND_EVICT = 17, ///< writes a segment's contents in the arena to the
                           ///< store
  HFTA_COMMAND_DROP = 18   ///< ends a segment's place in the arena
} hfta_command_kind;

/// The contents of a segment after FETCH has given it a place.
typedef enum hfta_contents {
  HFTA_CONTENTS_STORED = 0, ///< the contents in the store; zeros if it was
                            ///< never written
  HFTA_CONTENTS_ZEROS = 1,
  HFTA_CONTENTS_UNDEFINED = 2 ///< undefined: the next task overwrites it
} hfta_contents;

typedef enum hfta_repeat_kind {
  HFTA_REPEAT_MICRO_BATCHES = 0, ///< once for each micro-batch of the rank, in
                                 ///< order
  HFTA_REPEAT_TURNS = 1, ///< for the first few copies, then for the next ones,
                         ///< and so on
  HFTA_REPEAT_ALL_MICRO_BATCHES = 2 ///< once for each micro-batch of the whole
                                    ///< step, in order
} hfta_repeat_kind;

/// The copies for which the commands of an HFTA_COMMAND_EVERY run. After s
/// steps, a copy of period p is due if p divides s, or if s < p and s is a
/// power of two.
typedef enum hfta_due_kind {
  HFTA_DUE = 0,        ///< the copies that are due
  HFTA_DUE_OTHERS = 1, ///< the copies that are not due
  HFTA_DUE_ANY = 2,    ///< all live copies, if one of them is due
  HFTA_DUE_NONE = 3    ///< all live copies, if none is due
} hfta_due_kind;

typedef enum hfta_space {
  HFTA_SPACE_SEGMENT = 0, ///< the micro-batch's instance of a segment
  HFTA_SPACE_HOST = 1,    ///< the host's image of a segment
  HFTA_SPACE_FIELD = 2,   ///< a field of the caller's batch, at the micro-batch
  HFTA_SPACE_PORT = 3,    ///< the caller's tensor for a model input
  HFTA_SPACE_ARENA = 4    ///< the memory in which FETCH gives places; has no
                          ///< index
} hfta_space;

typedef struct hfta_place {
  uint32_t space; ///< hfta_space
  uint32_t index; ///< number of the segment, field or input
  uint64_t offset;
  uint64_t copy_stride; ///< not 0: one such place per copy, at this distance
} hfta_place;

typedef struct hfta_command {
  uint32_t kind; ///< hfta_command_kind
  uint32_t device;
  uint32_t queue;
  uint32_t subject; ///< RUN, ALL_REDUCE: task; RECORD, AWAIT: event; REPEAT:
                    ///< hfta_repeat_kind; EVERY: hyper-parameter; SEND,
                    ///< RECEIVE: the other stage; ACTIONS: number of the order;
                    ///< CASE: its number; TAKE_GROUP: group; FETCH:
                    ///< hfta_contents
  uint32_t length;  ///< REPEAT, EVERY, ACTIONS, CASE, ONLY: number of following
                    ///< commands that are its body
  int32_t ahead;    ///< TRANSFER, RECEIVE, RECORD, AWAIT, FETCH, EVICT, DROP:
                    ///< the number of micro-batches ahead of the current one
  hfta_place to;    ///< TRANSFER, FILL, ALL_GATHER, SEND, RECEIVE, BROADCAST,
                    ///< TAKE_GROUP; ALL_REDUCE: the sums, with a block's bytes
                    ///< as the stride; FETCH, EVICT, DROP: the segment
  hfta_place from;  ///< TRANSFER; ALL_REDUCE: memory that receives other ranks'
                    ///< sums; FETCH: the place in the arena
  uint64_t bytes;   ///< TRANSFER, FILL, BROADCAST, TAKE_GROUP: size of one
                    ///< copy's place; SEND, RECEIVE: of all copies' places;
                    ///< ALL_REDUCE: of all blocks; RECORD, AWAIT: the number of
                    ///< events, from the subject on, that micro-batches use in
                    ///< turn; EVERY: hfta_due_kind; REPEAT over turns: copies
                    ///< per turn, 0: the host chooses; FETCH: the number of
                    ///< consecutive places in the arena, which instances use in
                    ///< turn
  /// ONLY: the replicas that run its body. BROADCAST: the senders, and the
  /// receivers.
  hfta_replicas replicas, receivers;
} hfta_command;

/// An entry of a worker's list of actions: it runs a case for one of its
/// micro-batches. Entries for micro-batches that the worker doesn't have are
/// skipped.
typedef struct hfta_action {
  uint32_t which; ///< number of the case
  uint32_t place; ///< among the worker's own micro-batches, from 0
} hfta_action;

typedef struct hfta_action_list {
  const hfta_action *actions;
  uint64_t count;
} hfta_action_list;

/// One or several blocks of the model, not necessarily consecutive, and the
/// workers that run them, its replicas. Micro-batch m belongs to group c = m
/// mod groups, and to replica c mod replicas. Workers are numbered stage by
/// stage.
typedef struct hfta_stage {
  int64_t replicas;
  int64_t groups; ///< number of sums over micro-batches
  int64_t
      in_flight; ///< micro-batches of a replica between forward and backward
} hfta_stage;

/// A list of commands that the host runs by its name: "initialize", "step",
/// "evaluate".
typedef struct hfta_schedule {
  const char *name;
  const hfta_command *commands;
  const uint32_t *keeps; ///< segments in which each copy has its own slab; in
                         ///< other segments the copies of a turn use the first
                         ///< slabs
  uint32_t command_count;
  uint32_t keep_count;
  int32_t stage; ///< the stage whose workers run it; -1: all workers
  uint32_t reserved;
} hfta_schedule;

/// A field of the data block: a file for training, one for testing, and the
/// tensor in the input segment that receives a micro-batch of it.
typedef struct hfta_data_field {
  const char *name;
  uint32_t
      tensor; ///< index into hfta_program.tensors; shape[0] is the micro-batch
  uint32_t reserved;
  hfta_data_source train;
  hfta_data_source test;
  int64_t classes; ///< if not 0, the files hold class numbers: `classes` of
                   ///< them from `first_class` on, or `ignored_class`; 0: any
                   ///< values
  int64_t first_class;
  int64_t ignored_class;
} hfta_data_field;

/// A model input or output, for `run` and for embedding programs.
typedef struct hfta_port {
  const char *name; ///< for a training program's input: its data field's
  uint32_t tensor;
  uint32_t reserved;
  const char *model_name; ///< the name in the model itself
} hfta_port;

/// Tensors that the host writes or reads in its images of segments, by index
/// into hfta_program.tensors; UINT32_MAX: absent.
typedef struct hfta_roles {
  uint32_t step;        ///< i64, shared: steps done before this one
  uint32_t micro_batch; ///< i64, shared: index of the micro-batch in the step;
                        ///< instance m of the segment always holds m
  uint32_t valid_samples; ///< i64, shared: real samples in this micro-batch
                          ///< (evaluate)
  uint32_t learning_rate; ///< one real per copy
  uint32_t seed;          ///< one i64 per copy
  uint32_t loss;          ///< one real per copy: the mean over the step's
                          ///< micro-batches
  uint32_t loss_sum;    ///< one f64 per copy: sum of losses over a batch's real
                        ///< elements
  uint32_t loss_weight; ///< one f64 per copy: number of these elements
  uint32_t metric_sum;  ///< one f64 per copy: sum of the metric over them
  // Only in a job with a preconditioner:
  uint32_t damping;  ///< one real per copy
  uint32_t kl_scale; ///< one f64 per copy: factor by which a step's gradients
                     ///< were scaled
  uint32_t skipped;  ///< one f64 per copy: statistics of a step that weren't
                     ///< finite
  uint32_t retried;  ///< one f64 per copy: inverses that needed more damping
  uint32_t kept;     ///< one f64 per copy: inverses that stayed as they were
  uint32_t accumulations; ///< i64, shared: number of accumulations that an
                          ///< update uses
  // Only in a job that scales its losses:
  uint32_t loss_scale; ///< one f64 per copy: factor by which a step's loss was
                       ///< multiplied
  uint32_t skipped_steps; ///< one f64 per copy: steps so far whose gradients
                          ///< weren't finite, and which changed nothing
} hfta_roles;

/// An inference model to be filled with one copy's tensors: `header` is a
/// serialized ONNX ModelProto without its graph, `graph` a GraphProto without
/// its initializers. The tensors flagged HFTA_TENSOR_EXPORT are written after
/// the graph under their own names. NULL: the model can't be exported.
typedef struct hfta_export_template {
  const void *header;
  uint64_t header_bytes;
  const void *graph;
  uint64_t graph_bytes;
} hfta_export_template;

/// One of the models from which the array of copies was made.
typedef struct hfta_model {
  const char *identity; ///< digest of model graph and optimizer kind
  /// The identity that earlier compilers wrote, which depends on the batch
  /// size: accepted in checkpoints, never written.
  const char *identity_of_batch;
  hfta_export_template export_template;
} hfta_model;

typedef struct hfta_program {
  uint32_t abi_version;
  uint32_t reserved;
  const char *name;         ///< the job's name
  const char *optimizer;    ///< "sgd", "adam", "adamw"; "" without training
  const char *metric;       ///< "accuracy" or ""
  const char *cpu_features; ///< comma-separated names as in /proc/cpuinfo
  const char
      *plan_json; ///< text that `info --json` adds: memory plan, layers, costs
  int64_t copies;
  int64_t batch;         ///< samples per step (micro_batches times the
                         ///< micro-batch's size)
  int64_t micro_batches; ///< per step
  int64_t workers;       ///< number of workers of all stages together; there
                         ///< are at most as many ranks
  int64_t blocks;        ///< number of parts that the model was cut into
  int64_t epochs;        ///< default number; 0: none given
  int64_t steps;         ///< default number; 0: none given
  int64_t order_seed;
  uint32_t shuffle;
  uint32_t precision; ///< hfta_element_type of losses and logs
  hfta_learning_rate learning_rate;
  hfta_learning_rate damping_schedule; ///< schedule of a preconditioner's
                                       ///< damping
  const hfta_segment *segments;
  const hfta_tensor *tensors;
  const hfta_task *tasks;
  const hfta_schedule *schedules;
  const hfta_action_list *orders;
  const hfta_stage *stages; ///< at least one
  /// For each worker of several stages: its position, from 0, in the order in
  /// which workers are dealt to ranks in consecutive runs. NULL: its number.
  const int64_t *worker_places;
  const hfta_hyper_parameter *hyper_parameters;
  const hfta_data_field *data_fields;
  const hfta_port *inputs;
  const hfta_port *outputs;
  const hfta_setting *settings; ///< settings that `info` shows for the job
  uint32_t segment_count;
  uint32_t tensor_count;
  uint32_t task_count;
  uint32_t schedule_count;
  uint32_t order_count;
  uint32_t stage_count;
  uint32_t event_count; ///< number of events; all schedules share one numbering
  uint32_t queue_count; ///< number of queues of each device
  uint32_t hyper_parameter_count;
  uint32_t data_field_count;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t setting_count;
  hfta_roles roles;
  const hfta_model *models;
  const uint32_t *model_of_copy; ///< an index into `models` for each copy
  uint64_t arena_bytes;   ///< the most bytes of the arena that a worker's
                          ///< FETCHes use; 0: there are none
  uint64_t device_bytes;  ///< limit of the job's memory clause; 0: none
  int64_t memory_threads; ///< the most threads for which memory is planned; 0:
                          ///< any
  const char *spill_directory;    ///< from the memory clause; "" or NULL: not
                                  ///< given
  double step_seconds;            ///< expected duration of a step; 0: unknown
  const hfta_image_table *images; ///< code of kernels that run on a GPU; NULL:
                                  ///< the kernels run on the CPU
  /// The node of the model that mixes the samples of a batch on the way to the
  /// losses, and to the outputs: only whole batches have a meaning then. ""
  /// where samples are independent.
  const char *loss_mixed_by;
  const char *output_mixed_by;
} hfta_program;

#ifdef __cplusplus
}
#endif

#endif // HFTA_PROGRAM_H
