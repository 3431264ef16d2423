variable "rows" {
  default = 1
  validation { condition = var.rows > 0 }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
