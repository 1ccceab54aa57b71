/*===- commands.h - The commands of schedules ------------------------------===
 *
 * One record for each kind of command. The enum hfta_command_kind, checks of a
 * program's table, the memory that a schedule needs, `info --schedule`, its
 * JSON and traces all follow from the records.
 *===----------------------------------------------------------------------===*/

#ifndef HFTA_COMMANDS_H
#define HFTA_COMMANDS_H

/// The meaning of a member of an hfta_command.
typedef enum hfta_command_field_kind {
  HFTA_FIELD_TASK,        ///< subject: a task
  HFTA_FIELD_EVENT,       ///< subject: an event
  HFTA_FIELD_REPEAT_KIND, ///< subject: hfta_repeat_kind
  HFTA_FIELD_PERIOD,   ///< subject: the hyper-parameter that gives the periods
  HFTA_FIELD_STAGE,    ///< subject: another stage
  HFTA_FIELD_ORDER,    ///< subject: index into hfta_program.orders
  HFTA_FIELD_CASE,     ///< subject: the number of a case
  HFTA_FIELD_GROUP,    ///< subject: a group of micro-batches
  HFTA_FIELD_CONTENTS, ///< subject: hfta_contents
  /// Ahead: how many micro-batches after the current one the command is for.
  HFTA_FIELD_AHEAD,
  HFTA_FIELD_FROM, ///< from: any place, from which `bytes` bytes are read
  HFTA_FIELD_TO,   ///< to: any place, to which `bytes` bytes are written
  HFTA_FIELD_AT,   ///< to: a place of `bytes` bytes in a segment
  /// To: a place of `bytes` bytes in a segment; with a stride, there is one per
  /// copy.
  HFTA_FIELD_AT_COPIES,
  /// To: the sums that are added up, `bytes` bytes in blocks as long as the
  /// stride. They may be in the arena.
  HFTA_FIELD_SUMS,
  HFTA_FIELD_RECEIVED, ///< from: memory that receives other ranks' sums
  HFTA_FIELD_SEGMENT,  ///< to: a segment that isn't resident
  HFTA_FIELD_ADDRESS,  ///< from: the place in the arena
  HFTA_FIELD_BYTES,    ///< bytes: the size of a place
  HFTA_FIELD_EVENTS,   ///< bytes: number of events, from the subject on, that
                       ///< micro-batches use in turn (round-robin)
  /// Bytes: number of consecutive places in the arena that instances use in
  /// turn.
  HFTA_FIELD_PLACES,
  HFTA_FIELD_COPIES,   ///< bytes: copies per turn; 0: the host chooses
  HFTA_FIELD_DUE,      ///< bytes: hfta_due_kind
  HFTA_FIELD_REPLICAS, ///< replicas: those that run the body, or send
  HFTA_FIELD_RECEIVERS ///< receivers: the replicas that receive
} hfta_command_field_kind;

/// Bits of a record's flags.
typedef enum hfta_command_flag {
  /// Its body is the list of hfta_command.length commands that follow.
  HFTA_COMMAND_HAS_BODY = 1u << 0,
  /// All ranks of the stage run it, equally often and for all copies.
  HFTA_COMMAND_IS_FOR_ALL = 1u << 1,
  /// It exchanges messages with other ranks or workers, and waits for them. So
  /// its queue isn't 0, on which the host works itself.
  HFTA_COMMAND_MEETS = 1u << 2,
  /// It may stand in turns, although it meets others.
  HFTA_COMMAND_TAKES_TURNS = 1u << 3
} hfta_command_flag;

