variable "rows" {
  type    = integer
  default = 1
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
