package client_test

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/executor/workload/workloadtest"
)

// BenchmarkPointSelect is prepared point selects over the unix socket, beside those
// of a client written in C on the same server and table: sysbench, and pgbench
// for PostgreSQL. It reports the client's rate and its CPU time of a query, and
// both in shares of the other's: medians of pairs, each of which runs one
// straight after the other.
func BenchmarkPointSelect(b *testing.B) {
	b.Run("mariadb", func(b *testing.B) {
		if _, err := exec.LookPath("sysbench"); err != nil {
			workloadtest.Missing(b, "sysbench")
		}
		target := workloadtest.Start(b)
		conn := open(b, target)
		execute(b, conn, "CREATE DATABASE sbtest")
		sysbench(b, target, 1, "prepare")
		reads := reads{"sbtest", "SELECT c FROM sbtest1 WHERE id = ?"}
		besides(b, target, reads, "sysbench", func(clients int) (rate, cpu float64) { return sysbench(b, target, clients, "run") })
	})
	b.Run("postgres", func(b *testing.B) {
		program := filepath.Join(workloadtest.PostgresPrograms(b), "pgbench")
		target := workloadtest.StartPostgres(b)
		pgbench(b, program, target, "-i", "-q")
		reads := reads{"postgres", "SELECT abalance FROM pgbench_accounts WHERE aid = $1"}
		besides(b, target, reads, "pgbench", func(clients int) (rate, cpu float64) {
			number := strconv.Itoa(clients)
			return pgbench(b, program, target, "-S", "-n", "-M", "prepared", "-c", number, "-j", number, "-T", strconv.Itoa(int(benchTime.Seconds())))
		})
	})
}

// reads are point selects of keys from 1 to benchRows.
type reads struct{ database, statement string }

// besides compares the client with another program.
func besides(b *testing.B, target workload.Target, r reads, program string, theirs func(clients int) (rate, cpu float64)) {
	for _, clients := range []int{1, 2, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			var rates, cpus, rateRatios, cpuRatios []float64
			for b.Loop() {
				for range benchPairs {
					rate, cpu := pointSelects(b, target, r, clients)
					theirRate, theirCPU := theirs(clients)
					rates, cpus = append(rates, rate), append(cpus, cpu)
					rateRatios, cpuRatios = append(rateRatios, rate/theirRate), append(cpuRatios, cpu/theirCPU)
				}
			}
			b.ReportMetric(median(rates), "queries/s")
			b.ReportMetric(median(cpus), "cpu-us/query")
			b.ReportMetric(median(rateRatios), "rate/"+program)
			b.ReportMetric(median(cpuRatios), "cpu/"+program)
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

const (
	benchRows  = 100000
	benchTime  = 2 * time.Second
	benchPairs = 5
)

func pointSelects(b *testing.B, target workload.Target, reads reads, clients int) (rate, cpu float64) {
	conns, err := client.OpenAll(b.Context(), target, reads.database, clients)
	if err != nil {
		b.Fatal(err)
	}
	defer client.CloseAll(conns)
	r := workload.NewRecorder("", workload.Hooks{})
	var total atomic.Int64
	var workers []client.Worker
	for i, conn := range conns {
		stmt, err := conn.Prepare(reads.statement)
		if err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, uint64(i)))
		track := r.Track(workload.Operation{Name: "select"}, i+1)
		workers = append(workers, client.Worker{Conn: conn, Work: func(gate *client.Gate) error {
			n := int64(0)
			defer func() { total.Add(n) }()
			var key int64
			args := []driver.Value{&key}
			for !gate.Stopped() {
				started := r.Elapsed()
				if started >= benchTime {
					return nil
				}
				key = 1 + random.Int64N(benchRows)
				if _, err := stmt.Query(args, nil); err != nil {
					return err
				}
				track.Done(1, started, r.Elapsed())
				n++
			}
			return nil
		}})
	}
	before := cpuTime(b, syscall.RUSAGE_SELF)
	if err := client.Run(b.Context(), r.Begin, r.End, workers); err != nil {
		b.Fatal(err)
	}
	used := cpuTime(b, syscall.RUSAGE_SELF) - before
	n := float64(total.Load())
	result := r.Result()
	return n / result.End.Sub(result.Start).Seconds(), used.Seconds() * 1e6 / n
}

var queryCount = regexp.MustCompile(`queries: +(\d+) +\(([\d.]+) per sec`)

func sysbench(b *testing.B, target workload.Target, clients int, step string) (rate, cpu float64) {
	cmd := exec.CommandContext(b.Context(), "sysbench", "--db-driver=mysql", "--mysql-socket="+target.Socket, "--mysql-user=root",
		"--table_size="+strconv.Itoa(benchRows), "--threads="+strconv.Itoa(clients), "--time="+strconv.Itoa(int(benchTime.Seconds())),
		"--rand-type=uniform", "oltp_point_select", step)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		b.Fatal(err, out.String())
	}
	if step == "prepare" {
		return 0, 0
	}
	match := queryCount.FindStringSubmatch(out.String())
	n, _ := strconv.ParseFloat(match[1], 64)
	rate, _ = strconv.ParseFloat(match[2], 64)
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return rate, used.Seconds() * 1e6 / n
}

var (
	transactionCount = regexp.MustCompile(`number of transactions actually processed: (\d+)`)
	transactionRate  = regexp.MustCompile(`tps = ([\d.]+) \(without initial`)
)

// pgbench runs pgbench with the arguments; its table has benchRows rows.
func pgbench(b *testing.B, program string, target workload.Target, args ...string) (rate, cpu float64) {
	args = append(args, "-h", filepath.Dir(target.Socket), "-U", target.User, "postgres")
	cmd := exec.CommandContext(b.Context(), program, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatal(err, string(out))
	}
	count, perSecond := transactionCount.FindSubmatch(out), transactionRate.FindSubmatch(out)
	if count == nil || perSecond == nil {
		return 0, 0 // the table was made
	}
	n, _ := strconv.ParseFloat(string(count[1]), 64)
	rate, _ = strconv.ParseFloat(string(perSecond[1]), 64)
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return rate, used.Seconds() * 1e6 / n
}

func cpuTime(b *testing.B, who int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
