//===- Ranks.c - A program that tests communicators on several ranks ------===//
//
// usage: mpirun ... ranks MODE [ARGUMENT...]. A failed check ends the process
// with exit code 99. See test/EndToEnd/communicator.py.
//===----------------------------------------------------------------------===//

#include "Ranks.h"

#include <pthread.h>
#include <string.h>

double ranks_number(const ranks_arguments *arguments, int index) {
  EXPECT(index < arguments->count);
  return strtod(arguments->values[index], NULL);
}

hfta_communicator *ranks_open(double timeout) {
  hfta_rank_options options = {.timeout = timeout};
  hfta_communicator *communicator;
  hfta_error error;
  hfta_status status = hfta_communicator_open(&options, &communicator, &error);
  if (status == HFTA_OK)
    return communicator;
  fprintf(stderr, "ranks: error: %s\n", error.message);
  exit(status);
}

hfta_posted *ranks_post(hfta_communicator *communicator, const char *what,
                        int tag, int peer, bool sends, void *memory,
                        uint64_t bytes) {
  hfta_message message = {peer, sends, memory, bytes};
  hfta_post post = {{what, 7, tag}, &message, 1};
  hfta_posted *posted;
  EXPECT(hfta_communicator_post(communicator, &post, &posted, NULL) == HFTA_OK);
  return posted;
}

void ranks_fail(hfta_communicator *communicator, hfta_status code,
                const char *message) {
  char line[HFTA_ERROR_MESSAGE_BYTES + 64];
  snprintf(line, sizeof(line), "ranks: rank %d: error: %s", communicator->rank,
           message);
  hfta_communicator_fail(communicator, code, line);
}

void ranks_wait(hfta_communicator *communicator, hfta_posted *posted) {
  hfta_error error;
  hfta_status status = hfta_communicator_wait(communicator, posted, &error);
  if (status == HFTA_OK)
    return;
  fprintf(stderr, "rank %d: %s\n", communicator->rank, error.message);
  exit(99);
}

void ranks_wait_or_fail(hfta_communicator *communicator, hfta_posted *posted) {
  hfta_error error;
  hfta_status status = hfta_communicator_wait(communicator, posted, &error);
  if (status != HFTA_OK)
    ranks_fail(communicator, status, error.message);
}

//===----------------------------------------------------------------------===//
// Random posts
//===----------------------------------------------------------------------===//

