//===- gpu_graphs.c - Runs of tasks as graphs -----------------------------===//

#include "device/gpu/gpu_graphs.h"

#include "device/gpu/gpu_hazards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The header of a recorded task call. It is followed by the segments' base
/// addresses, then by those of the call's lists `copies`, `slabs` and `keeps`
/// that it has.
typedef struct run_call {
  uint64_t bytes; ///< size of the record: the header and everything that
                  ///< follows it
  int64_t copy_count;
  uint32_t number;
  uint32_t parts; ///< bits HAS_*, which tell which of the lists follow
} run_call;

enum { HAS_COPIES = 1, HAS_SLABS = 2, HAS_KEEPS = 4 };

/// A sequence of recorded calls. Two runs are equal if their bytes are equal.
typedef struct run {
  char *bytes;
  size_t count, capacity;
  uint32_t calls;
} run;

typedef struct graph {
  run of;
  hfta_gpu_graph_exec exec; ///< NULL until the run comes a second time
  bool is_too_large;        ///< the driver has no memory for the graph
  uint64_t used;            ///< when the graph was last used
} graph;

/// The most runs that are remembered. Each schedule, each kind of step and each
/// set of copies that still train has runs of its own.
enum { MOST_GRAPHS = 64 };

/// The runs that have come, and graphs for those that have come at least twice.
struct hfta_gpu_graphs {
  const hfta_gpu_launcher *launcher;
  const hfta_program *program;
  run current;
  graph graphs[MOST_GRAPHS];
  uint32_t count;
  uint64_t now;
};

hfta_gpu_graphs *hfta_gpu_graphs_create(const hfta_gpu_launcher *launcher,
                                        const hfta_program *program) {
  hfta_gpu_graphs *self = calloc(1, sizeof(*self));
  if (self) {
    self->launcher = launcher;
    self->program = program;
  }
  return self;
}

static void forget(hfta_gpu_graphs *self, graph *old) {
  if (old->exec)
    self->launcher->gpu->driver->graph_exec_destroy(self->launcher->gpu,
                                                    old->exec);
  free(old->of.bytes);
  memset(old, 0, sizeof(*old));
}

void hfta_gpu_graphs_destroy(hfta_gpu_graphs *self) {
  if (!self)
    return;
  for (uint32_t i = 0; i < self->count; ++i)
    forget(self, &self->graphs[i]);
  free(self->current.bytes);
  free(self);
}

