//===- program.h - The table that a compiled program exports ----*- C -*-===//
//
// The interface between generated code and the runtime. The compiler emits a
// constant `hfta_program` for each job; an instance (instance.h) runs its
// schedules, for the trainer or for a user's own training loop. Everything here
// is constant: all pointers lead to constant data inside the binary, and
// nothing is allocated.
//
// Sizes and offsets are in bytes, shapes in elements, times in steps, unless a
// comment names another unit. All structs and enums of this file are also
// listed in abi.h, from which the ABI's version is computed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PROGRAM_H
#define HFTA_PROGRAM_H

#include "hfta/commands.h"
#include "hfta/search.h"
#include "hfta/settings.h"
#include "hfta/training.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Element types of stored tensors. The numbers are part of the ABI.
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

/// The use of a segment, which decides who fills it and for how long its
/// contents are kept.
typedef enum hfta_segment_role {
  HFTA_SEGMENT_CONSTANTS = 0,  ///< read only; `image` holds the bytes
  HFTA_SEGMENT_PARAMETERS = 1, ///< trained and frozen weights
  HFTA_SEGMENT_GRADIENTS = 2,  ///< sums of gradients, one per trained parameter
  /// State of the optimizer, such as Adam's moments.
  HFTA_SEGMENT_OPTIMIZER_STATE = 3,
  /// Running statistics, such as mean and variance.
  HFTA_SEGMENT_STATISTICS = 4,
  /// Activations that the forward saves for the backward.
  HFTA_SEGMENT_SAVED = 5,
  HFTA_SEGMENT_CUT = 6, ///< values that the model's blocks pass to each other
  HFTA_SEGMENT_WORKSPACE = 7, ///< temporary memory within one task
  /// Temporary memory within a kernel, one instance per thread.
  HFTA_SEGMENT_SCRATCH = 8,
  /// A micro-batch of data, in the files' element types.
  HFTA_SEGMENT_INPUT = 9,
  HFTA_SEGMENT_OUTPUT = 10, ///< norms, model outputs
  /// Scalars that the host sets for a run: step, learning rates, ...
  HFTA_SEGMENT_SCALARS = 11,
  HFTA_SEGMENT_RESULTS = 12, ///< losses and sums that the host reads
  /// Values of micro-batches that ranks exchange by ALL_GATHER: every rank has
  /// one instance for each micro-batch of the whole step.
  HFTA_SEGMENT_EXCHANGE = 13,
  /// Sums received from other ranks, until they are added up.
  HFTA_SEGMENT_RECEIVED = 14,
  /// Factors of a preconditioner, and their inverses.
  HFTA_SEGMENT_CURVATURE = 15,
  /// Second moments, summed over a step for a preconditioner.
  HFTA_SEGMENT_MOMENTS = 16
} hfta_segment_role;

/// Where a segment's contents are while a program runs.
typedef enum hfta_residency {
  HFTA_RESIDENT = 0,  ///< always in memory of its own
  HFTA_TRANSIENT = 1, ///< in the arena from a FETCH to a DROP; otherwise its
                      ///< contents are lost
  HFTA_SPILLED = 2    ///< in the arena from a FETCH to a DROP; otherwise in the
                      ///< store
} hfta_residency;

/// The size of a page in bytes. Places in the arena and the extents of the
/// store are multiples of it, so that files can be read and written past the
/// system's page cache.
#define HFTA_PAGE_BYTES 4096u

/// A set of replicas of a stage (or of the program, if it has one stage): the
/// `count` replicas first, first + stride, ... If `count` is 0, no set is
/// given.
typedef struct hfta_replicas {
  uint32_t first, count, stride;
  uint32_t reserved;
} hfta_replicas;

