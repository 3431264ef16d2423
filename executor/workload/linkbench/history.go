package linkbench

import "math/rand/v2"

// maxHistory is how many lists a requester remembers.
const maxHistory = 2048

// A history is the lists that were longer than what is read of a list at once,
// each with the time of the last link that was read.
type history struct {
	tails []tail
	index map[list]int
}

type list struct{ id, typ int64 }

type tail struct {
	list
	time int64
}

// older makes a request for the links that follow on a list that is known.
// It reports false where none is.
func (h *history) older(r *request, random *rand.Rand) bool {
	if len(h.tails) == 0 {
		return false
	}
	t := h.tails[random.IntN(len(h.tails))]
	r.id, r.typ, r.newest = t.id, t.typ, t.time
	r.skip = 1 // the last link itself
	return true
}

// read takes note of a list that was read.
func (h *history) read(r *request, random *rand.Rand) {
	key := list{r.id, r.typ}
	at, known := h.index[key]
	full := r.rows >= listLimit
	switch {
	case known && r.skip == 0: // the head of a list says nothing of its tail
	case known && full:
		h.tails[at].time = r.oldest
	case known:
		h.remove(at)
	case full:
		if len(h.tails) == maxHistory {
			h.remove(random.IntN(len(h.tails)))
		}
		if h.index == nil {
			h.index = map[list]int{}
		}
		h.index[key] = len(h.tails)
		h.tails = append(h.tails, tail{key, r.oldest})
	}
}

// remove forgets a list; the last one takes its place.
func (h *history) remove(at int) {
	delete(h.index, h.tails[at].list)
	last := len(h.tails) - 1
	if at != last {
		h.tails[at] = h.tails[last]
		h.index[h.tails[at].list] = at
	}
	h.tails = h.tails[:last]
}
