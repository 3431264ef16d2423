defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
  sample { exec = [{ name = "stacks", command = ["pmp"] }] }
}