/// A planned region of memory. The schedules need `instances` regions of this
/// size: for saved activations and cuts, one per micro-batch in flight; for
/// scalars that differ between micro-batches, one per micro-batch of a step;
/// for gradients and results, one per group of the stage; otherwise one.
/// Scratch memory has one per thread, whatever this number is.
typedef struct hfta_segment {
  const char *name; ///< for example "parameters.0"
  uint32_t role;    ///< hfta_segment_role
  /// The model's block that it belongs to; -1: the whole program.
  int32_t block;
  uint64_t bytes; ///< size of one instance, all copies included
  /// If not NULL, some copies alone have values in the segment, which has no
  /// slabs: for each copy, its position among them; -1: it has none.
  const int32_t *places;
  /// If not 0, the segment consists of slabs of `copy_bytes` bytes, one per
  /// copy. The runtime may allocate only as many slabs as copies run at a time;
  /// a copy's slab is then given by its position among those copies.
  uint64_t copy_bytes;
  uint64_t alignment;
  uint32_t instances;
  int32_t stage; ///< the stage whose workers have it; -1: all workers that use
                 ///< it have it
  hfta_replicas holders; ///< the replicas that allocate it; count 0: all
                         ///< workers that use it allocate it
  const void *image;     ///< `bytes` bytes of initial contents, or NULL
  /// hfta_residency. A segment that isn't HFTA_RESIDENT has no image and
  /// consists of whole pages: `copy_bytes` (with slabs) or `bytes` (without) is
  /// a multiple of HFTA_PAGE_BYTES.
  uint32_t residency;
  uint32_t reserved;
} hfta_segment;

/// Bits of hfta_tensor.flags.
typedef enum hfta_tensor_flag {
  HFTA_TENSOR_TRAINED = 1u << 0,    ///< has a gradient and is updated
  HFTA_TENSOR_CHECKPOINT = 1u << 1, ///< is part of checkpoints
  HFTA_TENSOR_EXPORT = 1u << 2,     ///< an initializer of the exported model
  /// All copies share one value (copy_stride is 0).
  HFTA_TENSOR_SHARED = 1u << 3,
  HFTA_TENSOR_OFFSET = 1u << 4 ///< the average of a parameter minus it
} hfta_tensor_flag;

/// The rules that decide whether a parameter is trained; training.h lists them.
typedef enum hfta_training_rule {
#define HFTA_TRAINING_RULE(identifier, number, trained, word, text)            \
  HFTA_TRAINING_##identifier = number,
  HFTA_TRAINING_RULES
#undef HFTA_TRAINING_RULE
} hfta_training_rule;

/// A named tensor in a segment. `shape` is that of one copy's tensor, which is
/// row-major. Copy k's tensor begins at `offset + p * copy_stride` in the
/// segment, where p is k or, if the segment has `places`, places[k].
typedef struct hfta_tensor {
  const char *name; ///< name within a copy, without the copy's number
  uint32_t segment; ///< index into hfta_program.segments
  uint32_t type;    ///< hfta_element_type
  uint64_t offset;
  uint64_t copy_stride; ///< distance between copies; 0: all copies share it
  const int64_t *shape;
  uint32_t rank;
  uint32_t flags;
  uint64_t bytes; ///< size of one copy's tensor
  int32_t copy; ///< the only copy that has it; -1: all copies have it. Tensors
                ///< of different copies may have the same name
  uint32_t training_rule; ///< hfta_training_rule, if it is a parameter
  /// If not NULL, some copies alone have it: those with a number of at least 0
  /// here.
  const int32_t *places;
  /// The groups of parameters to which a parameter belongs, as names with
  /// commas; NULL: none.
  const char *groups;
  /// The number of layers after its own: its rate is multiplied by the job's
  /// `layer_decay` to this power.
  int32_t layer_distance;
  /// 1 + the index of the tensor that holds a parameter's running average, or,
  /// with HFTA_TENSOR_OFFSET, what is added to the parameter to get the
  /// average; 0: none. A program has only one of both kinds.
  uint32_t average;
} hfta_tensor;

/// The rules that decide in which mode training computes a node; training.h
/// lists them.
typedef enum hfta_mode_rule {
#define HFTA_MODE_RULE(identifier, number, evaluation, word, text)             \
  HFTA_MODE_##identifier = number,
  HFTA_MODE_RULES
#undef HFTA_MODE_RULE
} hfta_mode_rule;

/// The kinds of nodes that have a mode; training.h lists them.
typedef enum hfta_modal_kind {
#define HFTA_MODAL_KIND(identifier, number, word, one, many)                   \
  HFTA_MODAL_##identifier = number,
  HFTA_MODAL_KINDS
#undef HFTA_MODAL_KIND
} hfta_modal_kind;

