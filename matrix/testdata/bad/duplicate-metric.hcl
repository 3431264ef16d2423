phase "run" {
  workload "exec" {
    command = ["true"]
    metric "tps" { regex = "a" }
    metric "tps" { regex = "b" }
  }
}
