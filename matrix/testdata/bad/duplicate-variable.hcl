variable "x" { default = 1 }
variable "x" { default = 2 }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
