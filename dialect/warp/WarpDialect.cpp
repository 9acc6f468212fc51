// Registers the warp dialect's types, attributes and ops; the syntax of its tile types; what its encodings allow.
#include "dialect/warp/WarpDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tegula::warp;

#include "dialect/warp/WarpDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/warp/WarpAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/warp/WarpTypes.cpp.inc"

void WarpDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/warp/WarpAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/warp/WarpTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/warp/WarpOps.cpp.inc"
      >();
}

LogicalResult FragmentAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() == 2 && shape[0] == 64 && shape[1] > 0 && shape[1] % 8 == 0)
    return success();
  return emitError() << "constraint 1: expected a fragment of 64 rows and a multiple of 8 columns, but got [" << shape << "]";
}

LogicalResult RowsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() == 1 && shape[0] == 64)
    return success();
  return emitError() << "constraint 1: expected 64 row values, but got [" << shape << "]";
}

/// Reads `ROWSxCOLUMNSxTYPE`.
static ParseResult parseTile(AsmParser &parser, int64_t &rows, int64_t &columns, Type &element) {
  SmallVector<int64_t, 2> shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/true) || parser.parseType(element))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(loc, "expected rows and columns, but got ") << shape.size() << " extents";
  rows = shape[0], columns = shape[1];
  return success();
}

template <typename T> static Type parseTileType(AsmParser &parser) {
  int64_t rows, columns;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseTile(parser, rows, columns, element) || parser.parseGreater())
    return {};
  return parser.getChecked<T>(loc, parser.getContext(), rows, columns, element);
}

template <typename T> static void printTileType(AsmPrinter &printer, T type) {
  printer << "<" << type.getRows() << "x" << type.getColumns() << "x" << type.getElementType() << ">";
}

Type SlotType::parse(AsmParser &parser) { return parseTileType<SlotType>(parser); }
void SlotType::print(AsmPrinter &printer) const { printTileType(printer, *this); }
Type GlobalType::parse(AsmParser &parser) { return parseTileType<GlobalType>(parser); }
void GlobalType::print(AsmPrinter &printer) const { printTileType(printer, *this); }

Type RingType::parse(AsmParser &parser) {
  int64_t rows, columns, stages;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseTile(parser, rows, columns, element) || parser.parseComma() || parser.parseKeyword("stages") ||
      parser.parseInteger(stages) || parser.parseGreater())
    return {};
  return parser.getChecked<RingType>(loc, parser.getContext(), rows, columns, element, stages);
}

void RingType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElementType() << ", stages " << getStages() << ">";
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns, Type element, int64_t stages) {
  if (stages < 1 || stages > 8)
    return emitError() << "constraint 1: expected 1 to 8 stages, but got " << stages;
  if (rows < 8 || rows > 256 || rows % 8 != 0)
    return emitError() << "constraint 2: expected rows of a ring from 8 to 256 in steps of 8, but got " << rows;
  if (columns < 8 || columns > 1024 || columns % 8 != 0)
    return emitError() << "constraint 3: expected columns of a ring from 8 to 1024 in steps of 8, but got " << columns;
  if (!element.isF16() && !element.isBF16() && !element.isF32() && !element.isInteger(8) && !element.isInteger(32))
    return emitError() << "constraint 4: expected a ring of f16, bf16, i8, f32 or i32, but got " << element;
  return success();
}

static LogicalResult verifyTile(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns) {
  if (rows >= 1 && columns >= 1)
    return success();
  return emitError() << "constraint 1: expected at least one row and one column, but got " << rows << "x" << columns;
}

LogicalResult SlotType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns, Type) {
  return verifyTile(emitError, rows, columns);
}

LogicalResult GlobalType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns, Type) {
  return verifyTile(emitError, rows, columns);
}

LogicalResult PendingType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType tile) {
  if (isa_and_nonnull<FragmentAttr>(tile.getEncoding()))
    return success();
  return emitError() << "constraint 1: expected a tile with the encoding #warp.fragment, but got " << tile;
}
