//===- program.h - The table that a compiled program exports ----*- C -*-===//
//
// What generated code and the runtime tell each other. The compiler emits one
// constant `hfta_program`; an instance runs its schedules, for the trainer or
// for a user's own loop. Nothing here allocates and nothing here is mutable:
// every pointer leads to constant data inside the binary.
//
// Sizes and offsets are in bytes, shapes in elements, times in steps. What
// stands here stands in the lists of abi.h too, from which the ABI's version
// follows.
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

/// What a segment holds; decides who fills it and whether it is saved.
typedef enum hfta_segment_role {
  HFTA_SEGMENT_CONSTANTS = 0,       ///< read only; `image` holds the bytes
  HFTA_SEGMENT_PARAMETERS = 1,      ///< trained and frozen weights
  HFTA_SEGMENT_GRADIENTS = 2,       ///< one a trained parameter
  HFTA_SEGMENT_OPTIMIZER_STATE = 3, ///< moments and the like
  HFTA_SEGMENT_STATISTICS = 4,      ///< running mean and variance
  HFTA_SEGMENT_SAVED = 5,           ///< activations kept for backward
  HFTA_SEGMENT_CUT = 6,             ///< what crosses from block to block
  HFTA_SEGMENT_WORKSPACE = 7,       ///< lives within one task
  HFTA_SEGMENT_SCRATCH = 8,         ///< one instance a thread, within a kernel
  HFTA_SEGMENT_INPUT = 9,           ///< the micro-batch, as the files hold it
  HFTA_SEGMENT_OUTPUT = 10,         ///< norms, model outputs
  HFTA_SEGMENT_SCALARS = 11, ///< step, learning rates, other run-time scalars
  HFTA_SEGMENT_RESULTS = 12, ///< losses and sums that the host reads
  /// What ranks exchange: one instance a micro-batch of the whole step, on
  /// every rank.
  HFTA_SEGMENT_EXCHANGE = 13,
  HFTA_SEGMENT_RECEIVED = 14,  ///< other ranks' sums, until they are added up
  HFTA_SEGMENT_CURVATURE = 15, ///< what a preconditioner keeps
  HFTA_SEGMENT_MOMENTS = 16    ///< sums over a step that it takes
} hfta_segment_role;

/// Where a segment lies while a program runs.
typedef enum hfta_residency {
  HFTA_RESIDENT = 0,  ///< in memory of its own
  HFTA_TRANSIENT = 1, ///< in the arena from a FETCH to a DROP, else nowhere
  HFTA_SPILLED = 2    ///< likewise, and in the store meanwhile
} hfta_residency;

/// Places in the arena and the store are multiples of so many bytes, in which
/// files are read and written past the system's cache.
#define HFTA_PAGE_BYTES 4096u

/// Some of a stage's replicas, of the program's where it has one stage: first,
/// first + stride, ..., `count` of them. 0 of them: none are told.
typedef struct hfta_replicas {
  uint32_t first, count, stride;
  uint32_t reserved;
} hfta_replicas;

/// One region of memory. `instances` counts the regions of this size that the
/// schedules need: micro-batches in flight for saved activations and cuts, all
/// of a step for scalars that differ between them, groups of its stage for
/// gradients and results, 1 otherwise; scratch needs one a thread, whatever is
/// written here.
typedef struct hfta_segment {
  const char *name; ///< for example "parameters.0"
  uint32_t role;    ///< hfta_segment_role
  int32_t block;    ///< the block it belongs to, -1 for the whole program
  uint64_t bytes;   ///< of one instance, all copies included
  /// Not 0: the segment is slabs of so many bytes, one a copy. It may be cut to
  /// as many slabs as copies run at a time, which then find their own counted
  /// from the first of them.
  uint64_t copy_bytes;
  uint64_t alignment;
  uint32_t instances;
  int32_t stage;         ///< whose it is, -1: of every worker that uses it
  hfta_replicas holders; ///< there is memory for it where one of these is; 0 of
                         ///< them: wherever it is used
  const void *image;     ///< `bytes` bytes of initial contents, or NULL
  /// hfta_residency. What isn't HFTA_RESIDENT has no image, and consists of
  /// whole pages: `copy_bytes` if it has slabs, else `bytes`.
  uint32_t residency;
  uint32_t reserved;
} hfta_segment;

