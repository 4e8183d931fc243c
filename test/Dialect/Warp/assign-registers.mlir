// The loading role gives registers up, the computing role takes them; together
// never more than the launch has.
// RUN: attn-opt %s --attn-assign-registers | FileCheck %s

gpu.module @m {
// 384 threads: 168 each at launch, 64512 in all. 128 x 40 + 256 x 232 = 64512.
// CHECK-LABEL: gpu.func @two_groups
gpu.func @two_groups() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  // CHECK-NEXT: warp.role "load" first 0 warps 4 {
  // CHECK-NEXT: warp.set_registers {count = 40 : i64}
  // CHECK-NEXT: warp.sync_warp
  warp.role "load" first 0 warps 4 {
    warp.sync_warp
  }
  // CHECK: warp.role "compute" first 4 warps 8 {
  // CHECK-NEXT: warp.set_registers {count = 232 : i64, grow}
  warp.role "compute" first 4 warps 8 {
  }
  gpu.return
}

// 512 threads: 128 each. 128 x 32 + 384 x 160 = 65536.
// CHECK-LABEL: gpu.func @three_groups
gpu.func @three_groups() kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
  // CHECK: warp.set_registers {count = 32 : i64}
  warp.role "load" first 0 warps 4 {
  }
  // CHECK: warp.set_registers {count = 160 : i64, grow}
  warp.role "compute" first 4 warps 12 {
  }
  gpu.return
}

// 256 threads could have 256 each, which no thread can: both give some up.
// CHECK-LABEL: gpu.func @one_group
gpu.func @one_group() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  // CHECK: warp.set_registers {count = 56 : i64}
  warp.role "load" first 0 warps 4 {
  }
  // CHECK: warp.set_registers {count = 240 : i64}
  warp.role "compute" first 4 warps 4 {
  }
  gpu.return
}

// There is nobody to take from.
// CHECK-LABEL: gpu.func @alone
// CHECK-NOT: warp.set_registers
gpu.func @alone() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  warp.sync_warp
  gpu.return
}
}
