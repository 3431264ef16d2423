package workload

// Schemas returns the workload types of coming versions: experiments that use
// them validate and plan, but cannot run yet.
func Schemas() []Type { return nil }
