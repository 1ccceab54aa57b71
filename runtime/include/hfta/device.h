//===- device.h - Where segments live and tasks run -------------*- C -*-===//
//
// A device has memory for segments and runs tasks. It is used only through a
// table of functions, one table for each kind of device: those of the targets
// that programs are compiled for, and hfta_device_kinds.
// Commands go to numbered queues and run asynchronously: in order within a
// queue, and between queues as events order them. In `wait` the host learns
// that they are done, or why they failed. A kind may have marks, with which the
// host waits for the commands before a mark while later ones go on.
//
// Threads: a device belongs to one worker of an instance and is used by one
// thread at a time. Devices that share the threads of their kernels may be used
// by several threads at once, each device by one of them, but are opened and
// closed by one thread. Ownership: memory from `allocate` must be returned by
// `release` before `close`. Memory that a copy reads or writes must live until
// the next `wait`, or until a `wait_until` for a mark that was set after the
// copy.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DEVICE_H
#define HFTA_DEVICE_H

#include "hfta/communicator.h"
#include "hfta/launch.h"
#include "hfta/status.h"
#include "hfta/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An open device.
typedef struct hfta_device hfta_device;

/// A function of the host that a queue calls when its earlier work is done. It
/// may wait for something outside of the device, such as a message, but not for
/// other work of the device.
typedef struct hfta_host_call {
  hfta_status (*function)(void *argument, hfta_error *error);
  void *argument; ///< must live until the next `wait`
  /// The messages that the function exchanges with other ranks, for observers;
  /// must live as long as the device; NULL: none.
  const hfta_post *post;
} hfta_host_call;

/// The kinds of activities of which observers get reports.
typedef enum hfta_activity_kind {
  HFTA_ACTIVITY_RUN,
  HFTA_ACTIVITY_COPY,
  HFTA_ACTIVITY_FILL,
  HFTA_ACTIVITY_CALL,
  HFTA_ACTIVITY_FETCH,
  HFTA_ACTIVITY_EVICT,
  HFTA_ACTIVITY_AWAIT, ///< waiting for an event that hadn't happened yet
  HFTA_ACTIVITY_WAIT,  ///< the host waiting in `wait` for other queues
  // The trainer records the following activities; the device records the ones
  // above.
  HFTA_ACTIVITY_READ, ///< reading a batch from the data files
  HFTA_ACTIVITY_STEP  ///< a whole step of the training
} hfta_activity_kind;

/// A completed activity of a queue, or of a thread that belongs to no queue.
/// `begin` and `end` are in seconds of hfta_now.
typedef struct hfta_activity {
  hfta_activity_kind kind;
  uint32_t queue;  ///< 0 for a WAIT, since the host works on queue 0
  int64_t number;  ///< RUN: the task's number in its program; AWAIT: the event;
                   ///< FETCH, EVICT: the first extent; READ, STEP: the step of
                   ///< the training, from 0
  uint32_t worker; ///< the instance's worker; 0 in reports of the device itself
  /// RUN: the task's call, valid only during the report.
  const hfta_task_call *call;
  const hfta_post *post; ///< CALL: the messages exchanged, or NULL
  const void *to;        ///< COPY, FILL: the destination
  uint64_t bytes;        ///< COPY, FILL, FETCH, EVICT: bytes moved or filled
  double begin, end;
} hfta_activity;

/// A function that gets a report of each activity when a device has finished
/// it, on the thread that did it, for one activity at a time. Observing costs
/// two readings of the clock per activity; a GPU also waits for the end of each
/// command, so that it can be timed.
typedef struct hfta_observer {
  void (*done)(void *argument,
               const hfta_activity *activity); ///< NULL: no reports
  void *argument;
  /// For each task of the program, where the seconds of its launches are added;
  /// NULL: launches aren't timed. Only a CPU times them, and only those of
  /// tasks that run on the pool of threads.
  const hfta_launch_times *launches;
} hfta_observer;

/// Options of hfta_device_open.
typedef struct hfta_device_options {
  int index;   ///< number of the device among those of its kind, from 0
  int threads; ///< CPU threads that run kernels; 0: one per processor
  uint64_t scratch_bytes; ///< scratch memory of each thread
  uint32_t queues;        ///< number of queues, at least 1
  uint32_t events;        ///< number of events
  uint32_t segments; ///< number of segments of the program whose tasks it runs
  int64_t copies;    ///< most copies for which a task runs
  const hfta_program *program; ///< the program of the tasks, for their names;
                               ///< may be NULL for a kind that takes no file
  const char *file;            ///< the file of "KIND:FILE"
  hfta_device *beside; ///< an open device of the same kind, whose threads also
                       ///< run this device's kernels, one task at a time; NULL:
                       ///< the device has threads of its own
} hfta_device_options;

/// The number of marks of a device: how many the host may set before it waits
/// for one of them.
enum { HFTA_DEVICE_MARKS = 2 };

