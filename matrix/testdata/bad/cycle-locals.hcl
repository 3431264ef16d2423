locals {
  a = local.b + 1
  b = local.c * 2
  c = local.a
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
