package tpcc

import (
	"fmt"
	"strings"

	"dbmatrix/executor/workload/client"
)

// A condition is one of those that the specification's clause 3.3.2 sets: a
// query that counts what breaks it in the warehouse W.
type condition struct {
	number  int
	meaning string
	loaded  bool // it holds after the load only: each delivery breaks it
	query   string
}

// delivered is the sum of the delivered order lines of each customer.
const delivered = "(SELECT o_d_id, o_c_id, SUM(ol_amount) AS amount FROM orders" +
	" JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id" +
	" WHERE o_w_id = W AND ol_delivery_d IS NOT NULL GROUP BY o_d_id, o_c_id) AS delivered ON o_d_id = c_d_id AND o_c_id = c_id"

// conditions are all of them, by their numbers.
var conditions = []condition{
	{
		1, "what a warehouse took in is what its districts took in", false,
		"SELECT COUNT(*) FROM warehouse WHERE w_id = W AND w_ytd <> (SELECT COALESCE(SUM(d_ytd), 0) FROM district WHERE d_w_id = W)",
	},
	{
		2, "the next number of an order follows the newest order and new order of the district", false,
		"SELECT COUNT(*) FROM district" +
			" LEFT JOIN (SELECT o_d_id, MAX(o_id) AS newest FROM orders WHERE o_w_id = W GROUP BY o_d_id) AS o ON o_d_id = d_id" +
			" LEFT JOIN (SELECT no_d_id, MAX(no_o_id) AS newest FROM new_order WHERE no_w_id = W GROUP BY no_d_id) AS n ON no_d_id = d_id" +
			" WHERE d_w_id = W AND (o.newest IS NULL OR o.newest <> d_next_o_id - 1 OR n.newest <> d_next_o_id - 1)",
	},
	{
		3, "new orders of a district are numbered without gaps", false,
		"SELECT COUNT(*) FROM (SELECT no_d_id FROM new_order WHERE no_w_id = W GROUP BY no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) AS gaps",
	},
	{
		4, "a district has as many order lines as its orders say", false,
		"SELECT COUNT(*) FROM (SELECT o_d_id, SUM(o_ol_cnt) AS said FROM orders WHERE o_w_id = W GROUP BY o_d_id) AS o" +
			" LEFT JOIN (SELECT ol_d_id, COUNT(*) AS found FROM order_line WHERE ol_w_id = W GROUP BY ol_d_id) AS l ON ol_d_id = o_d_id" +
			" WHERE found IS NULL OR found <> said",
	},
	{
		5, "an order without a carrier is a new order, and no other is", false,
		"SELECT COUNT(*) FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id" +
			" WHERE o_w_id = W AND (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
	},
	{
		6, "an order has as many lines as it says", false,
		"SELECT COUNT(*) FROM orders LEFT JOIN (SELECT ol_d_id, ol_o_id, COUNT(*) AS found FROM order_line WHERE ol_w_id = W GROUP BY ol_d_id, ol_o_id) AS l" +
			" ON ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_w_id = W AND (found IS NULL OR found <> o_ol_cnt)",
	},
	{
		7, "a line has a date of delivery if its order has a carrier", false,
		"SELECT COUNT(*) FROM order_line LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id" +
			" WHERE ol_w_id = W AND (o_id IS NULL OR (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL))",
	},
	{
		8, "what a warehouse took in is what the history says", false,
		"SELECT COUNT(*) FROM warehouse WHERE w_id = W AND w_ytd <> (SELECT COALESCE(SUM(h_amount), 0) FROM history WHERE h_w_id = W)",
	},
	{
		9, "what a district took in is what the history says", false,
		"SELECT COUNT(*) FROM district LEFT JOIN (SELECT h_d_id, SUM(h_amount) AS paid FROM history WHERE h_w_id = W GROUP BY h_d_id) AS h ON h_d_id = d_id" +
			" WHERE d_w_id = W AND d_ytd <> COALESCE(paid, 0)",
	},
	{
		10, "what a customer owes is what was delivered less what was paid", false,
		"SELECT COUNT(*) FROM customer LEFT JOIN " + delivered +
			" LEFT JOIN (SELECT h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history WHERE h_c_w_id = W GROUP BY h_c_d_id, h_c_id) AS h ON h_c_d_id = c_d_id AND h_c_id = c_id" +
			" WHERE c_w_id = W AND c_balance <> COALESCE(amount, 0) - COALESCE(paid, 0)",
	},
	{
		11, "of the orders of a district all but 2100 are new", true,
		"SELECT COUNT(*) FROM (SELECT o_d_id, COUNT(*) AS orders FROM orders WHERE o_w_id = W GROUP BY o_d_id) AS o" +
			" LEFT JOIN (SELECT no_d_id, COUNT(*) AS fresh FROM new_order WHERE no_w_id = W GROUP BY no_d_id) AS n ON no_d_id = o_d_id" +
			" WHERE o.orders - COALESCE(fresh, 0) <> 2100",
	},
	{
		12, "what a customer owes and has paid is what was delivered", false,
		"SELECT COUNT(*) FROM customer LEFT JOIN " + delivered + " WHERE c_w_id = W AND c_balance + c_ytd_payment <> COALESCE(amount, 0)",
	},
}

// checkConditions tests the conditions of all warehouses, one by one so that the
// server's temporary tables stay small. loaded is true just after the load.
func (c *config) checkConditions(conn *client.Conn, loaded bool, tested func()) error {
	for warehouse := int64(1); warehouse <= c.warehouses; warehouse++ {
		for i := range conditions {
			if conditions[i].loaded && !loaded {
				continue
			}
			if err := conditions[i].check(conn, warehouse); err != nil {
				return err
			}
			tested()
		}
	}
	return nil
}

func (c *condition) check(conn *client.Conn, warehouse int64) error {
	broken, err := conn.Int(strings.ReplaceAll(c.query, "= W", fmt.Sprintf("= %d", warehouse)))
	if err != nil {
		return fmt.Errorf("condition %d: %w", c.number, err)
	}
	if broken > 0 {
		return fmt.Errorf("warehouse %d breaks condition 3.3.2.%d of the specification in %d places: %s", warehouse, c.number, broken, c.meaning)
	}
	return nil
}

// rowsEach is how many rows a warehouse has after the load. The lines of orders
// are 5 to 15 each, which condition 6 counts.
var rowsEach = []struct {
	table string
	rows  int64
}{
	{"warehouse", 1}, {"district", 10}, {"customer", 30000}, {"history", 30000}, {"new_order", 9000}, {"orders", 30000}, {"stock", 100000},
}

// items is the number of items, whatever the number of warehouses.
const items = 100000

// checkRows counts the rows after the load.
func (c *config) checkRows(conn *client.Conn) error {
	for _, want := range rowsEach {
		if err := checkCount(conn, want.table, want.rows*c.warehouses); err != nil {
			return err
		}
	}
	return checkCount(conn, "item", items)
}

func checkCount(conn *client.Conn, table string, want int64) error {
	got, err := conn.Int("SELECT COUNT(*) FROM " + table)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("table %s has %d rows, not %d: the program leaves out rows that it cannot insert, without a word", table, got, want)
	}
	return nil
}

// rows returns how many rows the load has made.
func (c *config) rows(conn *client.Conn) (int64, error) {
	lines, err := conn.Int("SELECT COALESCE(SUM(o_ol_cnt), 0) FROM orders")
	if err != nil {
		return 0, err
	}
	rows := lines + items
	for _, each := range rowsEach {
		rows += each.rows * c.warehouses
	}
	return rows, nil
}