/// A batch normalization or dropout, for `info`.
typedef struct hfta_modal_node {
  const char *name;
  const char *copies; ///< the only copies that have it, as "copies 0, 2"; NULL:
                      ///< all have it
  uint32_t kind;      ///< hfta_modal_kind
  uint32_t rule;      ///< hfta_mode_rule
} hfta_modal_node;

/// A generated function that computes one work item. The work of one copy is
/// divided into hfta_launch.items pieces of the same kind; a call computes
/// piece `item` for the copy whose operands `buffers` point to. `scratch` is
/// private to the calling thread, 64-byte aligned, and has at least
/// hfta_launch.scratch_bytes bytes.
typedef void (*hfta_kernel)(void *const *buffers, int64_t item, void *scratch);

/// A generated function that computes several items at once, one in each of its
/// hfta_launch.lanes lanes; the items may belong to different copies. Lane i
/// computes item `items[i]`, with the hfta_launch.binding_count buffers from
/// `buffers[i * binding_count]` on. If there are fewer items than lanes, the
/// remaining lanes repeat the last item.
typedef void (*hfta_lanes_kernel)(void *const *buffers, const int64_t *items,
                                  void *scratch);

/// Bits of hfta_binding.access.
typedef enum hfta_access {
  HFTA_ACCESS_READ = 1u << 0,
  HFTA_ACCESS_WRITE = 1u << 1
} hfta_access;

/// Where an operand of a launch lies: in which segment, and where in it.
typedef struct hfta_binding {
  uint32_t segment;
  uint32_t in_slabs; ///< 1: a copy's operand is found by the number of its
                     ///< slab, which may be its position in a turn; 0: by the
                     ///< number of the copy
  uint64_t offset;
  uint64_t copy_stride; ///< distance between copies; 0: all copies use the same
                        ///< bytes
  uint64_t bytes;       ///< size of the operand for one copy
  /// hfta_access: whether some of the bytes are read, or written.
  uint32_t access;
  uint32_t reserved;
} hfta_binding;

/// The most buffers that one call of a kernel gets.
#define HFTA_MAX_BINDINGS 256

/// The most dimensions of an hfta_tensor_map.
#define HFTA_MAX_MAP_RANK 4

/// A dimension of an hfta_tensor_map.
typedef struct hfta_map_dimension {
  uint64_t size;
  uint64_t stride; ///< distance in bytes between neighbouring elements; in the
                   ///< first dimension, the size of an element
  uint32_t box;    ///< extent of a box along this dimension, in elements, those
                   ///< that `step` skips included
  uint32_t step;   ///< a box holds every `step`-th element of its extent; 1 in
                   ///< the first dimension
} hfta_map_dimension;

/// A launch's operand as a tensor of which a GPU copies one box at a time into
/// shared memory (a tensor map of CUDA: cuTensorMapEncodeTiled).
typedef struct hfta_tensor_map {
  uint32_t binding;       ///< index of the operand among the launch's bindings
  uint32_t element_bytes; ///< bytes of an element, 2 or 4
  uint32_t rank;          ///< number of dimensions, 1 to HFTA_MAX_MAP_RANK
  uint32_t reserved;
  const hfta_map_dimension *dimensions; ///< the innermost dimension first
} hfta_tensor_map;

/// How a kernel is launched if its image is for warp groups: with as many
/// blocks as in other images, but other block sizes. If it has tensor maps, the
/// kernel gets one more parameter after the others: a block of bytes, aligned
/// to HFTA_MAP_ALIGNMENT. The block holds the driver's descriptor of each map
/// (HFTA_MAP_BYTES bytes), in which the copies are an additional dimension;
/// then a 32-bit number for each map: 1 if each copy has its own operand, 0 if
/// all copies share it.
typedef struct hfta_warp_group_launch {
  const hfta_tensor_map *maps;
  uint32_t map_count;
  uint32_t block_threads;
  uint32_t shared_bytes; ///< dynamic shared memory of a thread block
  uint32_t reserved;
} hfta_warp_group_launch;

/// The size in bytes of a tensor map's descriptor, and the alignment in bytes
/// of the parameter block that holds the descriptors (hfta_warp_group_launch).
#define HFTA_MAP_BYTES 128
#define HFTA_MAP_ALIGNMENT 64