/// The commands: HFTA_COMMAND(identifier, word, number, flags, queue, fields).
/// `word` is the mnemonic of the compiler's op, and the end of the name of the
/// runtime's function, hfta_issue_<word>. `queue` is how traces call a queue
/// with such commands; NULL: as if it had none.
///
/// `fields` are the members that count, apart from device, queue and length:
/// one or several HFTA_FIELD(kind, text, key). `info --schedule` prints them in
/// this order after the words `text`; where that is NULL, in the braces at the
/// end of the line. `key` is the name in JSON; NULL: it isn't there.
#define HFTA_COMMANDS                                                          \
  /* Runs a task. */                                                           \
  HFTA_COMMAND(RUN, run, 0, 0, "tasks", HFTA_FIELD(TASK, "", "task"))          \
  /* Copies bytes from one place to another. */                                \
  HFTA_COMMAND(TRANSFER, transfer, 1, 0, NULL, HFTA_FIELD(BYTES, "", "bytes"), \
               HFTA_FIELD(FROM, "from", "from"), HFTA_FIELD(TO, "to", "to"),   \
               HFTA_FIELD(AHEAD, NULL, "ahead"))                               \
  /* Fills a place with zeros, in all instances of its segment. */             \
  HFTA_COMMAND(FILL, fill, 2, 0, NULL, HFTA_FIELD(BYTES, "", "bytes"),         \
               HFTA_FIELD(AT, "at", "to"))                                     \
  /* Records an event, once the queue has done all earlier commands. */        \
  HFTA_COMMAND(RECORD, record, 3, 0, NULL, HFTA_FIELD(EVENT, "", "event"),     \
               HFTA_FIELD(EVENTS, NULL, "instances"),                          \
               HFTA_FIELD(AHEAD, NULL, "ahead"))                               \
  /* Makes the queue wait for the event's last record. */                      \
  HFTA_COMMAND(AWAIT, await, 4, 0, NULL, HFTA_FIELD(EVENT, "", "event"),       \
               HFTA_FIELD(EVENTS, NULL, "instances"),                          \
               HFTA_FIELD(AHEAD, NULL, "ahead"))                               \
  /* Runs its body several times (hfta_repeat_kind). */                        \
  HFTA_COMMAND(REPEAT, repeat, 5, HFTA_COMMAND_HAS_BODY, NULL,                 \
               HFTA_FIELD(REPEAT_KIND, "", "over"),                            \
               HFTA_FIELD(COPIES, "of", "copies"))                             \
  /* Runs its body for copies whose period is due (hfta_due_kind). */          \
  HFTA_COMMAND(EVERY, every, 6, HFTA_COMMAND_HAS_BODY, NULL,                   \
               HFTA_FIELD(PERIOD, "", "period"),                               \
               HFTA_FIELD(DUE, "for", "for"))                                  \
  /* Adds up the sums of all groups, across all ranks. */                      \
  HFTA_COMMAND(ALL_REDUCE, all_reduce, 7,                                      \
               HFTA_COMMAND_IS_FOR_ALL | HFTA_COMMAND_MEETS |                  \
                   HFTA_COMMAND_TAKES_TURNS,                                   \
               "sums", HFTA_FIELD(TASK, "", "task"),                           \
               HFTA_FIELD(BYTES, "", "bytes"), HFTA_FIELD(SUMS, "at", "at"),   \
               HFTA_FIELD(RECEIVED, "through", "through"))                     \
  /* Sends the values of each micro-batch from the rank that has computed it   \
     to all ranks. */                                                          \
  HFTA_COMMAND(ALL_GATHER, all_gather, 8,                                      \
               HFTA_COMMAND_IS_FOR_ALL | HFTA_COMMAND_MEETS, NULL,             \
               HFTA_FIELD(BYTES, "", "bytes"), HFTA_FIELD(AT, "at", "to"))     \
  /* Sends the bytes of a place to workers of another stage. */                \
  HFTA_COMMAND(SEND, send, 9, HFTA_COMMAND_IS_FOR_ALL | HFTA_COMMAND_MEETS,    \
               "sends", HFTA_FIELD(BYTES, "", "bytes"),                        \
               HFTA_FIELD(AT, "at", "at"),                                     \
               HFTA_FIELD(STAGE, "to stage", "stage"),                         \
               HFTA_FIELD(AHEAD, NULL, "ahead"))                               \
  /* Receives bytes into the same place from a worker of another stage. */     \
  HFTA_COMMAND(RECEIVE, receive, 10,                                           \
               HFTA_COMMAND_IS_FOR_ALL | HFTA_COMMAND_MEETS, "receives",       \
               HFTA_FIELD(BYTES, "", "bytes"), HFTA_FIELD(AT, "at", "at"),     \
               HFTA_FIELD(STAGE, "from stage", "stage"),                       \
               HFTA_FIELD(AHEAD, NULL, "ahead"))                               \
  /* Runs the CASEs in its body in the order of a list of actions. */          \
  HFTA_COMMAND(ACTIONS, actions, 11, HFTA_COMMAND_HAS_BODY, NULL,              \
               HFTA_FIELD(ORDER, "order", "order"))                            \
  /* In the body of ACTIONS: runs its own body, when an action names it. */    \
  HFTA_COMMAND(CASE, case, 12, HFTA_COMMAND_HAS_BODY, NULL,                    \
               HFTA_FIELD(CASE, "", NULL))                                     \
  /* Runs its body on some replicas only. */                                   \
  HFTA_COMMAND(ONLY, only, 13, HFTA_COMMAND_HAS_BODY, NULL,                    \
               HFTA_FIELD(REPLICAS, "", "replicas"))                           \
  /* Sends the bytes of a place from some replicas to others. */               \
  HFTA_COMMAND(                                                                \
      BROADCAST, broadcast_bytes, 14,                                          \
      HFTA_COMMAND_IS_FOR_ALL | HFTA_COMMAND_MEETS, "sums",                    \
      HFTA_FIELD(BYTES, "", "bytes"), HFTA_FIELD(AT_COPIES, "at", "at"),       \
      HFTA_FIELD(REPLICAS, "from", "from"), HFTA_FIELD(RECEIVERS, "to", "to")) \
  /* Replaces the sums of all groups by those of one group. */                 \
  HFTA_COMMAND(TAKE_GROUP, take_group, 15, HFTA_COMMAND_IS_FOR_ALL, NULL,      \
               HFTA_FIELD(GROUP, "", "group"), HFTA_FIELD(BYTES, "", "bytes"), \
               HFTA_FIELD(AT_COPIES, "at", "at"))                              \
  /* Gives a segment a place in the arena. */                                  \
  HFTA_COMMAND(                                                                \
      FETCH, fetch, 16, 0, "fetches", HFTA_FIELD(SEGMENT, "", "segment"),      \
      HFTA_FIELD(AHEAD, NULL, "ahead"), HFTA_FIELD(ADDRESS, "at", "address"),  \
      HFTA_FIELD(CONTENTS, "contents", "contents"),                            \
      HFTA_FIELD(PLACES, NULL, "instances"))                                   \
  /* Writes a segment's contents in the arena to the store. */                 \
  HFTA_COMMAND(EVICT, evict, 17, 0, "evictions",                               \
               HFTA_FIELD(SEGMENT, "", "segment"),                             \
               HFTA_FIELD(AHEAD, NULL, "ahead"))                               \
  /* Ends a segment's stay at its place in the arena. */                       \
  HFTA_COMMAND(DROP, drop, 18, 0, NULL, HFTA_FIELD(SEGMENT, "", "segment"),    \
               HFTA_FIELD(AHEAD, NULL, "ahead"))

#endif // HFTA_COMMANDS_H
