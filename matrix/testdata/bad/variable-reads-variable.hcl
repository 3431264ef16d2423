variable "rows" { default = 1000 }
variable "half" { default = var.rows / 2 }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
