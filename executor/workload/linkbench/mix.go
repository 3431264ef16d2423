package linkbench

// An operation is one of the ten kinds of requests.
type operation int

// The operations, in the order in which a request is chosen.
const (
	addLink operation = iota
	deleteLink
	updateLink
	countLink
	multigetLink
	getLinksList
	addNode
	updateNode
	deleteNode
	getNode
	operations
)

// name returns the operation's name in metrics.
func (o operation) name() string {
	return [operations]string{
		"add_link", "delete_link", "update_link", "count_link", "multiget_link", "get_links_list",
		"add_node", "update_node", "delete_node", "get_node",
	}[o]
}

// A mix is the share of each operation, in percent.
type mix [operations]float64

// choose returns the operation at p, which is in [0, 100).
func (m *mix) choose(p float64) operation {
	sum := 0.0
	for o, percent := range m {
		sum += percent
		if p <= sum {
			return operation(o)
		}
	}
	return operations - 1 // the shares sum up to 100 but for rounding
}