/// Returns the bytes of the parameter block (hfta_warp_group_launch) for
/// `map_count` tensor maps.
static inline uint64_t hfta_map_block_bytes(uint64_t map_count) {
  uint64_t bytes = map_count * (HFTA_MAP_BYTES + sizeof(uint32_t));
  return (bytes + HFTA_MAP_ALIGNMENT - 1) / HFTA_MAP_ALIGNMENT *
         HFTA_MAP_ALIGNMENT;
}

/// An entry of a task: a kernel and its operands. The kernel runs once for each
/// copy, once for all copies together, or for one copy only.
typedef struct hfta_launch {
  hfta_kernel kernel; ///< NULL in a program with images
  const char *name;   ///< for profiles and messages
  const char *symbol; ///< the kernel's symbol in images; NULL without images
  const hfta_binding *bindings; ///< the kernel's operands
  /// How it is launched from images for warp groups; NULL: as from other
  /// images.
  const hfta_warp_group_launch *warp_groups;
  uint32_t binding_count; ///< at most HFTA_MAX_BINDINGS
  uint32_t per_copy; ///< 1: runs once per copy; 0: runs once for all copies, or
                     ///< for the one `copy`
  /// The only copy for which it runs; -1: it isn't for a single copy.
  int32_t copy;
  /// 1: both this launch and the one before it run once per copy, and no copy
  /// reads data that another one writes. So a copy may go through both launches
  /// before the next copy does.
  uint32_t joins;
  int64_t items; ///< work items per copy
  int64_t lanes; ///< 0: `kernel` computes one item; else it is an
                 ///< hfta_lanes_kernel with this many lanes. lanes *
                 ///< binding_count is at most HFTA_MAX_BINDINGS
  /// Scratch memory of each thread, of the CPU or of a GPU.
  uint64_t scratch_bytes;
  uint32_t block_threads; ///< threads of a GPU's thread block; 0 without images
  uint32_t reserved;
  /// If not NULL, a launch that runs once per copy runs for some copies alone:
  /// those with a number of at least 0 here.
  const int32_t *places;
} hfta_launch;

/// The kind of code for a GPU.
typedef enum hfta_image_kind {
  HFTA_IMAGE_CUBIN = 0, ///< machine code, for chips of the same major version
                        ///< and the same or a later minor version
  /// Text that ends with a 0 byte, for its chip and all later ones.
  HFTA_IMAGE_PTX = 1,
  HFTA_IMAGE_EMULATED = 2 ///< a shared library for the host's processor, for
                          ///< the emulated driver only
} hfta_image_kind;

/// GPU code of some of the kernels, for one chip. A kernel's parameters are an
/// address and a stride in bytes from copy to copy for each binding, then the
/// address of scratch memory, which holds the areas of all threads of one copy
/// after another. A kernel is launched as a grid of (blocks, 1, copies), with
/// as many blocks as its items need. In images for warp groups, kernels with
/// `warp_groups` differ: see hfta_warp_group_launch.
typedef struct hfta_image {
  const void *data;
  uint64_t bytes;
  const char *chip;     ///< the chip that the code is for, such as "sm_80"
  uint32_t kind;        ///< hfta_image_kind
  uint32_t warp_groups; ///< 1: the code is for warp groups
} hfta_image;

/// All images of a program.
typedef struct hfta_image_table {
  const hfta_image *images;
  uint64_t count;
} hfta_image_table;

/// Flag of a task that may run for some copies first and for others later: its
/// results for a copy don't depend on other copies, nor do results that copies
/// share, which may be computed again each time.
#define HFTA_TASK_BY_COPIES 1u

/// Flag of a task whose threads treat denormal operands and results of floats
/// as zeros, as instructions that multiply pairs of bf16 always do: so a
/// processor without these instructions computes the same bits.
#define HFTA_TASK_FLUSHES_DENORMALS 2u

/// How much of a segment (or of each of its slabs, if it has slabs) a task
/// uses: its first `bytes` bytes.
typedef struct hfta_extent {
  uint32_t segment;
  uint32_t reserved;
  uint64_t bytes;
} hfta_extent;

