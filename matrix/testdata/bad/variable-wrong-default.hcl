variable "rows" {
  type    = number
  default = "many"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
