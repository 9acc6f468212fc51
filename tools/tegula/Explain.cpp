//===- Explain.cpp - the facts of an explanation --------------------------===//
//
// Compile for the GPU, compile the counting program under the same schedule,
// count, and weigh. Only the tables that masks read are filled.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Execute.h"
#include "tools/tegula/Explanation.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/Setup.h"

#include "codegen/Compiler.h"
#include "codegen/Target.h"
#include "runtime/Packing.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace tegula;
using namespace tegula::tool;
using lang::IndexVar;

llvm::StringRef Explanation::form() const {
  return schedule().getString("form").value_or("");
}

const llvm::json::Object &Explanation::schedule() const {
  static const llvm::json::Object none;
  const llvm::json::Object *found = manifest.getObject("schedule");
  return found ? *found : none;
}

/// A count of so many takes about a second.
static constexpr int64_t mostTiles = int64_t(1) << 28;

/// And a pre-pass over so many pairs; for the problem itself it may take eight.
static constexpr double mostPairs = int64_t(1) << 28;

namespace {
class Explainer {
public:
  Explainer(const Program &program, const ExplainOptions &options)
      : program(program), item(program.item()), options(options) {}

  llvm::Expected<Explanation> run();

private:
  CompileRequest request() const;
  llvm::Error compileKernel();
  llvm::Error takePacked();
  void compileCounter();
  SetupRequest problemRequest() const;
  llvm::Error count();
  double pairsAhead(const Problem &problem) const;
  void addGuards();
  Cost costOf(const Problem &problem, const TileCounts &proved) const;
  SetupRequest requestAt(int64_t length, bool isOne) const;
  llvm::Error fillLength(LengthFacts &facts);
  void addLengths();

  const Program &program;
  const lang::Item &item;
  const ExplainOptions &options;
  Compiler compiler;
  const Target *target = nullptr;
  bool isPacked = false;
  Explanation result;
};
} // namespace

//===----------------------------------------------------------------------===//
// The kernel and its counter
//===----------------------------------------------------------------------===//

CompileRequest Explainer::request() const {
  CompileRequest request = requestOf(options, program.text(), item.name);
  if (isPacked)
    request.schedule.push_back("pack_heads=true");
  return request;
}

/// To machine code where there is a ptxas, which alone knows the registers.
llvm::Error Explainer::compileKernel() {
  CompileRequest wanted = request();
  wanted.stopAfter = Stage::Cubin;
  CompileResult compiled = compiler.compile(wanted);
  if (compiled.status == CompileStatus::Lacks) {
    wanted.stopAfter = Stage::Ptx;
    compiled = compiler.compile(wanted);
  }
  if (!compiled)
    return compileError(compiled);
  result.diagnostics = compiled.diagnostics;
  result.stageTimes = stageTimesText(compiled);
  llvm::Expected<llvm::json::Value> manifest =
      llvm::json::parse(compiled.manifest);
  if (!manifest)
    return manifest.takeError();
  result.manifest = std::move(*manifest->getAsObject());
  std::string message;
  target = lookupTarget(wanted.target, message);
  result.arch = wanted.target;
  result.device = target->device.str();
  result.sharedLimit = target->sharedPerBlock;
  return llvm::Error::success();
}

/// Where launches of this size take the packed kernel, it is that one that is
/// explained.
llvm::Error Explainer::takePacked() {
  const llvm::json::Value *packing = result.manifest.get("packing");
  int64_t rows = result.schedule().getInteger("block_m").value_or(0);
  if (!packing || rows == 0)
    return llvm::Error::success();
  SetupRequest sizes = problemRequest();
  sizes.tensors.emplace();
  auto problem = setUp(program, sizes);
  if (!problem)
    return problem.takeError();
  if (packingShift(problem->dim("M"), problem->dim("H"), problem->dim("G"),
                   rows) == 0)
    return llvm::Error::success();
  isPacked = true;
  return compileKernel();
}