/// Returns a pseudorandom number less than `below`.
static uint32_t draw(uint64_t *state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

enum { MESSAGES = 48, TAGS = 3, POSTS = 6 };

/// A message. All ranks draw the same messages, and each rank posts those that
/// it sends or receives.
typedef struct plan {
  // The message belongs to post number post / TAGS * TAGS + tag (post_part).
  int from, to, tag, post;
  uint64_t bytes;
  unsigned char *sent, *received; // NULL if another rank sends, or receives, it
} plan;

static void fill(unsigned char *memory, uint64_t bytes, int seed) {
  for (uint64_t i = 0; i < bytes; ++i)
    memory[i] = (unsigned char)((uint64_t)seed * 31 + i * 7 + (i >> 8));
}

static void draw_plan(plan *plans, uint64_t *state,
                      const hfta_communicator *communicator) {
  static const uint64_t sizes[] = {0, 1, 7, 4096, 5000, 65537, 1000003};
  int rank = communicator->rank;
  for (int i = 0; i < MESSAGES; ++i) {
    plan *own = &plans[i];
    own->from = (int)draw(state, (uint32_t)communicator->size);
    own->to = (int)draw(state, (uint32_t)communicator->size);
    own->tag = (int)draw(state, TAGS);
    own->bytes = sizes[draw(state, sizeof(sizes) / sizeof(*sizes))];
    // Both ranks post messages in the order of their numbers, because messages
    // with equal tags are matched in the order in which they are posted.
    own->post = i * POSTS / MESSAGES;
    own->sent = own->from == rank ? malloc(own->bytes + 1) : NULL;
    own->received = own->to == rank ? calloc(own->bytes + 1, 1) : NULL;
    if (own->sent)
      fill(own->sent, own->bytes, i);
  }
}

/// Checks the contents of received messages, and frees the memory of all.
/// `expected` is a buffer for the largest message.
static void check_plan(plan *plans, unsigned char *expected) {
  for (int i = 0; i < MESSAGES; ++i) {
    fill(expected, plans[i].bytes, i);
    if (plans[i].received)
      EXPECT(memcmp(plans[i].received, expected, plans[i].bytes) == 0);
    free(plans[i].sent);
    free(plans[i].received);
  }
}

/// Posts this rank's messages of post number `part`, which all have the same
/// tag.
static hfta_posted *post_part(hfta_communicator *communicator,
                              const plan *plans, int part) {
  hfta_message messages[2 * MESSAGES];
  uint32_t count = 0;
  for (int i = 0; i < MESSAGES; ++i) {
    const plan *own = &plans[i];
    if (own->post / TAGS * TAGS + own->tag != part)
      continue;
    if (own->received)
      messages[count++] =
          (hfta_message){own->from, false, own->received, own->bytes};
    if (own->sent)
      messages[count++] = (hfta_message){own->to, true, own->sent, own->bytes};
  }
  hfta_post post = {{"random messages", part, part % TAGS}, messages, count};
  hfta_posted *posted;
  EXPECT(hfta_communicator_post(communicator, &post, &posted, NULL) == HFTA_OK);
  return posted;
}

/// Draws messages, posts them, waits for the posts in a random order, and
/// checks what was received.
static void run_plan(hfta_communicator *communicator, uint64_t *state,
                     uint64_t *own_state, unsigned char *expected) {
  plan plans[MESSAGES];
  hfta_posted *posted[POSTS];
  draw_plan(plans, state, communicator);
  for (int part = 0; part < POSTS; ++part)
    posted[part] = post_part(communicator, plans, part);
  for (int left = POSTS; left > 0; --left) {
    uint32_t next = draw(own_state, (uint32_t)left);
    ranks_wait(communicator, posted[next]);
    posted[next] = posted[left - 1];
  }
  check_plan(plans, expected);
}

void ranks_exchange(hfta_communicator *communicator, uint64_t seed) {
  uint64_t own_state = seed + (uint64_t)communicator->rank;
  unsigned char *expected = malloc(1000003);
  for (int round = 0; round < 8; ++round)
    run_plan(communicator, &seed, &own_state, expected);
  free(expected);
}

void ranks_posts(const ranks_arguments *arguments) {
  hfta_communicator *communicator = ranks_open(60.0);
  ranks_exchange(communicator, (uint64_t)ranks_number(arguments, 0));
  hfta_communicator_close(communicator);
}

/// large BYTES: rank 0 sends one message of this size to rank 1.
void ranks_large(const ranks_arguments *arguments) {
  hfta_communicator *communicator = ranks_open(60.0);
  uint64_t bytes = (uint64_t)ranks_number(arguments, 0);
  unsigned char *memory = calloc(bytes, 1);
  EXPECT(memory);
  bool sends = communicator->rank == 0;
  if (sends)
    memory[0] = memory[bytes - 6] = memory[bytes - 1] = 77;
  if (communicator->rank < 2)
    ranks_wait(communicator, ranks_post(communicator, "a large message", 0,
                                        sends, sends, memory, bytes));
  if (communicator->rank == 1)
    EXPECT(memory[0] == 77 && memory[bytes - 6] == 77 &&
           memory[bytes - 1] == 77 && memory[bytes - 2] == 0);
  free(memory);
  hfta_communicator_close(communicator);
}

//===----------------------------------------------------------------------===//
// Collective operations
//===----------------------------------------------------------------------===//

enum { PIECE = 1000 };

// Rank q adds up piece q, which has q * PIECE numbers, so rank 0 adds up none.
void ranks_sum_pieces(hfta_communicator *c, int tag) {
  int size = c->size, rank = c->rank, count = PIECE * size * (size - 1) / 2;
  uint64_t offsets[65] = {0};
  for (int q = 0; q < size; ++q)
    offsets[q + 1] = offsets[q] + (uint64_t)(q * PIECE) * sizeof(int);
  int *memory = malloc(sizeof(int) * (size_t)(count + 1));
  int *received = calloc((size_t)(size * rank * PIECE + 1), sizeof(int));
  for (int i = 0; i < count; ++i)
    memory[i] = i * (rank + 1);
  hfta_label label = {"exchange of pieces", 3, tag};
  hfta_posted *posted;
  EXPECT(hfta_communicator_post_exchange(c, &label, memory, offsets, received,
                                         &posted, NULL) == HFTA_OK);
  ranks_wait(c, posted);
  int *own = memory + offsets[rank] / sizeof(int);
  for (int i = 0; i < rank * PIECE; ++i) {
    own[i] = 0;
    for (int r = 0; r < size; ++r)
      own[i] += received[r * rank * PIECE + i];
  }
  EXPECT(hfta_communicator_post_gather(c, &label, memory, offsets, &posted,
                                       NULL) == HFTA_OK);
  ranks_wait(c, posted);
  for (int i = 0; i < count; ++i)
    EXPECT(memory[i] == i * size * (size + 1) / 2);
  free(memory);
  free(received);
}

/// Checks that a rank's numbers reach all ranks.
static void check_broadcast(hfta_communicator *c, int root) {
  int numbers[3] = {0, 0, 0};
  if (c->rank == root)
    numbers[2] = 40 + root;
  hfta_label label = {"broadcast", -1, 9};
  hfta_posted *posted;
  EXPECT(hfta_communicator_post_broadcast(c, &label, root, numbers,
                                          sizeof(numbers), &posted,
                                          NULL) == HFTA_OK);
  ranks_wait(c, posted);
  EXPECT(numbers[2] == 40 + root);
}

void ranks_agree(hfta_communicator *c) {
  for (int root = 0; root < c->size; ++root)
    check_broadcast(c, root);
  int64_t value = 100 - 3 * c->rank;
  EXPECT(hfta_communicator_max(c, "max", &value, NULL) == HFTA_OK);
  EXPECT(value == 100);
  int different = 0;
  EXPECT(hfta_communicator_compare(c, "compare", "abc", 3, &different, NULL) ==
         HFTA_OK);
  EXPECT(different == -1);
  int last = c->size - 1;
  const char *text = last > 0 && c->rank == last ? "abd" : "abc";
  EXPECT(hfta_communicator_compare(c, "compare", text, 3, &different, NULL) ==
         HFTA_OK);
  EXPECT(different == (last > 0 ? last : -1));
  EXPECT(hfta_communicator_compare(c, "compare", text, c->rank == 0 ? 1 : 2,
                                   &different, NULL) == HFTA_OK);
  EXPECT(different == (last > 0 ? 1 : -1));
}

/// Checks communicators for some of the ranks: the even and the odd ranks in
/// reverse order, and all ranks except rank 0.
static void check_split(hfta_communicator *c) {
  hfta_communicator *part = NULL, *none = NULL;
  EXPECT(hfta_communicator_split(c, c->rank % 2, -c->rank, &part, NULL) ==
         HFTA_OK);
  int members = (c->size - c->rank % 2 + 1) / 2;
  EXPECT(part->size == members && part->local_size == members);
  EXPECT(part->rank == members - 1 - c->rank / 2);
  EXPECT(hfta_communicator_split(c, c->rank == 0 ? -1 : 5, 0, &none, NULL) ==
         HFTA_OK);
  EXPECT(c->rank == 0 ? none == NULL : none->size == c->size - 1);
  ranks_sum_pieces(part, 0);
  if (none)
    ranks_agree(none);
  hfta_communicator_close(none);
  hfta_communicator_close(part);
}

static void *check_in_thread(void *communicator) {
  for (int i = 0; i < 10; ++i)
    ranks_sum_pieces(communicator, 1);
  return NULL;
}

void ranks_collectives(const ranks_arguments *arguments) {
  (void)arguments;
  hfta_communicator *first = ranks_open(60.0), *second = ranks_open(0.0);
  EXPECT(first->local_size == first->size);
  ranks_agree(first);
  check_split(second);
  // Use the same tag in two communicators at the same time, and two tags in one
  // communicator.
  pthread_t threads[2];
  EXPECT(pthread_create(&threads[0], NULL, check_in_thread, first) == 0);
  EXPECT(pthread_create(&threads[1], NULL, check_in_thread, second) == 0);
  for (int i = 0; i < 10; ++i)
    ranks_sum_pieces(first, 2);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  hfta_communicator_close(first);
  ranks_agree(second);
  hfta_communicator_close(second);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

typedef struct mode {
  const char *name;
  void (*run)(const ranks_arguments *arguments);
} mode;

static const mode modes[] = {
    {"posts", ranks_posts},
    {"collectives", ranks_collectives},
    {"large", ranks_large},
    {"kill", ranks_kill},
    {"stop", ranks_stop},
    {"slow", ranks_slow},
    {"end", ranks_end},
    {"absent", ranks_absent},
    {"fail", ranks_fail_at_once},
    {"lengths", ranks_lengths},
    {"own", ranks_own},
    {"ended", ranks_ended},
    {"deadlock", ranks_deadlock},
    {"embedded", ranks_embedded},
    {"launched", ranks_launched},
    {"workers", ranks_workers},
    {"gives-up", ranks_gives_up},
    {"lost", ranks_lost},
    {"slow-circle", ranks_slow_circle},
};

int main(int argc, char **argv) {
  ranks_arguments arguments = {argc - 2, argv + 2};
  for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); ++i) {
    if (strcmp(modes[i].name, argv[1]) != 0)
      continue;
    modes[i].run(&arguments);
    return 0;
  }
  fprintf(stderr, "ranks: no such mode\n");
  return 99;
}