bool hfta_gpu_graphs_has_run(const hfta_gpu_graphs *self) {
  return self->current.calls > 0;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Rounds up to a multiple of eight bytes, so that the next part of a record is
/// aligned.
static uint64_t align(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

static bool reserve(run *self, uint64_t bytes) {
  if (self->count + bytes <= self->capacity)
    return true;
  size_t capacity = 2 * (self->count + bytes);
  char *grown = realloc(self->bytes, capacity);
  if (!grown)
    return false;
  self->bytes = grown;
  self->capacity = capacity;
  return true;
}

static void append(run *self, const void *list, uint64_t bytes) {
  if (!list)
    return;
  memcpy(self->bytes + self->count, list, bytes);
  memset(self->bytes + self->count + bytes, 0, align(bytes) - bytes);
  self->count += align(bytes);
}

/// Returns the next list of a record and moves `*at` past it. If `is_there` is
/// false, the call has no such list: returns NULL.
static const void *take(const char **at, bool is_there, uint64_t bytes) {
  const char *list = *at;
  if (!is_there)
    return NULL;
  *at += align(bytes);
  return list;
}

/// Records a call. The micro-batch isn't recorded, since kernels don't depend
/// on it.
bool hfta_gpu_graphs_add(hfta_gpu_graphs *self, const hfta_task_call *call,
                         uint32_t number) {
  uint64_t segments = self->program->segment_count;
  uint64_t bases = segments * sizeof(void *);
  uint64_t copies = (uint64_t)call->copy_count * sizeof(int32_t);
  run_call head = {.copy_count = call->copy_count,
                   .number = number,
                   .parts = (call->copies ? HAS_COPIES : 0) |
                            (call->slabs ? HAS_SLABS : 0) |
                            (call->keeps ? HAS_KEEPS : 0)};
  head.bytes =
      align(sizeof(head)) + bases + (call->copies ? align(copies) : 0) +
      (call->slabs ? align(copies) : 0) + (call->keeps ? align(segments) : 0);
  run *current = &self->current;
  if (!reserve(current, head.bytes))
    return false;
  append(current, &head, sizeof(head));
  append(current, call->segments, bases);
  append(current, call->copies, copies);
  append(current, call->slabs, copies);
  append(current, call->keeps, segments);
  ++current->calls;
  return true;
}

/// Reads the recorded call at `*at`, and moves `*at` past it. The call's lists
/// point into the record.
static hfta_task_call read_call(const hfta_gpu_graphs *self, const char **at,
                                uint32_t *number) {
  const run_call *head = (const void *)*at;
  uint64_t segments = self->program->segment_count;
  uint64_t copies = (uint64_t)head->copy_count * sizeof(int32_t);
  *number = head->number;
  *at += align(sizeof(*head));
  hfta_task_call call = {.task = &self->program->tasks[head->number],
                         .copy_count = head->copy_count,
                         .rows = self->program->segments,
                         .micro_batch = -1};
  call.segments = take(at, true, segments * sizeof(void *));
  call.copies = take(at, head->parts & HAS_COPIES, copies);
  call.slabs = take(at, head->parts & HAS_SLABS, copies);
  call.keeps = take(at, head->parts & HAS_KEEPS, segments);
  return call;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Passes all kernels of the current run to a taker, in order. If one fails,
/// returns its result and names it in `failure`.
static hfta_gpu_result give_run(hfta_gpu_graphs *self,
                                const hfta_gpu_taker *taker,
                                hfta_gpu_failure *failure) {
  const char *at = self->current.bytes;
  for (uint32_t i = 0; i < self->current.calls; ++i) {
    uint32_t number;
    hfta_task_call call = read_call(self, &at, &number);
    const hfta_launch *failed;
    hfta_gpu_result result =
        hfta_gpu_give(self->launcher, &call, number, taker, &failed);
    if (result.code != 0) {
      snprintf(failure->of, sizeof(failure->of), "kernel '%s' of task '%s'",
               failed->name, call.task->name);
      return result;
    }
  }
  return hfta_gpu_success;
}

/// Launches the kernels of the current run one by one, without a graph.
static hfta_gpu_result launch_run(hfta_gpu_graphs *self, hfta_gpu_stream stream,
                                  hfta_gpu_failure *failure) {
  hfta_gpu_destination to = {self->launcher->gpu, stream};
  const hfta_gpu_taker taker = hfta_gpu_take_to(&to);
  return give_run(self, &taker, failure);
}

/// A graph under construction.
typedef struct building {
  hfta_gpu *gpu;
  hfta_gpu_graph graph;
  hfta_gpu_hazards hazards;
  hfta_gpu_graph_node *nodes, *before;
  size_t count, capacity;
} building;

static bool reserve_node(building *self) {
  if (self->count < self->capacity)
    return true;
  size_t capacity = self->capacity ? 2 * self->capacity : 64;
  void *nodes = realloc(self->nodes, capacity * sizeof(*self->nodes));
  if (nodes)
    self->nodes = nodes;
  void *before = realloc(self->before, capacity * sizeof(*self->before));
  if (before)
    self->before = before;
  if (!nodes || !before)
    return false;
  self->capacity = capacity;
  return true;
}

static hfta_gpu_result add_kernel(void *argument,
                                  const hfta_gpu_kernel *kernel) {
  building *self = argument;
  const size_t *before;
  size_t before_count;
  if (!reserve_node(self) ||
      !hfta_gpu_hazards_add(&self->hazards, kernel, &before, &before_count))
    return hfta_gpu_lacks_host_memory;
  for (size_t i = 0; i < before_count; ++i)
    self->before[i] = self->nodes[before[i]];
  return self->gpu->driver->graph_add(self->gpu, &self->nodes[self->count++],
                                      self->graph, self->before, before_count,
                                      kernel);
}

/// Builds the graph of the current run, as `built->exec`. A run without kernels
/// gets no graph.
static hfta_gpu_result build(hfta_gpu_graphs *self, graph *built,
                             hfta_gpu_failure *failure) {
  building of = {.gpu = self->launcher->gpu};
  const hfta_gpu_driver *driver = of.gpu->driver;
  const hfta_gpu_taker taker = {add_kernel, &of};
  snprintf(failure->of, sizeof(failure->of), "a run of tasks");
  hfta_gpu_result result = driver->graph_create(of.gpu, &of.graph);
  if (result.code == 0)
    result = give_run(self, &taker, failure);
  if (result.code == 0 && of.count > 0)
    result = driver->graph_instantiate(of.gpu, &built->exec, of.graph);
  if (of.graph)
    driver->graph_destroy(of.gpu, of.graph);
  hfta_gpu_hazards_free(&of.hazards);
  free(of.nodes);
  free(of.before);
  return result;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static graph *find(hfta_gpu_graphs *self) {
  const run *current = &self->current;
  for (uint32_t i = 0; i < self->count; ++i) {
    const run *known = &self->graphs[i].of;
    if (known->count == current->count && known->calls == current->calls &&
        memcmp(known->bytes, current->bytes, current->count) == 0)
      return &self->graphs[i];
  }
  return NULL;
}

/// Returns an unused entry for a graph. If there is none, frees the entry of
/// the least recently used graph; if that is in flight, the driver still
/// completes it.
static graph *add_graph(hfta_gpu_graphs *self) {
  graph *added = &self->graphs[0];
  if (self->count < MOST_GRAPHS) {
    added = &self->graphs[self->count++];
  } else {
    for (uint32_t i = 1; i < self->count; ++i)
      if (self->graphs[i].used < added->used)
        added = &self->graphs[i];
    forget(self, added);
  }
  return added;
}

/// Remembers the current run. If there isn't enough memory, this does nothing:
/// the next equal run then counts as the first one.
static void remember(hfta_gpu_graphs *self) {
  char *bytes = malloc(self->current.count);
  if (!bytes)
    return;
  memcpy(bytes, self->current.bytes, self->current.count);
  graph *added = add_graph(self);
  added->of = (run){bytes, self->current.count, self->current.count,
                    self->current.calls};
  added->used = self->now;
}

/// Launches the current run: as a graph if it has come before, else kernel by
/// kernel. If the driver has no memory for the graph, this run's kernels are
/// launched one by one from then on.
static hfta_gpu_result launch(hfta_gpu_graphs *self, hfta_gpu_stream stream,
                              hfta_gpu_failure *failure) {
  hfta_gpu *gpu = self->launcher->gpu;
  graph *known = find(self);
  if (!known) {
    remember(self);
    return launch_run(self, stream, failure);
  }
  known->used = self->now;
  hfta_gpu_result result = hfta_gpu_success;
  if (!known->exec && !known->is_too_large)
    result = build(self, known, failure);
  if (result.code == 0 && known->exec) {
    snprintf(failure->of, sizeof(failure->of), "a run of tasks");
    result = gpu->driver->graph_launch(gpu, known->exec, stream);
  } else if (result.code == 0) {
    return launch_run(self, stream, failure);
  }
  if (!result.lacks_memory)
    return result;
  known->is_too_large = true;
  if (known->exec)
    gpu->driver->graph_exec_destroy(gpu, known->exec);
  known->exec = NULL;
  return launch_run(self, stream, failure);
}

void hfta_gpu_graphs_drop(hfta_gpu_graphs *self) {
  self->current.count = self->current.calls = 0;
}

hfta_gpu_result hfta_gpu_graphs_flush(hfta_gpu_graphs *self,
                                      hfta_gpu_stream stream,
                                      hfta_gpu_failure *failure) {
  ++self->now;
  hfta_gpu_result result = launch(self, stream, failure);
  hfta_gpu_graphs_drop(self);
  return result;
}
