axis "a" { levels = [1, 2, 3] }
axis "b" { levels = [1, 2] }
matrix "m" {
  a   = "*"
  b   = "*"
  zip = [["a", "b"]]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
