// #warp.blocked: its syntax, what it allows, and the layouts that follow from one by dropping or renaming axes.
#include "dialect/warp/WarpDialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tegula::warp;

//===-- syntax ------------------------------------------------------------------------------------===//

/// `[[1, 1, 4], ...]`: lists of `size` numbers, or empty ones where `mayBeEmpty`.
static FailureOr<SmallVector<Digit>> parseDigits(AsmParser &parser, size_t size, bool mayBeEmpty) {
  SmallVector<Digit> digits;
  auto one = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<int64_t> numbers;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parser.parseInteger(numbers.emplace_back()); }))
      return failure();
    if (numbers.size() != size && !(mayBeEmpty && numbers.empty()))
      return parser.emitError(loc, "expected ") << size << " numbers, but got " << numbers.size();
    digits.push_back(numbers.empty() ? Digit{-1, 0, 2} : Digit{numbers[0], numbers[1], size == 3 ? numbers[2] : 2});
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one))
    return failure();
  return digits;
}

Attribute BlockedAttr::parse(AsmParser &parser, Type) {
  FailureOr<SmallVector<Digit>> registers, threads;
  if (parser.parseLess() || parser.parseKeyword("registers") || parser.parseEqual() || failed(registers = parseDigits(parser, 3, false)) ||
      parser.parseComma() || parser.parseKeyword("threads") || parser.parseEqual() || failed(threads = parseDigits(parser, 2, true)) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), *registers, *threads);
}

void BlockedAttr::print(AsmPrinter &printer) const {
  printer << "<registers = [";
  llvm::interleaveComma(getRegisters(), printer, [&](const Digit &d) { printer << "[" << d.axis << ", " << d.stride << ", " << d.count << "]"; });
  printer << "], threads = [";
  llvm::interleaveComma(getThreads(), printer, [&](const Digit &d) {
    printer << "[";
    if (d.axis >= 0)
      printer << d.axis << ", " << d.stride;
    printer << "]";
  });
  printer << "]>";
}

//===-- verification ------------------------------------------------------------------------------===//

LogicalResult BlockedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> emitError) const {
  if (getThreads().size() < 7 || getThreads().size() > 10)
    return emitError() << "constraint 3: expected 128 to 1024 threads, but got " << getNumThreads();
  SmallVector<SmallVector<Digit>> axes(shape.size());
  for (const Digit &digit : llvm::concat<const Digit>(getRegisters(), getThreads())) {
    if (digit.axis >= static_cast<int64_t>(shape.size()))
      return emitError() << "constraint 1: expected an axis below " << shape.size() << ", but got " << digit.axis;
    if (digit.axis >= 0)
      axes[digit.axis].push_back(digit);
  }
  for (auto [axis, digits] : llvm::enumerate(axes)) {
    llvm::sort(digits, [](const Digit &a, const Digit &b) { return a.stride < b.stride; });
    int64_t reached = 1;
    for (const Digit &digit : digits) {
      if (digit.stride != reached)
        return emitError() << "constraint 2: expected stride " << reached << " along axis " << axis << ", but got " << digit.stride;
      reached *= digit.count;
    }
    if (reached < shape[axis])
      return emitError() << "constraint 2: expected " << shape[axis] << " places along axis " << axis << ", but got " << reached;
  }
  return success();
}

//===-- derived -----------------------------------------------------------------------------------===//

int64_t BlockedAttr::getNumRegisters() const {
  int64_t count = 1;
  for (const Digit &digit : getRegisters())
    count *= digit.count;
  return count;
}

int64_t BlockedAttr::getCoverage(int64_t axis) const {
  int64_t places = 1;
  for (const Digit &digit : llvm::concat<const Digit>(getRegisters(), getThreads()))
    places *= digit.axis == axis ? digit.count : 1;
  return places;
}

SmallVector<int64_t> BlockedAttr::getRegisterOffsets(int64_t axis) const {
  SmallVector<int64_t> offsets{0};
  for (const Digit &digit : getRegisters()) {
    size_t known = offsets.size();
    for (int64_t step = 1; step < digit.count; ++step)
      for (size_t i = 0; i < known; ++i)
        offsets.push_back(offsets[i] + (digit.axis == axis ? step * digit.stride : 0));
  }
  return offsets;
}

int64_t BlockedAttr::getContiguous(int64_t axis) const {
  int64_t run = 1;
  for (const Digit &digit : getRegisters()) {
    if (digit.axis != axis || digit.stride != run)
      break;
    run *= digit.count;
  }
  return run;
}

BlockedAttr BlockedAttr::mapAxes(ArrayRef<int64_t> to) const {
  SmallVector<Digit> registers, threads;
  for (Digit digit : getRegisters())
    if (to[digit.axis] >= 0)
      registers.push_back({to[digit.axis], digit.stride, digit.count});
  for (Digit digit : getThreads()) {
    bool held = digit.axis >= 0 && to[digit.axis] >= 0;
    threads.push_back(held ? Digit{to[digit.axis], digit.stride, 2} : Digit{-1, 0, 2});
  }
  return get(getContext(), registers, threads);
}

BlockedAttr BlockedAttr::withoutAxis(int64_t axis, int64_t rank) const {
  SmallVector<int64_t> to;
  for (int64_t a = 0; a < rank; ++a)
    to.push_back(a == axis ? -1 : a < axis ? a : a - 1);
  return mapAxes(to);
}
