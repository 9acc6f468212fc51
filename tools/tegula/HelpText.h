//===- HelpText.h - what --help teaches -------------------------*- C++ -*-===//
//
// The prose of `tegula --help` and of each command's --help.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tegula::tool::help {

inline constexpr char title[] = "Tegula: a compiler for attention kernels\n";

inline constexpr char overview[] = R"(
FIRST STEPS:

  Write a variant in a few lines, causal.tg:

    attention causal(q: T[B,H,M,D], k: T[B,G,N,D], v: T[B,G,N,E])
        -> (o: T[B,H,M,E], lse: f32[B,H,M]) {
      static D = 128, E = 128, T = bf16
      mask i + (N - M) >= j
    }

  Run it on random tensors and compare with dense attention in float64:

    tegula run causal.tg --size B=1,H=8,G=2,M=300,N=300 --check

  See the code that it becomes, at any stage:

    tegula compile causal.tg --emit=tile
    tegula compile causal.tg --emit=ptx -o causal.ptx

  See what its mask saves, and what the kernel holds and moves:

    tegula explain causal.tg --html causal.html

  `tegula COMMAND --help` lists a command's options and more examples.

EXIT CODES:

  0 done; 1 the source or an argument is wrong; 2 the command line is wrong;
  3 the check failed; 4 something that this machine lacks (GPU, ptxas, memory,
  driver); 70 an internal error, with a reproducer
)";

inline constexpr char compileSummary[] =
    "Turn an item into code, or into the text of a stage on the way";

inline constexpr char compileExamples[] = R"(
EXAMPLES:

  tegula compile causal.tg                             PTX to standard output
  tegula compile causal.tg --emit=cubin -o causal.cubin
  tegula compile causal.tg --emit=cubin -o out         the same with out/causal.h and .c, for a C program
  tegula compile variants.tg --item softcap -D D=64 -D T=f16 --emit=ptx,manifest -o out
  tegula compile causal.tg --emit=warp --schedule form=pipelined,block_n=64
  tegula compile causal.tg --dump-dir stages --time    every stage's text, and its time

  Any stage's text can be saved, edited and fed back:

  tegula compile causal.tg --emit=warp -o edited.mlir
  tegula compile edited.mlir --start-from=warp --emit=ptx

  A schedule of one's own, with the protocol of its roles checked:

  tegula compile causal.tg --schedule stages=3 --verify-protocol -o causal.ptx

  As files for a C program, with the checks of `tegula run --debug`:

  tegula compile docs.tg --emit=cubin --debug -o docs/

STAGES, in order:

  source attention tile warp nvvm ptx cubin; cpu branches off after tile
)";

inline constexpr char runSummary[] =
    "Compile an item, run it on tensors, check it and report";

inline constexpr char runExamples[] = R"(
EXAMPLES:

  tegula run causal.tg --size B=1,H=8,G=2,M=300,N=300 --check
  tegula run variants.tg --item window --size B=2,H=4,G=4,M=1,N=4096 --arg W=512 --target cpu --json
  tegula run causal.tg --arg q=@q.npy --arg k=@k.npy --arg v=@v.npy --out o=@o.npy --out lse=@lse.npy
  tegula run causal.tg --size B=1,H=16,G=16,M=16384,N=16384 --schedule form=pipelined

NOTES:

  Lengths that are static or that follow from a file need no --size. A scalar
  needs --arg; a tensor without one is filled from the seed, the same numbers
  on every machine (sorted and in range where its declaration says so).

  Files hold tensors in the declared order of axes, [B, H, M, D] for q, whatever
  --layout says: that is how they lie in the kernel's memory. A bf16 file has
  dtype V2, as ml_dtypes writes it, or uint16 with the bits.

  --debug runs a program before each launch that looks at every element of
  tables that are declared `sorted` or `in` a range, and at every index by which
  the result reads a table. The first that is wrong is named with tensor, index
  and value: exit code 3 on the CPU, on a GPU 70 with CUDA_ERROR_ASSERT. Times
  on a GPU contain it. On a GPU the kernel also counts the blocks of keys that it
  visits, with the element mask and without: what `tegula explain` says of it.

  The tolerance of --check is twice the error of a plain implementation in the
  inputs' type (f32 softmax) plus one rounding of the output. Large problems are
  checked on a spread of rows; the report says on how many. TFLOP/s count the
  pairs of query and key that the mask leaves.
)";

inline constexpr char explainSummary[] =
    "Say what a mask skips, what was proved, and what a kernel holds and moves";

inline constexpr char explainExamples[] = R"(
EXAMPLES:

  tegula explain causal.tg
  tegula explain variants.tg --item window --arg W=1024 --size B=4,H=16,G=16,M=8192,N=8192
  tegula explain variants.tg --item docs --arg doc=@doc.npy --html docs.html
  tegula explain causal.tg --size B=1,H=8,G=2,M=300,N=300 --json

NOTES:

  "Proved" is what the compiled kernel's own loops do, counted over the whole
  grid with the tables that it reads; "needed" is brute force over all elements,
  for sequences up to 16384. A kernel that skips what is needed is an error (70).
  Lengths without --size: one batch entry, one head, 4096 queries and keys.
)";

inline constexpr char benchSummary[] =
    "Time kernels beside their peers, and record it";

inline constexpr char benchExamples[] = R"(
EXAMPLES:

  tegula bench --list                                   what there is to time
  tegula bench -o bench/results                         everything; GRID.json and GRID.svg
  tegula bench --grid hopper-forward --peer flash3=DIR --peer lab=DIR --peers cudnn,flash3,lab -o bench/results
  tegula bench --grid hopper-forward --dims 128 --seqs 4096 --masks causal --schedule block_n=64
  tegula bench mine.tg --item window -D D=64 --size B=1,H=16,G=16,M=8192,N=8192 --arg W=512
  tegula bench --from bench/results/hopper-forward.json --plot forward.svg

PEERS:

  cudnn, flash2, flex    PyTorch's attention by cuDNN, FlashAttention-2 and FlexAttention
  flash3                 --peer flash3=PATH: its library, or the folder with fa3.so or fa3.so.xz
  flash4, flashinfer     where their Python packages are
  lab                    --peer lab=DIR: index.json and cubins
  NAME                   --peer NAME=FILE.py: prepare(problem) in it gives a function that computes o

NOTES:

  One Python process launches both our kernels and the peers', on one stream.
  A round gives each of them a block of launches of 40 ms, after an idle gap, as
  the card is limited by power; the first third of a block is dropped. Only
  ratios within a round mean much: above 1, ours is faster. Every output is
  compared with attention in float32 first, and what is wrong is not timed.

  Without Python or PyTorch ours are timed alone, as those of a FILE.tg always
  are. docs/benchmark.md says more, the fields of the JSON among it.
)";

} // namespace tegula::tool::help
