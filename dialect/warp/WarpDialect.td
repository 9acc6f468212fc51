// The warp dialect: roles, rings, fragments and asynchronous matrix ops.
#ifndef TEGULA_WARP_DIALECT_TD
#define TEGULA_WARP_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

def WarpDialect : Dialect {
  let name = "warp";
  let cppNamespace = "::tegula::warp";
  let summary = "who does what: roles, where: rings and fragments, when: pending results and waits";
  let description = [{
    A `warp.kernel` is a set of roles, each run by some warpgroups (128 threads), that talk through rings of shared-memory tiles alone. A tile that a
    warpgroup's registers hold is a ranked tensor with the encoding `#warp.fragment` (`#warp.rows` for one value a row), so `arith`, `math`, `scf` and their
    folds apply unchanged; in a program that is no attention loop, all threads hold each tile, under `#warp.blocked`. A matrix op gives a `!warp.pending`; only `warp.await` makes a tensor of it. Lanes, registers and addresses are unknown here.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::tegula::tile::TileDialect"];
}

def Warp_FragmentAttr : AttrDef<WarpDialect, "Fragment", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "fragment";
  let summary = "a tile of 64 rows in the registers of a warpgroup";
  let description = [{
    Warp w of the group owns rows 16 w .. 16 w + 15 and every column. Lane l holds, of each 8 columns n, the elements (l / 4, 8 n + 2 (l % 4)), the same row one column on,
    and both again 8 rows down: the accumulator of `wgmma` and of `mma.sync` m16n8, and, as 16-bit pairs, their register-A operand.

    Constraints: 1. rank 2, 64 rows, a multiple of 8 columns.
  }];
}

def Warp_RowsAttr : AttrDef<WarpDialect, "Rows", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "rows";
  let summary = "one value for each row of a fragment, in all lanes that hold the row";
  let description = "Constraints: 1. rank 1, 64 rows.";
}

def Warp_BlockedAttr : AttrDef<WarpDialect, "Blocked", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "blocked";
  let summary = "a tile in the registers of all threads of a CTA";
  let description = [{
    Where each element lies, as digits. A digit `[axis, stride, count]` of `registers` says that one digit of a register's number, the first fastest, moves the element by
    `stride` along `axis`; the entry of bit n of the thread's number in `threads` is `[axis, stride]`, or `[]` where threads that differ in it hold the same elements.
    A tile that meets no matrix op has 16 contiguous bytes a thread along its fastest axis, then lanes, then warps, then the same again until the tile is covered:

        #warp.blocked<registers = [[1, 1, 4], [1, 128, 2]], threads = [[1, 4], [1, 8], [1, 16], [1, 32], [1, 64], [0, 1], [0, 2]]>    // tensor<4x256xf32> in 128 threads

    The result of a matrix op has the places of `mma.sync` m16n8 accumulators. A reduction drops an axis, a transposition renames axes, and a broadcast's operand drops those
    that it is repeated along: no data moves. Places past an extent hold anything (Zhou et al., "Linear Layouts", arXiv:2505.23819, draw layouts so, with more freedom).

    Constraints: 1. axes are the tile's. 2. the strides of an axis are 1 and the products of the counts below, so that each element has its place, and reach the extent.
    3. 128 to 1024 threads, a power of two.
  }];
  let parameters = (ins ArrayRefParameter<"::tegula::warp::Digit">:$registers, ArrayRefParameter<"::tegula::warp::Digit">:$threads);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getNumRegisters() const;
    int64_t getNumThreads() const { return int64_t(1) << getThreads().size(); }
    /// Places along an axis: its extent, rounded up.
    int64_t getCoverage(int64_t axis) const;
    /// The coordinate along `axis` of each register, but for the thread's part.
    ::llvm::SmallVector<int64_t> getRegisterOffsets(int64_t axis) const;
    /// Elements of neighbouring registers that are neighbours along `axis`, from register 0 on.
    int64_t getContiguous(int64_t axis) const;
    /// Axis a becomes `to[a]`, or is dropped where that is -1: its registers go, and its threads hold copies.
    BlockedAttr mapAxes(::llvm::ArrayRef<int64_t> to) const;
    /// The layout of a tile that lacks `axis`.
    BlockedAttr withoutAxis(int64_t axis, int64_t rank) const;
  }];
}

class Warp_Type<string name, string typeMnemonic> : TypeDef<WarpDialect, name> { let mnemonic = typeMnemonic; }

def Warp_RingType : Warp_Type<"Ring", "ring"> {
  let summary = "a ring of shared-memory tiles between a producer and consumers";
  let description = [{
    `!warp.ring<128x64xbf16, stages 2>`: two slots of 128 rows by 64 columns. A slot's number and phase follow from a counter: slot = counter % stages, phase = counter / stages % 2.
    Stored as panels of 128 bytes a row (64 columns of 16-bit elements), each [rows][128 bytes] with the 128-byte swizzle; copies fill columns up to a multiple of 32 bytes, which is a step of wgmma:
    those that are too many with zeros, or with what memory holds there.

    Constraints: 1. 1 to 8 stages. 2. rows from 8 to 256 in steps of 8. 3. columns from 8 to 1024 in steps of 8. 4. elements of f16 or bf16, which matrix ops read, or of i8, f32 or i32.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType, "int64_t":$stages);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of one slot: whole panels.
    int64_t getSlotBytes() const { return getPanels() * ::tegula::warp::panelBytes * getRows(); }
    int64_t getPanels() const { return ::tegula::warp::panelsOf(getColumns(), getElementType()); }
    /// Columns of a panel that a copy fills.
    int64_t getCopiedColumns(int64_t panel) const {
      int64_t width = ::tegula::warp::panelColumns(getElementType()), step = width * copiedBytes / ::tegula::warp::panelBytes;
      return std::min<int64_t>(width, (getColumns() - width * panel + step - 1) / step * step);
    }
    /// Bytes that the copies of all panels bring.
    int64_t getCopiedBytes() const {
      int64_t step = ::tegula::warp::panelColumns(getElementType()) * copiedBytes / ::tegula::warp::panelBytes;
      return (getColumns() + step - 1) / step * copiedBytes * getRows();
    }
    static constexpr int64_t copiedBytes = 32; ///< of a row, together
  }];
}

def Warp_SlotType : Warp_Type<"Slot", "slot"> {
  let summary = "one tile of a ring, while it is owned";
  let description = "Constraints: 1. at least one row and one column.";
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Warp_GlobalType : Warp_Type<"Global", "global"> {
  let summary = "a tile in global memory, read by a matrix op as it goes";
  let description = "Constraints: 1. at least one row and one column.";
  let genVerifyDecl = 1;
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

def Warp_PendingType : Warp_Type<"Pending", "pending"> {
  let summary = "a fragment that a matrix op may still be writing";
  let description = [{
    Only `warp.await` gives the fragment, so no pass can read an accumulator too early. Constraints: 1. the tile is a `#warp.fragment`.
  }];
  let genVerifyDecl = 1;
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
}

#endif
