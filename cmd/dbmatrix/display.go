package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"dbmatrix/executor"
	"dbmatrix/matrix"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// A display shows the progress of a plan.
type display struct {
	event func(executor.Event)
	close func()
}

// newDisplay returns bars on a terminal, lines elsewhere, failures alone when
// quiet.
func newDisplay(s *streams, p *matrix.Plan, pending []*matrix.Run) display {
	if isTerminal(s.err) && !s.quiet && !s.verbose {
		b := newBars(s, p.Experiment.Name, pending)
		return display{b.event, b.close}
	}
	l := &lines{s: s, out: s.err}
	return display{l.event, func() {}}
}

// lines prints one line for each event.
type lines struct {
	s   *streams
	out io.Writer
}

// event prints an event, if it is of interest at this level of detail.
func (l *lines) event(ev executor.Event) {
	text := lineOf(l.s, ev)
	if text == "" {
		return
	}
	fmt.Fprintf(l.out, "%s %s\n", ev.Time.Format("15:04:05"), text)
}

// lineOf words an event; it is "" for one that is not shown.
func lineOf(s *streams, ev executor.Event) string {
	if ev.Kind == executor.Failure {
		return failureText(s, ev.Run, "", ev.Status, ev.Message, ev.Details)
	}
	if s.quiet {
		return ""
	}
	where := ""
	if ev.Run != nil {
		where = fmt.Sprintf("%s, replicate %d: ", cellName(ev.Run.Cell.Key), ev.Run.Replicate)
	}
	switch ev.Kind {
	case executor.PlanStart, executor.Recovered, executor.Notice, executor.Finishing:
		return where + ev.Message
	case executor.RunStart:
		return fmt.Sprintf("%sattempt %d begins", where, ev.Attempt)
	case executor.PhaseEnd:
		return fmt.Sprintf("%s%s %s after %s", where, ev.Phase.Block, ev.Status, ev.Took.Round(10*time.Millisecond))
	case executor.RunEnd:
		if ev.Status == matrix.Skipped {
			return where + "skipped: " + ev.Message
		}
		return fmt.Sprintf("%s%s after %s", where, ev.Status, ev.Took.Round(10*time.Millisecond))
	}
	if !s.verbose {
		return ""
	}
	switch ev.Kind {
	case executor.Step:
		return where + ev.Message
	case executor.PhaseStart:
		return where + ev.Phase.Block + " begins"
	case executor.IterationEnd:
		return fmt.Sprintf("%s%s, iteration %d: %s after %s", where, ev.Phase.Block, ev.Iteration, ev.Status, ev.Took.Round(10*time.Millisecond))
	}
	return ""
}

// bars shows three bars: the plan with its ETA, the run, the phase with its rate.
type bars struct {
	s        *streams
	progress *mpb.Progress

	mu      sync.Mutex
	plan    *mpb.Bar
	run     *mpb.Bar
	phase   *mpb.Bar
	name    string // of the run
	step    string // of the run
	live    executor.Live
	stage   string
	began   time.Time
	runs    int // to execute
	done    int
	seconds float64 // that the runs to execute take by the plan's estimate; 0: unknown
	passed  float64 // of those, that are done
}

// newBars returns bars on the terminal, for the runs to be executed.
func newBars(s *streams, name string, pending []*matrix.Run) *bars {
	b := &bars{s: s, began: time.Now()}
	b.progress = mpb.New(mpb.WithOutput(s.err), mpb.WithWidth(40), mpb.WithRefreshRate(250*time.Millisecond))
	b.runs = len(pending)
	for _, r := range pending {
		b.seconds += runSeconds(r)
	}
	b.plan = b.bar(int64(max(1, b.runs)), func() string { return name }, b.eta)
	b.run = b.bar(1, func() string { return b.name }, func() string { return b.step })
	b.phase = b.bar(1000, func() string { return b.stage }, b.rate)
	return b
}

// runSeconds is how long a run is expected to take.
func runSeconds(r *matrix.Run) float64 {
	var sum float64
	for _, p := range r.Phases {
		if p.From == 0 && p.Status != matrix.Done {
			sum += p.Seconds
		}
	}
	return sum
}

// bar adds a bar with a text before and after it.
func (b *bars) bar(total int64, before, after func() string) *mpb.Bar {
	locked := func(text func() string) decor.Decorator {
		return decor.Any(func(decor.Statistics) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return text()
		}, decor.WC{C: decor.DSyncWidthR | decor.DextraSpace})
	}
	return b.progress.AddBar(total, mpb.PrependDecorators(locked(before)), mpb.AppendDecorators(locked(after)))
}

// event moves the bars.
func (b *bars) event(ev executor.Event) {
	switch ev.Kind {
	case executor.Failure, executor.Recovered, executor.Notice, executor.Finishing:
		// Lines go above the bars; a terminal that is gone has no reader.
		_, _ = fmt.Fprintf(b.progress, "%s\n", lineOf(b.s, ev))
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev.Kind {
	case executor.RunStart:
		b.name = fmt.Sprintf("%s #%d", cellName(ev.Run.Cell.Key), ev.Run.Replicate)
		b.run.SetTotal(int64(len(ev.Run.Phases)+1), false)
		b.run.SetCurrent(0)
	case executor.Step:
		b.step = ev.Message
	case executor.PhaseStart:
		b.step, b.stage, b.live = ev.Phase.Block, ev.Phase.Block, executor.Live{}
		b.phase.SetCurrent(0)
	case executor.Progress:
		b.live = ev.Live
		b.stage = fmt.Sprintf("%s.%d %s", ev.Phase.Block, ev.Iteration, ev.Message)
		if left, ok := ev.Live.Remaining(); ok && ev.Live.Elapsed+left > 0 {
			b.phase.SetCurrent(int64(999 * float64(ev.Live.Elapsed) / float64(ev.Live.Elapsed+left)))
		}
	case executor.PhaseEnd:
		b.run.Increment()
	case executor.RunEnd:
		b.done++
		b.passed += runSeconds(ev.Run)
		b.plan.SetCurrent(int64(min(b.done, max(0, b.runs-1))))
	}
}

// eta words how much is left of the plan.
func (b *bars) eta() string {
	text := fmt.Sprintf("%d of %s", b.done, count(b.runs, "run"))
	elapsed := time.Since(b.began)
	switch {
	case b.seconds > 0 && b.passed > 0:
		left := time.Duration(float64(elapsed) * (b.seconds - b.passed) / b.passed)
		return text + ", " + left.Round(time.Second).String() + " left"
	case b.seconds > 0:
		return text + ", about " + time.Duration(b.seconds*float64(time.Second)).Round(time.Second).String()
	case b.done > 0:
		left := elapsed * time.Duration(b.runs-b.done) / time.Duration(b.done)
		return text + ", " + left.Round(time.Second).String() + " left"
	}
	return text
}

// rate words the live rate of the phase.
func (b *bars) rate() string {
	if b.live.Unit == "" {
		return ""
	}
	return fmt.Sprintf("%.0f %s/s", b.live.Rate, b.live.Unit)
}

// close takes the bars away.
func (b *bars) close() {
	for _, bar := range []*mpb.Bar{b.plan, b.run, b.phase} {
		bar.Abort(true)
	}
	b.progress.Wait()
}
