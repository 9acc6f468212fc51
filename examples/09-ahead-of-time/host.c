/* Lesson 9: a kernel in a C program, without the compiler.
 *
 * `tegula compile` turns an item into a C header and a C source: a struct with
 * the tensors, scalars and dims of the item's signature, and four functions.
 * The source embeds the machine code, so the program needs the driver and
 * libtegula-runtime, and nothing else of Tegula, of LLVM or of CUDA's toolkit.
 *
 *   tegula compile ../causal.tg -D D=64 -D E=64 --emit=cubin -o .
 *   cc -I ../../runtime host.c causal.c libtegula-runtime.a -lstdc++ -lm -ldl
 *
 * The build does the same as tegula-example-ahead-of-time. The program asks for
 * two launches: row-major tensors, which a pipelined kernel takes, here the one
 * for few queries a head, and keys with one element between rows, which TMA
 * cannot read: the runtime then takes the direct kernel. All three travel in the
 * same source. The second launch leaves `lse` null, so it is not computed.
 *
 *   gpu$ tegula-example-ahead-of-time
 *   row-major: pipelined (rows of several query heads share its tiles), ...
 *   gaps between keys: direct (the stride of axis 1 of `k`, ...
 *
 * Where there is no GPU, the load says so and the program ends with 4:
 *
 *   cpu$ tegula-example-ahead-of-time
 *   no kernel: unavailable: ...
 *   exit code 4
 */
#include "causal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 4, GROUPS = 2, QUERIES = 100, KEYS = 130, DIM = 64 };
enum { MISSING = 4 }; /* exit code: something that this machine lacks */

/* Ends the program with the text of what failed. */
static void check(tegula_status status, const char *what) {
  if (status == TEGULA_OK)
    return;
  printf("%s: %s: %s\n", what, tegula_status_name(status), tegula_last_error());
  exit(status == TEGULA_UNAVAILABLE ? MISSING : 1);
}

static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static float from_bf16(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* bf16 [1, heads, rows, DIM], on both sides; `gap` elements follow each row. */
typedef struct {
  uint16_t *host;
  size_t size; /* bytes */
  tegula_buffer *device;
  int64_t strides[4];
} tensor;

static tensor make_tensor(int heads, int rows, int gap, unsigned seed,
                          const tegula_stream *stream) {
  int64_t pitch = DIM + gap;
  size_t count = (size_t)(heads * rows * pitch);
  tensor t = {malloc(count * 2),
              count * 2,
              NULL,
              {heads * rows * pitch, rows * pitch, pitch, 1}};
  for (size_t n = 0; n != count; ++n) {
    seed = seed * 1664525u + 1013904223u;
    t.host[n] = to_bf16((float)(seed >> 8) / (1 << 23) - 1);
  }
  check(tegula_buffer_create(0, t.size, &t.device), "memory");
  check(tegula_buffer_write(t.device, t.host, t.size, stream), "copy");
  return t;
}

static void free_tensor(tensor *t) {
  tegula_buffer_destroy(t->device);
  free(t->host);
}

static double at(const tensor *t, int head, int row, int column) {
  return from_bf16(
      t->host[head * t->strides[1] + row * t->strides[2] + column]);
}

/* Compares o, and lse unless it is null, with attention in double. */
static void compare(const tensor *q, const tensor *k, const tensor *v,
                    const tensor *o, const float *lse) {
  double worst = 0, worst_lse = 0;
  for (int h = 0; h != HEADS; ++h)
    for (int i = 0; i != QUERIES; ++i) {
      int g = h / (HEADS / GROUPS), seen = i + KEYS - QUERIES + 1;
      double weights[KEYS], sum = 0;
      for (int j = 0; j != seen; ++j) {
        double score = 0;
        for (int d = 0; d != DIM; ++d)
          score += at(q, h, i, d) * at(k, g, j, d);
        sum += weights[j] = exp(score / sqrt(DIM));
      }
      for (int e = 0; e != DIM; ++e) {
        double want = 0;
        for (int j = 0; j != seen; ++j)
          want += weights[j] / sum * at(v, g, j, e);
        worst = fmax(worst, fabs(at(o, h, i, e) - want));
      }
      if (lse)
        worst_lse = fmax(worst_lse, fabs(lse[h * QUERIES + i] - log(sum)));
    }
  printf(worst < 0.01 ? ", o within 0.01 of dense attention"
                      : ", o is WRONG by %g",
         worst);
  if (lse)
    printf(worst_lse < 0.001 ? ", lse too" : ", lse is WRONG by %g", worst_lse);
  printf("\n");
}

static void attend(const causal_kernel *kernel, const char *title, int gap,
                   int with_lse) {
  tegula_stream *stream;
  check(tegula_stream_create(0, &stream), "stream");
  tensor q = make_tensor(HEADS, QUERIES, 0, 1, stream);
  tensor k = make_tensor(GROUPS, KEYS, gap, 2, stream);
  tensor v = make_tensor(GROUPS, KEYS, 0, 3, stream);
  tensor o = make_tensor(HEADS, QUERIES, 0, 4, stream);
  float lse[HEADS * QUERIES];
  tegula_buffer *lse_buffer;
  check(tegula_buffer_create(0, sizeof lse, &lse_buffer), "memory");

  causal_args args = {.q = {tegula_buffer_data(q.device), NULL},
                      .k = {tegula_buffer_data(k.device), k.strides},
                      .v = {tegula_buffer_data(v.device), NULL},
                      .o = {tegula_buffer_data(o.device), NULL},
                      .B = 1,
                      .H = HEADS,
                      .M = QUERIES,
                      .G = GROUPS,
                      .N = KEYS};
  if (with_lse)
    args.lse.data = tegula_buffer_data(lse_buffer);
  tegula_launch_report report;
  check(causal_launch(kernel, &args, tegula_stream_handle(stream), &report),
        "launch");
  check(tegula_buffer_read(o.device, o.host, o.size, stream), "copy");
  check(tegula_buffer_read(lse_buffer, lse, sizeof lse, stream), "copy");

  printf("%s: %s", title,
         report.form == TEGULA_PIPELINED ? "pipelined" : "direct");
  if (report.reason[0])
    printf(" (%s)", report.reason);
  compare(&q, &k, &v, &o, with_lse ? lse : NULL);

  tegula_buffer_destroy(lse_buffer);
  free_tensor(&q);
  free_tensor(&k);
  free_tensor(&v);
  free_tensor(&o);
  tegula_stream_destroy(stream);
}

int main(void) {
  causal_kernel *kernel;
  check(causal_load(0, &kernel), "no kernel");
  attend(kernel, "row-major", /*gap=*/0, /*with_lse=*/1);
  attend(kernel, "gaps between keys", /*gap=*/1, /*with_lse=*/0);
  causal_unload(kernel);
  return 0;
}
