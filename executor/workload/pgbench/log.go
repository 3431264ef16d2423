package pgbench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dbmatrix/executor/workload"
)

// A log is the folder in which the program writes the time of each transaction,
// one file for each of its threads. A log without a folder is none.
type log struct{ dir string }

// newLog makes the folder, in the run's scratch directory, if it is wanted.
func (b *benchmark) newLog(t workload.Target) (*log, error) {
	if !b.responseTimes {
		return &log{}, nil
	}
	dir, err := os.MkdirTemp(t.Dir, "pgbench-log-")
	if err != nil {
		return nil, fmt.Errorf("making the folder for the times of transactions: %w", err)
	}
	return &log{dir}, nil
}

// remove removes the folder, which may be large. One that cannot be removed goes
// with the scratch directory.
func (l *log) remove() {
	if l.dir != "" {
		_ = os.RemoveAll(l.dir)
	}
}

// read records the response times. It compares their number with the report's.
func (l *log) read(r *workload.Recorder, start time.Time, out *report) error {
	if l.dir == "" {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(l.dir, "pgbench_log.*"))
	if err != nil {
		return err
	}
	s := &logReader{recorder: r, start: start, tracks: map[int]*workload.Track{}}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = s.read(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	if float64(s.done) != out.values["transactions"] {
		return fmt.Errorf("the log tells of %d transactions, the report of %.0f", s.done, out.values["transactions"])
	}
	return nil
}

// A logReader records the lines of the log as operations of the clients.
type logReader struct {
	recorder *workload.Recorder
	start    time.Time
	tracks   map[int]*workload.Track
	done     int64
}

var transaction = workload.Operation{Name: "transaction", Rate: "tps"}

func (s *logReader) read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		client, end, took, done, err := parseLogLine(lines.Text())
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		s.done++
		track := s.tracks[client]
		if track == nil {
			track = s.recorder.Track(transaction, client+1)
			s.tracks[client] = track
		}
		at := max(0, end.Sub(s.start))
		track.Done(1, at-took, at)
	}
	return lines.Err()
}

// longestAge bounds what the time of a line may be: no run lasts longer.
const longestAge = 100 * 365 * 24 * time.Hour

// parseLogLine reads a line: client, number of the transaction, its time in
// microseconds or why it has none, script, and when it ended in seconds and
// microseconds; with a rate or retries there is more. Transactions that were
// skipped or failed were not done.
func parseLogLine(line string) (client int, end time.Time, took time.Duration, done bool, err error) {
	fields := strings.Fields(line)
	if len(fields) < 6 || len(fields) > 8 {
		return 0, end, 0, false, fmt.Errorf("a line of no known form: %q", line)
	}
	var numbers [6]int64
	for i := range numbers {
		if i == 2 {
			switch fields[i] {
			case "skipped", "failed", "serialization", "deadlock":
				continue
			}
			done = true
		}
		if numbers[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil || numbers[i] < 0 {
			return 0, end, 0, false, fmt.Errorf("a line of no known form: %q", line)
		}
	}
	const mostClients, microsecond = 1 << 20, int64(time.Microsecond)
	if numbers[0] > mostClients || numbers[2] > int64(longestAge)/microsecond || numbers[4] > int64(longestAge/time.Second) || numbers[5] >= 1e6 {
		return 0, end, 0, false, fmt.Errorf("a line of no known form: %q", line)
	}
	return int(numbers[0]), time.Unix(numbers[4], numbers[5]*microsecond), time.Duration(numbers[2] * microsecond), done, nil
}
