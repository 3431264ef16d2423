axis "a" { levels = [1, 2] }
matrix "m" {
  a   = "*"
  zip = [["a", "bb"]]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
