package workloadtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// A Block is the attributes of a workload block, by name; those that are not
// there have their defaults.
type Block map[string]any

// with returns the block with further attributes.
func (b Block) with(more Block) Block {
	all := Block{}
	for name, value := range b {
		all[name] = value
	}
	for name, value := range more {
		all[name] = value
	}
	return all
}

// A Suite is what every workload must pass that makes data of its own and then
// works on it.
type Suite struct {
	Type workload.Type

	// Prepare makes the data. Others are changes to it that must make the
	// same data, such as another number of clients; Seed is one that must
	// make other data, nil where the data has no seed.
	Prepare Block
	Others  []Block
	Seed    Block

	// Data is a query that tells all of the data in a few values, such as
	// counts and checksums. It is asked in Database, which a server of MySQL or
	// MariaDB need not be told.
	Data, Database string

	// Work takes much longer than the test waits before it interrupts, or
	// takes the work's connections away. Interrupts is how often it does the
	// first, at random moments.
	Work       Block
	Interrupts int
}

// Run runs the suite against a server.
func (s Suite) Run(t *testing.T, target workload.Target) {
	t.Run("same data", func(t *testing.T) { s.sameData(t, target) })
	t.Run("interrupt", func(t *testing.T) { s.interrupt(t, target) })
	s.LoseConnections(t, target)
}

// LoseConnections takes the connections from the work.
func (s Suite) LoseConnections(t *testing.T, target workload.Target) {
	t.Run("lost connections", func(t *testing.T) { s.lose(t, target, func() { killConnections(t, target) }) })
}

// LoseServer kills the server under the work. It is of no use after that.
func (s Suite) LoseServer(t *testing.T, target workload.Target) {
	t.Run("lost server", func(t *testing.T) {
		pid := PID(t, target)
		ending := syscall.SIGKILL
		if target.Flavour == "postgres" {
			ending = syscall.SIGQUIT // it takes its processes along
		}
		s.lose(t, target, func() { _ = syscall.Kill(pid, ending) })
	})
}

// sameData makes the data again and again: the second time over the first.
func (s Suite) sameData(t *testing.T, target workload.Target) {
	Do(t, s.Type, target, s.Prepare)
	want := s.data(t, target)
	for _, change := range append([]Block{{}}, s.Others...) {
		Do(t, s.Type, target, s.Prepare.with(change))
		if diff := cmp.Diff(want, s.data(t, target)); diff != "" {
			t.Errorf("with %v the data is another (-want +got):\n%s", change, diff)
		}
	}
	if s.Seed == nil {
		return
	}
	Do(t, s.Type, target, s.Prepare.with(s.Seed))
	if s.data(t, target) == want {
		t.Errorf("with %v the data is the same:\n%s", s.Seed, want)
	}
}

func (s Suite) data(t *testing.T, target workload.Target) string {
	t.Helper()
	conn, err := client.Open(t.Context(), target, s.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, rows, err := conn.Rows(s.Data)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, "\t") + "\n")
	}
	return b.String()
}

// endTimeout is how long an interrupted workload may take to end.
const endTimeout = 10 * time.Second

// interrupt breaks off prepare and work at random moments. Nothing may run on
// after that, and the next prepare must work as if nothing had been.
func (s Suite) interrupt(t *testing.T, target workload.Target) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range s.Interrupts {
		block, longest := s.Prepare, 300*time.Millisecond
		if i%2 == 1 {
			Do(t, s.Type, target, s.Prepare)
			block, longest = s.Work, time.Second
		}
		after := time.Duration(random.Int64N(int64(longest)))
		ctx, cancel := context.WithTimeoutCause(t.Context(), after, context.Canceled)
		started := time.Now()
		_, err := Try(ctx, t, s.Type, target, block)
		cancel()
		took := time.Since(started)
		if err == nil && took > after+time.Second {
			t.Errorf("interrupted after %s, the workload ended without an error after %s", after, took)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted after %s: the error is %v, not the interrupt", after, err)
		}
		if took > after+endTimeout {
			t.Errorf("interrupted after %s, the workload ended after %s", after, took)
		}
		if left := Processes(t, target); len(left) > 0 {
			t.Errorf("interrupted after %s: the server still has the connections %v", after, left)
		}
	}
	Do(t, s.Type, target, s.Prepare)
}

// lose takes from a work what it needs, again and again: it must end soon, with an
// error that is not an interrupt.
func (s Suite) lose(t *testing.T, target workload.Target, take func()) {
	w, err := s.Type.New(Args(t, s.Type, s.Work))
	if err != nil {
		t.Fatal(err)
	}
	r := workload.NewRecorder(t.TempDir(), workload.Hooks{})
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context(), target, r) }()
	for deadline := time.Now().Add(startTimeout); r.Elapsed() == 0; time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("%v ended before it began: %v", s.Work, err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v does not begin", s.Work)
		}
	}
	time.Sleep(200 * time.Millisecond) // it is in the midst of it
	for deadline := time.Now().Add(endTimeout + killTimeout); ; time.Sleep(20 * time.Millisecond) {
		take()
		select {
		case err := <-ended:
			if err == nil || errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v", err)
			}
			return
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("the work goes on, as if nothing had been lost")
		}
	}
}

// killTimeout is how long a workload may try to end what it has left in a server
// that does not answer.
const killTimeout = 10 * time.Second

// killConnections ends all connections of others in the server.
func killConnections(t *testing.T, target workload.Target) {
	conn, err := client.Open(t.Context(), target, "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.Postgres() {
		_, _, err := conn.Rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND client_port IS NOT NULL")
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	_, rows, err := conn.Rows("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND command <> 'Daemon' AND user <> 'system user'")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		_, _ = conn.Exec("KILL " + row[0]) // it may have ended by itself
	}
}

// Do runs a workload that must not fail and returns its result.
func Do(t testing.TB, typ workload.Type, target workload.Target, block Block) workload.Result {
	t.Helper()
	result, err := Try(t.Context(), t, typ, target, block)
	if err != nil {
		t.Fatalf("%s %v: %v", typ.Name, block, err)
	}
	return result
}

// Try runs a workload.
func Try(ctx context.Context, t testing.TB, typ workload.Type, target workload.Target, block Block) (workload.Result, error) {
	t.Helper()
	w, err := typ.New(Args(t, typ, block))
	if err != nil {
		t.Fatalf("%s %v: %v", typ.Name, block, err)
	}
	r := workload.NewRecorder(t.TempDir(), workload.Hooks{})
	err = w.Run(ctx, target, r)
	return r.Result(), err
}

// Metric returns a metric that must be there.
func Metric(t testing.TB, result workload.Result, name string) float64 {
	t.Helper()
	value, ok := result.Metric(name)
	if !ok {
		t.Fatalf("there is no metric %s among %v", name, result.Metrics)
	}
	return value
}