/// A list of launches that run in order, as a whole. Only a task's name says
/// what it computes.
typedef struct hfta_task {
  /// For example "forward.0": its part, and its block if it has one.
  const char *name;
  const hfta_launch *launches;
  const uint32_t *reads; ///< indices of the segments that it reads
  const uint32_t *writes;
  /// How much the task uses of each workspace segment. These segments are as
  /// large as the largest task needs.
  const hfta_extent *workspaces;
  uint32_t launch_count;
  uint32_t read_count;
  uint32_t write_count;
  uint32_t flags; ///< a union of HFTA_TASK_...
  uint32_t workspace_count;
  uint32_t reserved;
} hfta_task;

/// The kinds of commands. A command goes to a queue of a device; commands of
/// one queue take effect in order. Some commands control others: their body is
/// the list of `hfta_command.length` commands that follow. commands.h lists
/// them all, with the members of hfta_command that count for each.
typedef enum hfta_command_kind {
#define HFTA_COMMAND(identifier, word, number, flags, queue, ...)              \
  HFTA_COMMAND_##identifier = number,
  HFTA_COMMANDS
#undef HFTA_COMMAND
} hfta_command_kind;

/// The contents that a segment has after a FETCH.
typedef enum hfta_contents {
  /// The contents in the store; zeros if they were never written.
  HFTA_CONTENTS_STORED = 0,
  HFTA_CONTENTS_ZEROS = 1,
  /// Undefined, since the next task overwrites them.
  HFTA_CONTENTS_UNDEFINED = 2
} hfta_contents;

/// How often a REPEAT runs its body.
typedef enum hfta_repeat_kind {
  /// Once for each of the worker's micro-batches, in order.
  HFTA_REPEAT_MICRO_BATCHES = 0,
  HFTA_REPEAT_TURNS = 1, ///< once for each turn of copies: for the first few
                         ///< copies, then for the next ones, and so on
  HFTA_REPEAT_ALL_MICRO_BATCHES = 2 ///< once for each micro-batch of the whole
                                    ///< step, in order
} hfta_repeat_kind;

/// The copies for which an EVERY runs its body. After s steps, a copy of period
/// p is due if p divides s, or if s < p and s is a power of two.
typedef enum hfta_due_kind {
  HFTA_DUE = 0,        ///< the copies that are due
  HFTA_DUE_OTHERS = 1, ///< the copies that are not due
  HFTA_DUE_ANY = 2,    ///< all live copies, if one of them is due
  HFTA_DUE_NONE = 3    ///< all live copies, if none is due
} hfta_due_kind;

/// The kind of memory in which a place lies.
typedef enum hfta_space {
  /// A segment; its instance for the current micro-batch.
  HFTA_SPACE_SEGMENT = 0,
  HFTA_SPACE_HOST = 1, ///< the host's image of a segment
  /// A field of the caller's batch; its current micro-batch.
  HFTA_SPACE_FIELD = 2,
  HFTA_SPACE_PORT = 3, ///< the caller's tensor for a model input
  /// The arena, where FETCH gives segments places; has no index.
  HFTA_SPACE_ARENA = 4
} hfta_space;

/// A place in memory that a command reads or writes.
typedef struct hfta_place {
  uint32_t space; ///< hfta_space
  uint32_t index; ///< index of the segment, data field or input
  uint64_t offset;
  uint64_t copy_stride; ///< if not 0, there is one such place per copy, at this
                        ///< distance from each other
} hfta_place;

/// A command of a schedule. Its kind decides which members are used, and what
/// they mean: see the fields of its record in commands.h, and
/// hfta_command_field_kind.
typedef struct hfta_command {
  uint32_t kind; ///< hfta_command_kind
  uint32_t device;
  uint32_t queue;
  uint32_t subject; ///< a task, event, stage, ...
  uint32_t length;  ///< number of commands in its body
  int32_t ahead;    ///< how many micro-batches after the current one it is for
  hfta_place to;    ///< the place that it writes, or its only place
  hfta_place from;  ///< the place that it reads, if it has another one
  uint64_t bytes;   ///< the size of the places, or another number
  hfta_replicas replicas, receivers;
} hfta_command;

/// An entry of a worker's list of actions: runs a CASE for one of the worker's
/// micro-batches. Entries for micro-batches that the worker doesn't have, as in
/// a partial batch, are skipped.
typedef struct hfta_action {
  uint32_t which; ///< number of the CASE
  /// Position of the micro-batch among those of the worker, from 0.
  uint32_t place;
} hfta_action;