/// Bits of hfta_tensor.flags.
typedef enum hfta_tensor_flag {
  HFTA_TENSOR_TRAINED = 1u << 0,    ///< has a gradient and is updated
  HFTA_TENSOR_CHECKPOINT = 1u << 1, ///< stands in checkpoints
  HFTA_TENSOR_EXPORT = 1u << 2,     ///< an initializer of the exported model
  HFTA_TENSOR_SHARED = 1u << 3      ///< one value for all copies (stride 0)
} hfta_tensor_flag;

/// Why a parameter is trained or not.
typedef enum hfta_training_rule {
#define HFTA_TRAINING_RULE(identifier, number, trained, word, text)            \
  HFTA_TRAINING_##identifier = number,
  HFTA_TRAINING_RULES
#undef HFTA_TRAINING_RULE
} hfta_training_rule;

/// A named tensor in a segment. Logical, row-major, one copy's shape; copy k
/// begins at `offset + k * copy_stride`.
typedef struct hfta_tensor {
  const char *name; ///< the copy's own name: never holds a copy's number
  uint32_t segment; ///< index into hfta_program.segments
  uint32_t type;    ///< hfta_element_type
  uint64_t offset;
  uint64_t copy_stride; ///< 0: shared by all copies
  const int64_t *shape;
  uint32_t rank;
  uint32_t flags;
  uint64_t bytes; ///< of one copy
  int32_t copy;   ///< the one copy that has it, or -1: all have; names of
                  ///< different copies' tensors may be the same
  uint32_t training_rule; ///< of a parameter: hfta_training_rule
} hfta_tensor;

/// The work of one copy is cut into `items` equal-kind pieces; a kernel does
/// piece `item` of the copy whose buffers it is given. `scratch` is private to
/// the calling thread, at least hfta_launch.scratch_bytes long and
/// 64-byte aligned.
typedef void (*hfta_kernel)(void *const *buffers, int64_t item, void *scratch);

/// A kernel that computes several items at once, one in each of its
/// hfta_launch.lanes lanes, which may be of different copies. Lane i has item
/// `items[i]`, and hfta_launch.binding_count buffers from
/// `buffers[i * binding_count]` on. Where there are fewer items than lanes, the
/// last lanes have the same one.
typedef void (*hfta_lanes_kernel)(void *const *buffers, const int64_t *items,
                                  void *scratch);

/// Bits of hfta_binding.access.
typedef enum hfta_access {
  HFTA_ACCESS_READ = 1u << 0,
  HFTA_ACCESS_WRITE = 1u << 1
} hfta_access;

/// Where a kernel's operand lies.
typedef struct hfta_binding {
  uint32_t segment;
  uint32_t in_slabs; ///< 1: copies count as the segment's slabs do
  uint64_t offset;
  uint64_t copy_stride; ///< 0: every copy reads the same bytes
  uint64_t bytes;       ///< of one copy's operand
  uint32_t access;      ///< hfta_access; some of the bytes or all
  uint32_t reserved;
} hfta_binding;

#define HFTA_MAX_BINDINGS 256

/// Dimensions of an operand that a GPU copies box by box, at most.
#define HFTA_MAX_MAP_RANK 4

/// A dimension of such an operand.
typedef struct hfta_map_dimension {
  uint64_t size;
  uint64_t stride; ///< bytes; of the first dimension: an element's
  uint32_t box;    ///< how many elements a box has along it, times the step
  uint32_t step;   ///< a box has every so many'th element; of the first
                   ///< dimension 1
} hfta_map_dimension;

/// How what a GPU copies of an operand at once lies in its memory: boxes of a
/// tensor.
typedef struct hfta_tensor_map {
  uint32_t binding;       ///< of the launch
  uint32_t element_bytes; ///< 2 or 4
  uint32_t rank;          ///< 1 to HFTA_MAX_MAP_RANK
  uint32_t reserved;
  const hfta_map_dimension *dimensions; ///< the innermost first
} hfta_tensor_map;

