axis "a" { levels = [1, 2] }
axis "b" { levels = [1, 2] }
matrix "m" {
  a   = "*"
  zip = [["a", "b"]]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