/// The order in which a worker runs the forwards and backwards of its
/// micro-batches.
typedef struct hfta_action_list {
  const hfta_action *actions;
  uint64_t count;
} hfta_action_list;

/// A stage of the pipeline: one or several blocks of the model, not necessarily
/// consecutive. The workers that run it are its replicas. Micro-batch m belongs
/// to group c = m mod groups, and group c to replica c mod replicas. Workers
/// are numbered stage by stage.
typedef struct hfta_stage {
  int64_t replicas;
  int64_t groups; ///< number of groups of micro-batches; each group has its own
                  ///< sums
  /// Micro-batches of a replica between forward and backward.
  int64_t in_flight;
} hfta_stage;

/// A list of commands that the host runs by name, such as "initialize", "step"
/// or "evaluate".
typedef struct hfta_schedule {
  const char *name;
  const hfta_command *commands;
  /// Indices of segments in which each copy keeps its own slab; in other
  /// segments, the copies of a turn use the first slabs.
  const uint32_t *keeps;
  uint32_t command_count;
  uint32_t keep_count;
  int32_t stage; ///< the stage whose workers run it; -1: it is for the whole
                 ///< program
  uint32_t reserved;
} hfta_schedule;

/// A field of the data block: a file for training, one for testing, and the
/// tensor in the input segment that receives a micro-batch of it. Or a field
/// that the runtime makes, which has no files: it is for augmentations, and no
/// field of the data block.
typedef struct hfta_data_field {
  const char *name;
  uint32_t tensor;   ///< index into hfta_program.tensors; its shape[0] is the
                     ///< size of a micro-batch
  uint32_t balances; ///< 1: the samples of an epoch are drawn by the classes of
                     ///< this field, which has one number a sample
  hfta_data_source train;
  hfta_data_source test;
  /// Samples for validation; without a file, they are taken out of `train` if
  /// hfta_program.validation says so.
  hfta_data_source validation;
  int64_t classes; ///< if not 0, the files hold class numbers: `classes`
                   ///< numbers from `first_class` on, or `ignored_class`; 0:
                   ///< the files hold any values
  int64_t first_class;
  int64_t ignored_class;
  const char *augmentations; ///< how the field is augmented, in the job's
                             ///< words; "" if it isn't
  uint32_t kind;             ///< hfta_field_kind
  uint32_t of; ///< for partners: the index of the field whose values they are
} hfta_data_field;

/// A model input or output, for `run` and for embedding programs.
typedef struct hfta_port {
  /// For an input of a training program: the name of its data field.
  const char *name;
  uint32_t tensor;
  uint32_t reserved;
  const char *model_name; ///< the input's or output's name in the model itself
} hfta_port;

/// The tensors that the host writes or reads in its images of segments, as
/// indices into hfta_program.tensors; UINT32_MAX if the program has no such
/// tensor.
typedef struct hfta_roles {
  uint32_t step;        ///< i64, shared: number of steps done before this one
  uint32_t micro_batch; ///< i64, shared: index of the micro-batch in the step;
                        ///< instance m of its segment always holds m
  /// I64, shared: number of samples in this micro-batch that count, the rest
  /// being padding (evaluate).
  uint32_t valid_samples;
  uint32_t learning_rate; ///< one real per copy: learning rate of the step
  uint32_t seed;          ///< one i64 per copy: seed of random numbers
  uint32_t loss; ///< one real per copy: mean loss over the step's micro-batches
  uint32_t loss_sum; ///< one f64 per copy: sum of the losses of a batch's real
                     ///< elements, without padding; of a loss of several terms,
                     ///< those of the first one
  /// One f64 per copy: sum of the weights of these elements.
  uint32_t loss_weight;
  // The following are only in a job with a preconditioner.
  uint32_t kl_scale; ///< one f64 per copy: factor by which KL clipping scaled a
                     ///< step's gradients
  uint32_t skipped;  ///< one f64 per copy: number of a step's statistics that
                     ///< weren't finite
  uint32_t retried;  ///< one f64 per copy: number of inverses that needed more
                     ///< damping
  uint32_t kept;     ///< one f64 per copy: number of inverses that couldn't be
                     ///< computed, so that the old ones were kept
  uint32_t accumulations; ///< i64, shared: number of accumulations that an
                          ///< update uses
  // The following are only in a job that scales its losses.
  uint32_t loss_scale; ///< one f64 per copy: factor by which a step's loss was
                       ///< multiplied
  /// One f64 per copy: number of steps so far that changed nothing, because
  /// their gradients weren't finite.
  uint32_t skipped_steps;
} hfta_roles;