/// How a kernel is launched in images for warp groups: with as many blocks as
/// in others, but of other threads. With maps it has one more parameter, behind
/// the others: a block of bytes, aligned to 64 of them. It holds the driver's
/// description, 128 bytes, of each map, with the copies as one more dimension,
/// then a number of 32 bits for each: 1 where the operand's copies lie apart, 0
/// where all share it.
typedef struct hfta_warp_group_launch {
  const hfta_tensor_map *maps;
  uint32_t map_count;
  uint32_t block_threads;
  uint32_t shared_bytes; ///< asked for at the launch
  uint32_t reserved;
} hfta_warp_group_launch;

/// Of a description, and of what the block's address and size are multiples.
#define HFTA_MAP_BYTES 128
#define HFTA_MAP_ALIGNMENT 64

/// Bytes of the block of so many maps.
static inline uint64_t hfta_map_block_bytes(uint64_t map_count) {
  uint64_t bytes = map_count * (HFTA_MAP_BYTES + sizeof(uint32_t));
  return (bytes + HFTA_MAP_ALIGNMENT - 1) / HFTA_MAP_ALIGNMENT *
         HFTA_MAP_ALIGNMENT;
}

/// A kernel that runs once a copy, once for all copies, or for one copy alone.
typedef struct hfta_launch {
  hfta_kernel kernel; ///< NULL in a program with images
  const char *name;   ///< for profiles and messages
  const char *symbol; ///< the kernel's in images; NULL without
  const hfta_binding *bindings;
  /// In images for warp groups; NULL: as in others.
  const hfta_warp_group_launch *warp_groups;
  uint32_t binding_count; ///< at most HFTA_MAX_BINDINGS
  uint32_t per_copy;      ///< 1: once a copy; 0: once
  int32_t copy;   ///< the copy whose own it is: runs only with it; -1: none's
  uint32_t joins; ///< 1: both this and the launch before it run once a copy,
                  ///< and no copy reads what another one writes: copies may go
                  ///< through both one after the other
  int64_t items;
  int64_t lanes; ///< 0: `kernel` computes an item; else it is an
                 ///< hfta_lanes_kernel in truth. Lanes times binding_count are
                 ///< at most HFTA_MAX_BINDINGS
  uint64_t scratch_bytes; ///< of a thread of the CPU or of a GPU
  uint32_t block_threads; ///< of a GPU; 0 without images
  uint32_t reserved;
} hfta_launch;

/// What code for a GPU is made of.
typedef enum hfta_image_kind {
  HFTA_IMAGE_CUBIN = 0,   ///< machine code: for chips of its major version,
                          ///< from its minor one on
  HFTA_IMAGE_PTX = 1,     ///< text with a zero behind it: for chips from its
                          ///< own on
  HFTA_IMAGE_EMULATED = 2 ///< a shared library for the host's processor, for
                          ///< the emulated driver alone
} hfta_image_kind;

/// A part of the kernels, for one chip. A kernel's parameters are an address
/// and a distance in bytes from copy to copy for each binding, and the address
/// of scratch memory, a thread's behind another's, copies last. It is launched
/// with as many blocks as its items need, (blocks, 1, copies). Images for warp
/// groups have other kernels where their launch says so
/// (hfta_warp_group_launch).
typedef struct hfta_image {
  const void *data;
  uint64_t bytes;
  const char *chip;     ///< "sm_80"
  uint32_t kind;        ///< hfta_image_kind
  uint32_t warp_groups; ///< 1: for warp groups
} hfta_image;

typedef struct hfta_image_table {
  const hfta_image *images;
  uint64_t count;
} hfta_image_table;

/// Flag of a task that may run for some copies, then for others: nothing that
/// it computes for a copy or for all of them depends on another copy, and it
/// may compute what all share again each time.
#define HFTA_TASK_BY_COPIES 1u

/// How far a task reaches into a segment, or into each slab of one of slabs.
typedef struct hfta_extent {
  uint32_t segment;
  uint32_t reserved;
  uint64_t bytes;
} hfta_extent;

/// Launches that run as one, in order. What a task is for is its name alone.
typedef struct hfta_task {
  const char *name; ///< "forward.0": its part, and its block if it has one
  const hfta_launch *launches;
  const uint32_t *reads; ///< segment indices
  const uint32_t *writes;
  /// Of segments of role workspace, which have room for the largest task.
  const hfta_extent *workspaces;
  uint32_t launch_count;
  uint32_t read_count;
  uint32_t write_count;
  uint32_t flags; ///< HFTA_TASK_BY_COPIES
  uint32_t workspace_count;
  uint32_t reserved;
} hfta_task;

