// Registers the tile dialect's attributes and ops, and checks the schedule attribute.
#include "dialect/tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tegula::tile;

#include "dialect/tile/TileDialect.cpp.inc"
#include "dialect/tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/tile/TileAttrs.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/tile/TileOps.cpp.inc"
      >();
}

ScheduleAttr ScheduleFields::get(MLIRContext *context) const {
  return ScheduleAttr::get(context, form, blockM, blockN, consumers, stages, qStages, producerRegisters, consumerRegisters, pingPong, softmax, tiles, overlap, walk, polynomial, halfBlocks, epilogue, packHeads);
}

LogicalResult ScheduleFields::check(function_ref<InFlightDiagnostic()> emitError) const {
  return ScheduleAttr::verify(emitError, form, blockM, blockN, consumers, stages, qStages, producerRegisters, consumerRegisters, pingPong, softmax, tiles, overlap, walk, polynomial, halfBlocks, epilogue, packHeads);
}

ScheduleFields ScheduleAttr::getFields() const {
  return {getForm(), getBlockM(), getBlockN(), getConsumers(), getStages(), getQStages(), getProducerRegisters(), getConsumerRegisters(), getPingPong(), getSoftmax(), getTiles(), getOverlap(), getWalk(),
          getPolynomial(), getHalfBlocks(), getEpilogue(), getPackHeads()};
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, Form form, int64_t blockM, int64_t blockN,
                                   int64_t consumers, int64_t stages, int64_t qStages, int64_t producerRegisters,
                                   int64_t consumerRegisters, bool pingPong, SoftmaxForm softmax, TileOrder tiles, bool overlap, Walk walk,
                                   int64_t polynomial, bool halfBlocks, Epilogue epilogue, bool packHeads) {
  auto within = [&](StringRef field, int64_t value, int64_t lo, int64_t hi, int64_t step) -> LogicalResult {
    if (value >= lo && value <= hi && value % step == 0)
      return success();
    return emitError() << "expected " << field << " from " << lo << " to " << hi << " in steps of " << step << ", but got " << value;
  };
  if (form != Form::Pipelined && softmax == SoftmaxForm::Fixed)
    return emitError() << "expected softmax = online or threshold under form = " << stringifyForm(form) << ", but got fixed";
  if (form != Form::Pipelined && tiles != TileOrder::Stride)
    return emitError() << "expected tiles = stride under form = " << stringifyForm(form) << ", but got " << stringifyTileOrder(tiles);
  if (form != Form::Pipelined && (!overlap || walk != Walk::Ascending || polynomial != 0 || halfBlocks || epilogue != Epilogue::Wide))
    return emitError() << "expected overlap = true, walk = ascending, polynomial = 0, half_blocks = false and epilogue = wide under form = " << stringifyForm(form);
  if (softmax == SoftmaxForm::Fixed && walk != Walk::Ascending)
    return emitError() << "expected softmax = online or threshold under walk = descending, but got fixed";
  if (softmax != SoftmaxForm::Fixed && polynomial != 0)
    return emitError() << "expected polynomial = 0 under softmax = " << stringifySoftmaxForm(softmax) << ", but got " << polynomial;
  if (halfBlocks && !overlap) // the last product stands behind the loop there alone
    return emitError() << "expected overlap = true under half_blocks = true, but got false";
  if (halfBlocks && blockN % 32 != 0)
    return emitError() << "expected block_n to be a multiple of 32 under half_blocks = true, but got " << blockN;
  if (form == Form::Sequential)
    return success(succeeded(within("block_m", blockM, 1, 1024, 1)) && succeeded(within("block_n", blockN, 1, 1024, 1)));
  if (failed(within("consumers", consumers, 1, 4, 1)) || failed(within("block_n", blockN, 16, 256, 16)) ||
      failed(within("stages", stages, 1, 8, 1)) || failed(within("q_stages", qStages, form == Form::Direct ? 0 : 1, form == Form::Direct ? 1 : 4, 1)) ||
      failed(within("polynomial", polynomial, 0, 8, 1)) || failed(within("producer_registers", producerRegisters, 0, 256, 8)) ||
      failed(within("consumer_registers", consumerRegisters, 0, 256, 8)))
    return failure();
  if (blockM != warpgroupRows * consumers)
    return emitError() << "expected block_m = 64 * consumers = " << 64 * consumers << ", but got " << blockM;
  if ((producerRegisters == 0) != (consumerRegisters == 0))
    return emitError() << "expected producer_registers and consumer_registers both 0 or both given, but got " << producerRegisters
                       << " and " << consumerRegisters;
  return success();
}

LogicalResult ProgramAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t threads, int64_t ctas) {
  if (threads != 128 && threads != 256 && threads != 512 && threads != 1024)
    return emitError() << "expected `threads` of the schedule to be 128, 256, 512 or 1024, but got " << threads;
  if (ctas < 1 || ctas * threads > 2048)
    return emitError() << "expected `ctas` of the schedule from 1 to 2048 / threads = " << 2048 / threads << ", but got " << ctas;
  return success();
}