/// Under the fields of the schedule that the kernel got, which may be the
/// second choice.
void Explainer::compileCounter() {
  CompileRequest wanted = request();
  wanted.remarks = false;
  if (!item.program) {
    wanted.schedule.clear();
    for (const auto &[name, value] : result.schedule())
      if (!name.str().ends_with("_registers")) // which a producer may have taken
        wanted.schedule.push_back(name.str() + "=" +
                                (value.getAsString()
                                     ? value.getAsString()->str()
                                     : llvm::formatv("{0}", value).str()));
  }
  CompileResult compiled;
  result.visits = compiler.compileVisits(wanted, compiled);
  if (!result.visits) {
    // The message's own words, without its place.
    llvm::StringRef message = compiled.diagnostics;
    result.notCounted = message.split("error: ").second.split('\n').first.str();
  }
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

static void collectTensors(const lang::Item &item, const lang::Expr &expr,
                           std::set<std::string> &names) {
  if (expr.kind == lang::Expr::Lookup)
    names.insert(item.tensors[expr.number].name);
  if (expr.kind == lang::Expr::Let)
    collectTensors(item, *item.lets[expr.number].value, names);
  for (const lang::Expr *arg : expr.args)
    collectTensors(item, *arg, names);
}

SetupRequest Explainer::problemRequest() const {
  SetupRequest setup;
  setup.sizes = options.sizes;
  setup.arguments = options.arguments;
  setup.seed = options.seed;
  auto given = [&](llvm::StringRef name, int64_t otherwise) {
    for (const auto &[known, length] : options.sizes)
      if (known == name)
        return length;
    return otherwise;
  };
  int64_t heads = given("H", given("G", 1));
  int64_t length = given("M", given("N", 4096));
  setup.defaults = {{"B", 1},
                    {"H", heads},
                    {"G", heads},
                    {"M", given("N", length)},
                    {"N", length}};
  setup.tensors.emplace();
  if (result.visits)
    setup.tensors->insert(result.visits->tables.begin(),
                          result.visits->tables.end());
  for (const lang::Expr *mask : item.masks)
    collectTensors(item, *mask, *setup.tensors);
  return setup;
}

/// How many pairs of a problem the pre-pass looks at, if it does.
double Explainer::pairsAhead(const Problem &problem) const {
  if (llvm::none_of(result.visits->mask.terms,
                    [](const MaskTerm &term) { return term.isLookedUp; }))
    return 0;
  double pairs = 1;
  for (const char *dim : {"M", "N"})
    pairs *= static_cast<double>(problem.dim(dim));
  if (maskDependsOn(item, IndexVar::B))
    pairs *= static_cast<double>(problem.dim("B"));
  if (maskDependsOn(item, IndexVar::H) || maskDependsOn(item, IndexVar::G))
    pairs *= static_cast<double>(problem.dim("H"));
  return pairs;
}

llvm::Error Explainer::count() {
  auto problem = setUp(program, problemRequest());
  if (!problem)
    return problem.takeError();
  for (auto [dim, value] : llvm::zip(item.dims, problem->dims))
    result.sizes.emplace_back(dim.name, value);
  if (result.visits && item.findDim("N") < 0) {
    result.visits.reset();
    result.notCounted = "`" + item.name + "` has no length `N` of keys";
  }
  if (result.visits && pairsAhead(*problem) > 8 * mostPairs) {
    result.visits.reset();
    result.notCounted = "the pre-pass of `" + item.name +
                        "` looks at too many pairs for this host";
  }
  if (!result.visits)
    return llvm::Error::success();
  const VisitsProgram &visits = *result.visits;
  result.blocks = llvm::divideCeil(problem->dim("N"), visits.keys);
  auto counts = countProved(visits, *problem, result.blocks, /*withMap=*/false);
  if (!counts)
    return counts.takeError();
  if (counts->counts.total() <= mostTiles / 4) {
    counts = countProved(visits, *problem, result.blocks, /*withMap=*/true);
    if (!counts)
      return counts.takeError();
    result.headsPerTile = headsPerTile(*problem, counts->grid, visits.rows);
    result.exact = countExact(*problem, visits.rows, visits.keys,
                              result.headsPerTile);
  }
  result.proved = std::move(*counts);
  if (result.exact)
    if (std::string wrong = firstUnsound(*result.proved->map, *result.exact);
        !wrong.empty())
      return fail(ExitCode::internal, "internal: " + wrong);
  if (item.program)
    result.notExact = "`" + item.name +
                      "` is a kernel, and no mask is known of it but its own";
  else if (!result.exact)
    result.notExact = "brute force stops at " + std::to_string(maxExactLength) +
                      " x " + std::to_string(maxExactLength);
  addGuards();
  if (!item.program) {
    result.cost = costOf(*problem, result.proved->counts);
    addLengths();
  }
  return llvm::Error::success();
}

/// The one difference that could be of two -inf: between a score and what the
/// row's weights are relative to.
void Explainer::addGuards() {
  const VisitsProgram &visits = *result.visits;
  if (visits.reference.empty())
    return;
  Guard guard{"-inf minus -inf, in each block", "", true};
  if (visits.reference == "first block") {
    guard.isKept = false;
    guard.reason = "the keys that a row sees are a prefix, so that its first "
                   "block tells whether there are any";
  } else if (!visits.mask.seesPrefix) {
    guard.reason = "a row may see its first key after the first block";
  } else {
    guard.reason = "the running max of a row is looked at in each block";
  }
  result.guards.push_back(std::move(guard));
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

Cost Explainer::costOf(const Problem &problem, const TileCounts &proved) const {
  Cost cost;
  const VisitsProgram &visits = *result.visits;
  cost.scores = static_cast<double>(proved.partial + proved.full) *
                static_cast<double>(visits.rows * visits.keys);
  cost.flops =
      2 * cost.scores * static_cast<double>(item.headDim() + item.valueDim());
  for (const lang::Argument &argument : item.signature) {
    if (!argument.isTensor)
      continue;
    const Tensor &tensor = problem.tensors[argument.number];
    double bytes = elementSize(tensor.type());
    for (int64_t extent : tensor.shape())
      bytes *= static_cast<double>(extent);
    cost.fusedBytes += bytes;
  }
  double pairs = 1;
  for (const char *dim : {"B", "H", "M", "N"})
    pairs *= static_cast<double>(problem.dim(dim));
  cost.unfusedTouches = 4 * pairs;
  ElementType type = problem.tensors[item.q.tensor].type();
  cost.unfusedBytes =
      cost.fusedBytes +
      cost.unfusedTouches * static_cast<double>(elementSize(type));
  double rate =
      elementSize(type) == 2 ? target->halfFlops : target->singleFlops;
  double computing = cost.flops / rate,
         moving = cost.fusedBytes / target->memoryBandwidth;
  cost.isMemoryBound = moving > computing;
  cost.milliseconds = 1e3 * std::max(computing, moving);
  return cost;
}

/// The problem at another length; if `isOne`, with one batch entry and one key
/// head, whose query heads may share tiles, where the mask is the same for all.
SetupRequest Explainer::requestAt(int64_t length, bool isOne) const {
  SetupRequest setup = problemRequest();
  setup.sizes.clear();
  int keyHeads = item.findDim("G");
  bool headsAlike = !maskDependsOn(item, IndexVar::H) &&
                    !maskDependsOn(item, IndexVar::G) &&
                    item.dims[keyHeads].value.value_or(1) == 1;
  bool batchAlike = !maskDependsOn(item, IndexVar::B);
  int64_t keyHeadCount = 1;
  for (auto [dim, known] : llvm::zip(item.dims, result.sizes))
    if (dim.name == "G")
      keyHeadCount = std::max<int64_t>(known.second, 1);
  for (auto [dim, known] : llvm::zip(item.dims, result.sizes)) {
    if (dim.value)
      continue;
    int64_t size = known.second;
    if (dim.name == "M" || dim.name == "N")
      size = length;
    if (isOne && dim.name == "H" && headsAlike)
      size /= keyHeadCount;
    if (isOne && ((dim.name == "B" && batchAlike) ||
                  (dim.name == "G" && headsAlike)))
      size = std::min<int64_t>(size, 1);
    setup.sizes.emplace_back(dim.name, size);
  }
  if (!isOne)
    setup.tensors->clear();
  setup.maxTensorBytes = int64_t(1) << 28;
  return setup;
}

llvm::Error Explainer::fillLength(LengthFacts &facts) {
  auto whole = setUp(program, requestAt(facts.length, /*isOne=*/false));
  if (!whole)
    return whole.takeError();
  auto one = setUp(program, requestAt(facts.length, /*isOne=*/true));
  if (!one)
    return one.takeError();
  int64_t blocks = llvm::divideCeil(facts.length, result.visits->keys);
  int64_t heads = one->dim("B") * one->dim("H");
  int64_t tiles = llvm::divideCeil(facts.length, result.visits->rows);
  if (heads * blocks * tiles > mostTiles / result.visits->steps)
    return userError("too many tiles for a count");
  if (pairsAhead(*one) > mostPairs)
    return userError("too many pairs for a pre-pass on this host");
  auto proved = countProved(*result.visits, *one, blocks, /*withMap=*/false);
  if (!proved)
    return proved.takeError();
  facts.proved = proved->counts;
  int64_t alike =
      whole->dim("B") * whole->dim("H") / std::max<int64_t>(heads, 1);
  for (int64_t *count :
       {&facts.proved.dead, &facts.proved.partial, &facts.proved.full})
    *count *= alike;
  facts.cost = costOf(*whole, facts.proved);
  return llvm::Error::success();
}

void Explainer::addLengths() {
  for (int64_t length :
       {128, 512, 2048, 8192, 32768, 131072, 524288, 1048576}) {
    LengthFacts facts;
    facts.length = length;
    if (llvm::Error error = fillLength(facts))
      facts.reason = llvm::toString(std::move(error));
    result.lengths.push_back(std::move(facts));
  }
}

llvm::Expected<Explanation> Explainer::run() {
  result.item = item.name;
  if (llvm::Error error = compileKernel())
    return error;
  if (llvm::Error error = takePacked())
    return error;
  compileCounter();
  if (llvm::Error error = count())
    return error;
  return std::move(result);
}

llvm::Expected<Explanation>
tegula::tool::explain(const Program &program, const ExplainOptions &options) {
  return Explainer(program, options).run();
}
