axis "x" { levels = [1, 2] }
axis "x" { levels = [3] }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
