// RUN: tegula-opt --tegula-legalize-math --split-input-file --verify-diagnostics %s

func.func @sin(%x: f32) -> f32 {
  // expected-error @+1 {{'math.sin' on 'f32' has no lowering for the GPU}}
  %0 = math.sin %x : f32
  return %0 : f32
}

// -----

func.func @double(%x: vector<4xf64>) -> vector<4xf64> {
  // expected-error @+1 {{'math.exp' on 'vector<4xf64>' has no lowering for the GPU}}
  %0 = math.exp %x : vector<4xf64>
  return %0 : vector<4xf64>
}