/// What a schedule's command does. Each goes to a queue of a device; commands
/// of one queue take effect in their order.
typedef enum hfta_command_kind {
  HFTA_COMMAND_RUN = 0,      ///< a task
  HFTA_COMMAND_TRANSFER = 1, ///< copies bytes from a place to another
  HFTA_COMMAND_FILL = 2,     ///< zeros in a place
  HFTA_COMMAND_RECORD = 3,   ///< an event: what the queue had before is done
  HFTA_COMMAND_AWAIT = 4,  ///< the queue goes on after the event's last record
  HFTA_COMMAND_REPEAT = 5, ///< the commands that follow, several times
  HFTA_COMMAND_EVERY = 6,  ///< those for copies whose period has come round
  HFTA_COMMAND_ALL_REDUCE = 7, ///< adds up the groups' sums that all ranks have
  HFTA_COMMAND_ALL_GATHER = 8, ///< gives all ranks what each has of its
                               ///< micro-batches
  HFTA_COMMAND_SEND = 9,       ///< a place's bytes to workers of another stage
  HFTA_COMMAND_RECEIVE = 10,   ///< to the same place, from one of its workers
  HFTA_COMMAND_ACTIONS = 11,   ///< the cases that follow, in a certain order
  HFTA_COMMAND_CASE = 12,      ///< of ACTIONS: the commands that follow
  HFTA_COMMAND_ONLY = 13,      ///< the commands that follow, where one of some
                               ///< replicas is
  HFTA_COMMAND_BROADCAST = 14, ///< a place's bytes of some replicas to others
  HFTA_COMMAND_TAKE_GROUP = 15, ///< one group's sums in place of those of all
  HFTA_COMMAND_FETCH = 16, ///< a segment has a place in the arena from here on
  HFTA_COMMAND_EVICT = 17, ///< writes what it holds there to the store
  HFTA_COMMAND_DROP = 18   ///< it has no place any more
} hfta_command_kind;

/// What a segment holds when FETCH has given it a place.
typedef enum hfta_contents {
  HFTA_CONTENTS_STORED = 0, ///< what the store has; zeros if that was never
                            ///< written
  HFTA_CONTENTS_ZEROS = 1,
  HFTA_CONTENTS_UNDEFINED = 2 ///< anything: the next task writes it
} hfta_contents;

typedef enum hfta_repeat_kind {
  HFTA_REPEAT_MICRO_BATCHES = 0, ///< once for each that the rank has, in order
  HFTA_REPEAT_TURNS = 1, ///< for the first few copies, then for the next ones
  HFTA_REPEAT_ALL_MICRO_BATCHES = 2 ///< once for each of the step, in order
} hfta_repeat_kind;

/// For whom the commands of an HFTA_COMMAND_EVERY are. With s steps done, a
/// copy of period p is due if p divides s, or if s < p and s is a power of two.
typedef enum hfta_due_kind {
  HFTA_DUE = 0,        ///< the copies that are due
  HFTA_DUE_OTHERS = 1, ///< those that are not
  HFTA_DUE_ANY = 2,    ///< all that live, if one of them is due
  HFTA_DUE_NONE = 3    ///< all that live, if none is
} hfta_due_kind;

typedef enum hfta_space {
  HFTA_SPACE_SEGMENT = 0, ///< the micro-batch's instance of a segment
  HFTA_SPACE_HOST = 1,    ///< its image that the host keeps
  HFTA_SPACE_FIELD = 2,   ///< the micro-batch in the caller's batch, by field
  HFTA_SPACE_PORT = 3,    ///< the caller's tensor, by the model's input
  HFTA_SPACE_ARENA = 4    ///< memory in which FETCH gives places; no index
} hfta_space;

typedef struct hfta_place {
  uint32_t space; ///< hfta_space
  uint32_t index; ///< of the segment, field or input
  uint64_t offset;
  uint64_t copy_stride; ///< not 0: one such place a copy
} hfta_place;

