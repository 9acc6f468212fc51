//===- TensorMap.h - encode a view of a tensor for TMA ----------*- C++ -*-===//
//
// A tensor map is 128 opaque bytes that the driver computes on the host from an
// address, extents, strides and a box; the kernel takes it by value.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Arguments.h"
#include "runtime/Driver.h"

namespace tegula::rt {

/// Encodes `view` in the axis order and box of `argument`, a tensor map
/// argument whose rules hold (Conditions.h). An axis of extent 1 may have any
/// stride: a legal one is put in its place. `slots` are what the expressions of
/// the box are over. A context has to be current.
Status encodeTensorMap(const Driver &driver, const KernelArgument &argument,
                       const TensorView &view, std::span<const Value> slots,
                       cu::TensorMap &map);

} // namespace tegula::rt
