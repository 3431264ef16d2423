phase "run" {
  workload "exec" {
    command = ["true"]
    metric "tps" { unit = "1/s" }
  }
}