/// The functions of a kind of device.
typedef struct hfta_device_functions {
  const char *kind; ///< name of the kind, such as "cpu"
  /// Whether the kind is opened by "KIND:FILE". Such a device runs no tasks,
  /// but takes as long for each task as the file says, so that schedules can be
  /// measured alone.
  bool takes_file;

  hfta_status (*open)(const hfta_device_options *options, hfta_device **out,
                      hfta_error *error);
  /// Closes the device, which must have no work in flight.
  void (*close)(hfta_device *device);

  /// Returns the number of threads that run kernels.
  int (*threads)(const hfta_device *device);

  /// Allocates zeroed memory, aligned to at least `alignment` bytes. On the CPU
  /// it takes physical memory only once it is touched. 0 bytes give NULL.
  hfta_status (*allocate)(hfta_device *device, uint64_t bytes,
                          uint64_t alignment, void **out, hfta_error *error);
  void (*release)(hfta_device *device, void *memory, uint64_t bytes);

  /// Returns the bytes of memory that the device itself needs for tasks of at
  /// most `copies` copies at once. NULL in a kind that needs none. Works
  /// without an open device.
  uint64_t (*scratch_bytes)(const hfta_program *program, int64_t copies);
  /// Allocates that memory, in place of what an earlier call has allocated.
  /// Called before the device gets such tasks, while no work is in flight. NULL
  /// in a kind that needs no such memory.
  hfta_status (*reserve)(hfta_device *device, int64_t copies,
                         hfta_error *error);

  /// Page-locks (pins) memory of the host, in whole pages, until `unlock`, so
  /// that copies between it and the device are fast. Returns false if that
  /// fails, which does no harm. NULL in a kind whose own memory is the host's.
  bool (*lock)(hfta_device *device, void *memory, uint64_t bytes);
  void (*unlock)(hfta_device *device, void *memory);

  /// Fills memory with zeros.
  void (*fill)(hfta_device *device, uint32_t queue, void *to, uint64_t bytes);
  /// Copies bytes between any two places in the device's and the host's memory.
  void (*copy)(hfta_device *device, uint32_t queue, void *to, const void *from,
               uint64_t bytes);
  /// Copy between the device's memory and `count` extents of a store from
  /// number `first` on, as hfta_store_read and hfta_store_write do. `bytes` is
  /// the size of all these extents. `queue` isn't 0.
  void (*fetch)(hfta_device *device, uint32_t queue, hfta_store *store,
                uint64_t first, uint64_t count, void *to, uint64_t bytes);
  void (*evict)(hfta_device *device, uint32_t queue, hfta_store *store,
                uint64_t first, uint64_t count, const void *from,
                uint64_t bytes);
  /// Runs a task. `call` is copied; `number` is the task's index in
  /// hfta_program.tasks.
  void (*run)(hfta_device *device, uint32_t queue, const hfta_task_call *call,
              uint32_t number);
  /// Calls a function of the host, on any thread, when the queue's earlier work
  /// is done; the queue goes on when the function returns. `queue` isn't 0, on
  /// which the host itself may be working.
  void (*call)(hfta_device *device, uint32_t queue, const hfta_host_call *call);
  /// Records an event, which happens when the queue's earlier work is done.
  void (*record)(hfta_device *device, uint32_t queue, uint32_t event);
  /// Makes the queue wait for the event's last `record` before this call. If
  /// there was none, the queue doesn't wait.
  void (*await)(hfta_device *device, uint32_t queue, uint32_t event);

  /// Makes kernels run on the threads of `of`, another open device of the same
  /// kind, from the next command on. `of` must stay open while its threads are
  /// used this way. No work may be in flight.
  void (*use_threads)(hfta_device *device, hfta_device *of);
  /// Gives this device's tasks priority among the devices that share its
  /// threads: another device's task begins only when no task of this device
  /// waits. May be called by any thread.
  void (*go_first)(hfta_device *device);
  /// Returns for how many seconds this device's tasks have occupied the threads
  /// that they run on, since `use_threads` was first called.
  double (*computed)(hfta_device *device);

  /// Waits until all work of all queues is done. Fails with the first error
  /// since the last call; its message names the command.
  hfta_status (*wait)(hfta_device *device, hfta_error *error);
  /// Waits as `wait` does, but only for some queues: bit q of `queues` stands
  /// for queue q, and bit 63 for all queues from 63 on.
  hfta_status (*wait_for)(hfta_device *device, uint64_t queues,
                          hfta_error *error);

  /// Sets mark `number`, a barrier across all queues: work that a queue gets
  /// later begins only when all work that any queue got before is done.
  /// `number` is less than HFTA_DEVICE_MARKS; an earlier mark of the same
  /// number is replaced. NULL in a kind without marks, which can only wait for
  /// all of its work.
  void (*mark)(hfta_device *device, uint32_t number);
  /// Waits until all work before mark `number` is done. Fails with the first
  /// error of that work that wasn't reported yet; then no later work is in
  /// flight either. Errors of later work are reported by later calls.
  hfta_status (*wait_until)(hfta_device *device, uint32_t number,
                            hfta_error *error);

  /// Sets the observer, from the next command on; NULL: none.
  void (*observe)(hfta_device *device, const hfta_observer *observer);

  /// Returns the address at which the host may read and write this memory of
  /// the device; NULL if there is none.
  void *(*host_address)(hfta_device *device, void *memory);
} hfta_device_functions;

/// The base of all devices: the first member of each kind's own struct.
struct hfta_device {
  const hfta_device_functions *functions;
};

/// The kinds of devices that this runtime knows besides those of its targets;
/// the last entry is NULL.
extern const hfta_device_functions *const hfta_device_kinds[];

extern const hfta_device_functions hfta_device_cpu;
extern const hfta_device_functions hfta_device_paced;

/// Opens the device that `text` names: "KIND", "KIND:INDEX" or "KIND:FILE",
/// such as "cpu" or "cuda:0". The text's index or file takes the place of the
/// one in `options`. HFTA_UNSUPPORTED if the kind isn't available or doesn't
/// run the kernels of the program's target, HFTA_USAGE if the text is
/// malformed. A program in `options` must have been checked
/// (hfta_program_check).
hfta_status hfta_device_open(const char *text,
                             const hfta_device_options *options,
                             hfta_device **out, hfta_error *error);

/// Returns the kind of the device that `text` names; NULL if there is no such
/// kind.
const hfta_device_functions *hfta_device_find(const char *text);

/// Closes a device; NULL is allowed.
void hfta_device_close(hfta_device *device);

#ifdef __cplusplus
}
#endif

#endif // HFTA_DEVICE_H
