package sampler

// A Fact is one named property of the host.
type Fact struct{ Name, Value string }

// Facts returns what the host is and how it is set, sorted by name: host.id,
// host.boot, host.kernel, host.cpu_model, host.cpus, host.memory, host.swap,
// host.governor, host.thp, host.clocksource ... and for each path by its role
// (such as "data"): data.filesystem, data.mount_options, data.device,
// data.rotational, data.write_cache, data.scheduler ... A property that the host
// does not show is left out.
func Facts(r Roots, paths map[string]string) ([]Fact, error) { return nil, errNotBuilt }
