import "own" { file = "../machine.hcl" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