/// A term of a loss that is a sum of weighted terms. The members are indices
/// into hfta_program.tensors.
typedef struct hfta_loss_term {
  const char *name; ///< such as "l1"
  uint32_t loss;    ///< one real per copy: the term's mean over a step
  uint32_t weight;  ///< one real per copy: what the term is multiplied by;
                    ///< UINT32_MAX: 1
  // One f64 per copy: sums over a batch's real elements.
  uint32_t loss_sum;
  uint32_t loss_weight; ///< sum of the weights of these elements
} hfta_loss_term;

/// How a metric follows from the values that an evaluation leaves of each
/// element (runtime/src/program/metric_values.h).
typedef enum hfta_metric_kind {
  HFTA_METRIC_MEAN,             ///< weighted mean of values
  HFTA_METRIC_EXP_MEAN,         ///< e to the power of such a mean
  HFTA_METRIC_RECALL,           ///< share of a class' labels that are guessed
  HFTA_METRIC_PRECISION,        ///< share of a class' guesses that are right
  HFTA_METRIC_F1,               ///< harmonic mean of precision and recall
  HFTA_METRIC_CONFUSION,        ///< counts of guesses (columns) by label (rows)
  HFTA_METRIC_R2,               ///< coefficient of determination
  HFTA_METRIC_AUROC,            ///< area under the ROC curve
  HFTA_METRIC_AVERAGE_PRECISION ///< mean precision at each positive's score
} hfta_metric_kind;

/// How a metric's values for several classes become one number.
typedef enum hfta_metric_average {
  HFTA_AVERAGE_MACRO,   ///< mean over classes
  HFTA_AVERAGE_MICRO,   ///< all classes are counted as one
  HFTA_AVERAGE_WEIGHTED ///< mean over classes, weighted by their labels; of R2,
                        ///< by the variance of their labels
} hfta_metric_average;

/// A metric. An evaluation leaves values for each element of each sample of a
/// batch, in the tensors below; each copy has its own. Their element type is
/// f32 or f64.
typedef struct hfta_metric {
  const char *name;    ///< in logs and tables: "accuracy", "f1_micro"
  uint32_t kind;       ///< hfta_metric_kind
  uint32_t average;    ///< hfta_metric_average
  uint32_t is_share;   ///< 1: it is printed in percent
  uint32_t is_labeled; ///< 1: each class has elements of its own, whose labels
                       ///< and guesses are 0 and 1: element e is of class
                       ///< e mod `classes`. 0: they are numbers of classes
  uint32_t direction;  ///< hfta_direction: which values are better
  /// Each element's label; in a mean, for each sample the sum of its elements'
  /// values times their weights.
  uint32_t labels;
  /// Guesses, predictions or scores; UINT32_MAX in a mean. Scores of classes,
  /// if `is_labeled` is 0, are `classes` numbers for each element.
  uint32_t guesses;
  /// Each element's weight; in a mean, each sample's sum of weights.
  uint32_t weights;
  int64_t elements; ///< number of a sample's elements; 1 in a mean
  int64_t classes;  ///< number of classes, or of R2's columns; 1 in a mean
} hfta_metric;

/// An inference model without weights, which an export completes with one
/// copy's tensors: `header` is a serialized ONNX ModelProto without its graph,
/// `graph` a GraphProto without its initializers. The tensors flagged
/// HFTA_TENSOR_EXPORT are written after the graph under their own names. If
/// either is NULL, the model can't be exported.
typedef struct hfta_export_template {
  const void *header;
  uint64_t header_bytes;
  const void *graph;
  uint64_t graph_bytes;
} hfta_export_template;

