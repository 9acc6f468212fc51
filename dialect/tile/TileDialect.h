// The tile dialect: see TileOps.td for the specification of each op.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/tile/TileDialect.h.inc"
#include "dialect/tile/TileEnums.h.inc"

namespace tegula::tile {

class ScheduleAttr;

/// The fields of a `#tile.schedule`, which its text describes, while they change.
struct ScheduleFields {
  Form form = Form::Direct;
  int64_t blockM = 0, blockN = 0, consumers = 0, stages = 1, qStages = 1, producerRegisters = 0, consumerRegisters = 0;
  bool pingPong = false;
  SoftmaxForm softmax = SoftmaxForm::Online;
  TileOrder tiles = TileOrder::Stride;
  bool overlap = true;
  Walk walk = Walk::Ascending;
  int64_t polynomial = 0;
  bool halfBlocks = false;
  Epilogue epilogue = Epilogue::Wide;
  bool packHeads = false;

  /// Only for fields that `check` lets pass.
  ScheduleAttr get(mlir::MLIRContext *context) const;
  /// Whether they are legal; reports what is not.
  mlir::LogicalResult check(llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;
};

} // namespace tegula::tile

#define GET_ATTRDEF_CLASSES
#include "dialect/tile/TileAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/tile/TileOps.h.inc"

namespace tegula::tile {

/// Rows of a tile that one warpgroup computes: the m of `wgmma.m64`.
inline constexpr int64_t warpgroupRows = 64;

/// Whether an element has room for the mark of `tile.redo`: a float with NaN payloads that no hardware makes, and a width that atomics take.
inline bool holdsMark(mlir::Type element) {
  auto type = mlir::dyn_cast<mlir::FloatType>(element);
  return type && (type.getWidth() == 16 || type.getWidth() == 32);
}

} // namespace tegula::tile