typedef struct hfta_command {
  uint32_t kind; ///< hfta_command_kind
  uint32_t device;
  uint32_t queue;
  uint32_t subject; ///< RUN, ALL_REDUCE: task; RECORD, AWAIT: event; REPEAT:
                    ///< hfta_repeat_kind; EVERY: hyper-parameter; SEND,
                    ///< RECEIVE: the other stage; ACTIONS: order; CASE: its
                    ///< number; TAKE_GROUP: group; FETCH: hfta_contents
  uint32_t length;  ///< REPEAT, EVERY, ACTIONS, CASE, ONLY: how many of the
                    ///< commands after it are its body
  int32_t ahead;    ///< TRANSFER, RECEIVE, RECORD, AWAIT, FETCH, EVICT, DROP:
                    ///< micro-batches after the current one
  hfta_place to;    ///< TRANSFER, FILL, ALL_GATHER, SEND, RECEIVE, BROADCAST,
                    ///< TAKE_GROUP; ALL_REDUCE: the sums, a block's bytes as
                    ///< the stride; FETCH, EVICT, DROP: the segment
  hfta_place from;  ///< TRANSFER; ALL_REDUCE: where others' sums come to;
                    ///< FETCH: in the arena
  uint64_t bytes;   ///< TRANSFER, FILL, BROADCAST, TAKE_GROUP: of one copy's
                    ///< place; SEND, RECEIVE: of
                    ///< all copies'; ALL_REDUCE: of all blocks; RECORD, AWAIT:
                    ///< how many events take turns, micro-batch by micro-batch:
                    ///< the subject and those after it; EVERY: hfta_due_kind;
                    ///< REPEAT over turns: copies of one, 0: the host chooses;
                    ///< FETCH: for how many instances, one after the other,
                    ///< there are places, which they have in turn
  /// ONLY: who does its body. BROADCAST: who has the bytes, and who gets them.
  hfta_replicas replicas, receivers;
} hfta_command;

/// One of a worker's: a case for one of its micro-batches. Those that it
/// doesn't have are left out.
typedef struct hfta_action {
  uint32_t which; ///< the case's number
  uint32_t place; ///< among the worker's own micro-batches, from 0
} hfta_action;

typedef struct hfta_action_list {
  const hfta_action *actions;
  uint64_t count;
} hfta_action_list;

/// One block of the model, or several that needn't follow each other, and the
/// workers that do them, its replicas. Micro-batch m belongs to group c = m mod
/// groups, which is replica c mod replicas'. Workers are numbered stage by
/// stage.
typedef struct hfta_stage {
  int64_t replicas;
  int64_t groups; ///< sums of micro-batches
  int64_t
      in_flight; ///< micro-batches of a replica between forward and backward
} hfta_stage;

/// What the host asks for by name: "initialize", "step", "evaluate".
typedef struct hfta_schedule {
  const char *name;
  const hfta_command *commands;
  const uint32_t *keeps; ///< segments in which each copy has its own slab; in
                         ///< others the copies of a turn have the first slabs
  uint32_t command_count;
  uint32_t keep_count;
  int32_t stage; ///< whose workers run it; -1: all do
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
  int64_t classes; ///< what the files hold are numbers from `first_class` on,
                   ///< so many, or `ignored_class`; 0: anything
  int64_t first_class;
  int64_t ignored_class;
} hfta_data_field;

/// A model input or output, for `run` and for embedding programs.
typedef struct hfta_port {
  const char *name; ///< of a training program's input: its data field's
  uint32_t tensor;
  uint32_t reserved;
  const char *model_name; ///< what the model itself calls it
} hfta_port;

/// Tensors that the host writes or reads in its images of segments, by index
/// into hfta_program.tensors; UINT32_MAX: absent.
typedef struct hfta_roles {
  uint32_t step;        ///< i64, shared: steps done before this one
  uint32_t micro_batch; ///< i64, shared: number of the micro-batch in the step,
                        ///< which its instance always holds
  uint32_t valid_samples; ///< i64, shared: real samples in this micro-batch
                          ///< (evaluate)
  uint32_t learning_rate; ///< a real a copy
  uint32_t seed;          ///< i64 a copy
  uint32_t loss;     ///< a real a copy: the mean over the step's micro-batches
  uint32_t loss_sum; ///< f64 a copy: sum of losses over a batch's real elements
  uint32_t loss_weight; ///< f64 a copy: number of these elements
  uint32_t metric_sum;  ///< f64 a copy: sum of the metric over them
  // Of a job with a preconditioner alone.
  uint32_t damping; ///< a real a copy
  uint32_t
      kl_scale; ///< f64 a copy: what a step's gradients were multiplied with
  uint32_t skipped; ///< f64 a copy: statistics of a step that weren't finite
  uint32_t retried; ///< f64 a copy: inverses that took more damping
  uint32_t kept;    ///< f64 a copy: inverses that stayed as they were
  uint32_t accumulations; ///< i64, shared: that an update takes
  // Of a job that scales its losses alone.
  uint32_t loss_scale; ///< f64 a copy: what a step's loss was multiplied with
  uint32_t skipped_steps; ///< f64 a copy: steps so far whose gradients weren't
                          ///< finite, and which changed nothing
} hfta_roles;