/// A distinct model of a job, from which one or several copies are made.
typedef struct hfta_model {
  /// Digest of the model's graph and the kind of optimizer.
  const char *identity;
  /// The identity that earlier compilers wrote to checkpoints, which depends on
  /// the batch size. It is accepted when a checkpoint is read, but never
  /// written.
  const char *identity_of_batch;
  hfta_export_template export_template;
} hfta_model;

/// A compiled job.
typedef struct hfta_program {
  uint32_t abi_version;
  uint32_t metric_count;
  const char *name;      ///< the job's name
  const char *optimizer; ///< name such as "sgd" or "adam"; several names with
                         ///< commas if copies have different optimizers; "" in
                         ///< a program that doesn't train
  /// The name of each copy's optimizer; NULL if all copies have the same.
  const char *const *optimizers;
  const hfta_metric *metrics; ///< in the order in which the job names them
  const char *cpu_features;   ///< features that the code needs, as
                              ///< comma-separated names of /proc/cpuinfo
  /// Name of the target that the kernels were compiled for, such as "cpu". What
  /// that means for the runtime is in its table of targets.
  const char *target;
  /// JSON that `info --json` prints: memory plan, layers, costs.
  const char *plan_json;
  int64_t copies;
  int64_t batch; ///< samples per step: micro_batches times the size of a
                 ///< micro-batch
  int64_t micro_batches; ///< number of micro-batches of a step
  int64_t workers;       ///< number of workers of all stages together; there
                         ///< are at most as many ranks
  int64_t blocks;        ///< number of blocks into which cuts divide the model
  int64_t epochs;        ///< default number of epochs; 0: none given
  int64_t steps;         ///< default number of steps; 0: none given
  int64_t order_seed;    ///< seed of the random order of samples
  uint32_t shuffle;      ///< 1: the order of samples is random
  /// hfta_element_type in which losses are computed and logged.
  uint32_t precision;
  hfta_number_schedule learning_rate;
  const hfta_segment *segments;
  const hfta_tensor *tensors;
  const hfta_task *tasks;
  const hfta_schedule *schedules;
  const hfta_action_list *orders; ///< orders of actions, for ACTIONS
  const hfta_stage *stages;       ///< the stages, at least one
  /// For each worker of a program with several stages, its position, from 0, in
  /// the order in which workers are assigned to ranks; each rank gets
  /// consecutive positions. NULL: a worker's position is its number.
  const int64_t *worker_places;
  const hfta_hyper_parameter *hyper_parameters;
  /// The other hyper-parameters that follow schedules. A preconditioner's
  /// damping is the first one.
  const hfta_scheduled_number *scheduled_numbers;
  /// The fields of the data block, then those that the runtime makes.
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
  uint32_t scheduled_number_count;
  uint32_t data_field_count; ///< number of fields of the data block
  uint32_t input_count;
  uint32_t output_count;
  uint32_t setting_count;
  uint32_t loss_term_count; ///< 0: the loss has one term without a weight
  uint32_t modal_node_count;
  uint32_t made_field_count; ///< number of fields that the runtime makes
  hfta_roles roles;
  const hfta_loss_term *loss_terms;
  const hfta_modal_node *modal_nodes;
  const hfta_model *models;
  const uint32_t *model_of_copy; ///< for each copy, an index into `models`
  uint64_t arena_bytes; ///< size of a worker's arena, in which all FETCHes find
                        ///< room; 0: there is no arena
  uint64_t device_bytes;  ///< limit in bytes that the job's memory clause sets;
                          ///< 0: none
  int64_t memory_threads; ///< the most threads for which memory is planned; 0:
                          ///< any number
  const char *spill_directory; ///< folder for spilled tensors, from the memory
                               ///< clause; "" or NULL: not given
  double step_seconds; ///< expected duration of a step in seconds; 0: unknown
  const hfta_image_table *images; ///< code of the kernels, for a target whose
                                  ///< kernels are no functions of the program;
                                  ///< else NULL
  /// The node of the model that mixes the samples of a batch on the way to the
  /// losses, and the one on the way to the outputs; "" if samples are
  /// independent. If a node mixes samples, results have a meaning only for
  /// whole batches.
  const char *loss_mixed_by;
  const char *output_mixed_by;
  hfta_validation validation;
  const hfta_search *search; ///< NULL: the copies are trained as they are
} hfta_program;

#ifdef __cplusplus
}
#endif

#endif // HFTA_PROGRAM_H
