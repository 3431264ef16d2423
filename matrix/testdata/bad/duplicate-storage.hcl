storage "scratch" {}
storage "scratch" {}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