/// An inference model to be filled with one copy's tensors: `header` is a
/// serialized ONNX ModelProto without its graph, `graph` a GraphProto without
/// its initializers; the tensors flagged HFTA_TENSOR_EXPORT are written after
/// it under their own names. NULL: the model can't be exported.
typedef struct hfta_export_template {
  const void *header;
  uint64_t header_bytes;
  const void *graph;
  uint64_t graph_bytes;
} hfta_export_template;

/// One of the models that the array was made of.
typedef struct hfta_model {
  const char *identity; ///< digest of model graph and optimizer kind
  /// What earlier programs of this batch size wrote for it: accepted, never
  /// written.
  const char *identity_of_batch;
  hfta_export_template export_template;
} hfta_model;

typedef struct hfta_program {
  uint32_t abi_version;
  uint32_t reserved;
  const char *name;         ///< of the job
  const char *optimizer;    ///< "sgd", "adam", "adamw"; "" without training
  const char *metric;       ///< "accuracy" or ""
  const char *cpu_features; ///< comma-separated names as in /proc/cpuinfo
  const char
      *plan_json; ///< what `info --json` adds: memory plan, layers, costs
  int64_t copies;
  int64_t batch;         ///< samples a step (micro-batches times micro-batch)
  int64_t micro_batches; ///< a step
  int64_t workers;       ///< of all stages together; at most as many ranks
  int64_t blocks;        ///< that the model was cut into
  int64_t epochs;        ///< default number; 0: none given
  int64_t steps;         ///< default number; 0: none given
  int64_t order_seed;
  uint32_t shuffle;
  uint32_t precision; ///< hfta_element_type of losses and logs
  hfta_learning_rate learning_rate;
  hfta_learning_rate damping_schedule; ///< of a preconditioner's damping
  const hfta_segment *segments;
  const hfta_tensor *tensors;
  const hfta_task *tasks;
  const hfta_schedule *schedules;
  const hfta_action_list *orders;
  const hfta_stage *stages; ///< at least one
  /// Of each worker of several stages: its place, from 0, among all that are
  /// dealt to ranks in consecutive runs. NULL: its number.
  const int64_t *worker_places;
  const hfta_hyper_parameter *hyper_parameters;
  const hfta_data_field *data_fields;
  const hfta_port *inputs;
  const hfta_port *outputs;
  const hfta_setting *settings; ///< what `info` shows of the job
  uint32_t segment_count;
  uint32_t tensor_count;
  uint32_t task_count;
  uint32_t schedule_count;
  uint32_t order_count;
  uint32_t stage_count;
  uint32_t event_count; ///< events of all schedules are numbered together
  uint32_t queue_count; ///< of a device
  uint32_t hyper_parameter_count;
  uint32_t data_field_count;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t setting_count;
  hfta_roles roles;
  const hfta_model *models;
  const uint32_t *model_of_copy; ///< one index into `models` a copy
  uint64_t arena_bytes;   ///< the most that a worker's FETCHes reach; 0: there
                          ///< are none
  uint64_t device_bytes;  ///< that the job's memory clause allows; 0: any
  int64_t memory_threads; ///< for which memory is planned at most; 0: any
  const char *spill_directory; ///< of the memory clause; "" or NULL: none given
  double step_seconds; ///< that a step is expected to take; 0: nobody knows
  const hfta_image_table *images; ///< of its kernels, which run on a GPU; NULL:
                                  ///< they run on the CPU
} hfta_program;

#ifdef __cplusplus
}
#endif

#endif // HFTA_PROGRAM_H
