package executor

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"dbmatrix/matrix"
)

// Adjustments of the kernel's choice of whom to kill when memory runs out
// (proc_pid_oom_score_adj(5)): the server, which takes most of it, rather than
// the runner, which records why.
const (
	runnerScore = -500 // needs root
	serverScore = 300
)

// setScore sets the adjustment of a process of ours. Where that is not allowed,
// the kernel chooses as it does.
func setScore(pid, score int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(strconv.Itoa(score)), 0)
}

// memoryKills returns how many processes the kernel has killed for lack of memory
// since the boot; 0 where it does not tell.
func memoryKills() int {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(count))
			return n
		}
	}
	return 0
}

// crashed returns the failure of a server that has ended. One that the kernel
// killed for lack of memory has no word of it in its own log.
func (ph *phaseRun) crashed() *failure {
	f := &failure{status: matrix.Crashed, err: fmt.Errorf("%s", ph.subject.Crash())}
	if ph.subject.Exit().Signal != syscall.SIGKILL {
		return f
	}
	cause := ""
	if line := ph.kernel.victim(ph.subject.PID()); line != "" {
		cause = "the kernel killed the server for lack of memory: " + line
	} else if n := memoryKills() - ph.memoryKills; n > 0 {
		cause = fmt.Sprintf("the server was killed while the kernel killed %d processes of this host for lack of memory", n)
	}
	if cause == "" {
		return f
	}
	f.details = append(strings.Split(f.Error(), "\n"), f.details...)
	f.err = fmt.Errorf("%s; lower its buffer pool or cache, or raise the limit of its memory", cause)
	return f
}
