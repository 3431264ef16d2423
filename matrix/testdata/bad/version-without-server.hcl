phase "run" {
  when = at_least(build.version, "10.6")
  workload "fileio" {}
}
