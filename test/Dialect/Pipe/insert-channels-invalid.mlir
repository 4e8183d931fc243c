// RUN: attn-opt %s --attn-insert-channels -split-input-file -verify-diagnostics

gpu.module @m {
// expected-error @below {{expected a kernel with a selected schedule (attn.schedule with tile, warps and stages)}}
gpu.func @none() kernel {
  gpu.return
}
}

// -----

gpu.module @m {
// expected-error @below {{expected a kernel with a selected schedule}}
gpu.func @half() kernel attributes {attn.schedule = #attn.schedule<fa2, stages = 2>} {
  gpu.return
}
}
