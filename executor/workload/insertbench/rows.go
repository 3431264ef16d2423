package insertbench

import (
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ranges of the columns: values are uniform in [0, n).
const (
	cashRegisters = 1000
	customers     = 100000
	products      = 10000
	priceSpread   = 500 // of a whole price; another is (U x 500 + customerid) / 100
)

// A dataShape says how values of the column data look.
type dataShape struct {
	shortest, longest int // bytes
	random            int // percent
}

// randomPart returns how much of a value of that length is random: three
// quarters of the share, rounded down.
func (s *dataShape) randomPart(length int) int { return length * 3 * s.random / 400 }

// randomText is how many random bytes are encoded to the text that values of
// the column data are cut from.
const randomText = 4 << 20

// newRandomText returns the text that random parts of values are cut from. All
// clients share it; it depends on the seed alone.
func newRandomText(seed int64) []byte {
	raw := make([]byte, randomText)
	source := rand.NewPCG(uint64(seed), streamText)
	for i := 0; i < len(raw); i += 8 {
		binary.LittleEndian.PutUint64(raw[i:], source.Uint64())
	}
	text := hugePages(base64.StdEncoding.EncodedLen(len(raw)))
	base64.StdEncoding.Encode(text, raw)
	return text
}

// hugePages returns memory for which the kernel is asked for pages of 2 MiB. Rows
// read it at random places: with small pages, looking up where each of them is
// takes longer than reading it. Where there are no such pages it is as any other.
func hugePages(length int) []byte {
	const page = 2 << 20
	memory := make([]byte, length+page)
	skipped := int(-uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % page)
	memory = memory[skipped : skipped+length]
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE)
	return memory
}

// Streams keep the random numbers of different uses apart.
const (
	streamText  = 0x7465787400000000
	streamLoad  = 0x6c6f616400000000
	streamWrite = 0x7772697400000000
	streamRead  = 0x7265616400000000
	streamIndex = 0x696e646578000000
)

// A generator makes rows, and the values of queries. It allocates nothing.
type generator struct {
	source rand.PCG
	text   []byte // newRandomText
	shape  dataShape
	whole  bool // prices are whole, as in the modern profile

	// offsets are where in text the random parts of a batch begin.
	offsets []int
	touched byte // keeps the reads of draw from being left out
}

// start begins the batch of that number in a stream. Batches are independent of
// each other, so that any client can make any of them.
func (g *generator) start(seed int64, stream, batch uint64) {
	// Each word is mixed before the next is added to it, so that no two
	// triples meet, and neighbours are far apart from the first number on.
	key := mix(uint64(seed) + mix(stream))
	g.source.Seed(key, mix(batch+mix(key)))
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a uniform number in [0, n). The product of a 64-bit random
// number with n has n's share in its upper word; the bias is below n/2^64.
func (g *generator) below(n uint64) uint64 {
	high, _ := bits.Mul64(g.source.Uint64(), n)
	return high
}

// price returns a price in hundredths.
func (g *generator) price(customer uint64) uint64 {
	if g.whole {
		return 100 * g.below(priceSpread)
	}
	return g.hundredths(customer)
}

// hundredths returns a price of the given customer in hundredths: it is
// (U x 500 + customerid) / 100, with two decimals.
func (g *generator) hundredths(customer uint64) uint64 {
	// To the nearest hundredth: the spread in units of a thousandth part.
	return customer + (g.below(priceSpread*1000)+500)/1000
}

// pairs are the numbers of two digits.
const pairs = "0001020304050607080910111213141516171819" +
	"2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" +
	"6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

// appendNumber writes a number below a million. Four of them are in a row: with
// strconv, which takes numbers of any size, making a row took a quarter longer.
func appendNumber(b []byte, n uint64) []byte {
	switch {
	case n < 10:
		return append(b, byte('0'+n))
	case n < 100:
		return append(b, pairs[2*n], pairs[2*n+1])
	}
	high, low := n/100, n%100
	switch {
	case high < 10:
		return append(b, byte('0'+high), pairs[2*low], pairs[2*low+1])
	case high < 100:
		return append(b, pairs[2*high], pairs[2*high+1], pairs[2*low], pairs[2*low+1])
	}
	return append(appendNumber(b, high), pairs[2*low], pairs[2*low+1])
}

// appendPrice writes a price in hundredths with its two decimals.
func appendPrice(b []byte, hundredths uint64) []byte {
	cents := hundredths % 100
	return append(appendNumber(b, hundredths/100), '.', pairs[2*cents], pairs[2*cents+1])
}

// appendRow writes the values of one row: dateandtime, cashregisterid,
// customerid, productid, price, data.
func (g *generator) appendRow(b, now []byte, offset int) []byte {
	b = append(append(append(b, "('"...), now...), "',"...)
	b = append(appendNumber(b, g.below(cashRegisters)), ',')
	customer := g.below(customers)
	b = append(appendNumber(b, customer), ',')
	b = append(appendNumber(b, g.below(products)), ',')
	b = append(appendPrice(b, g.price(customer)), ",'"...)
	return append(g.appendData(b, offset), "')"...)
}

// letters are what a value of the column data begins with.
const letters = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// appendData writes a value of the column data: letters a, then the text at
// offset.
func (g *generator) appendData(b []byte, offset int) []byte {
	length := g.shape.shortest + int(g.below(uint64(g.shape.longest-g.shape.shortest+1)))
	random := g.shape.randomPart(length)
	left := length - random
	for ; left > len(letters); left -= len(letters) {
		b = append(b, letters...)
	}
	return append(append(b, letters[:left]...), g.text[offset:offset+random]...)
}

// draw draws the offsets of a batch and reads each place once. The text is
// larger than a processor's cache: these reads do not wait for each other, as
// those of row after row would, which took half of the client's time.
func (g *generator) draw(rows int64) {
	places := uint64(len(g.text) - g.shape.randomPart(g.shape.longest) + 1)
	g.offsets = g.offsets[:0]
	for range rows {
		at := int(g.below(places))
		g.offsets = append(g.offsets, at)
		g.touched ^= g.text[min(at, len(g.text)-1)]
	}
}

// insertHead is what stands before the rows of a batch; the table's name comes
// in between.
const (
	insertHead    = "INSERT INTO "
	insertColumns = " (dateandtime,cashregisterid,customerid,productid,price,data) VALUES "
	timeLayout    = "2006-01-02 15:04:05"
)

// appendInsert writes the INSERT of a batch of rows. The time is the same in all
// rows of a batch, in the client's zone.
func (g *generator) appendInsert(b []byte, table string, rows int64, now time.Time) []byte {
	b = append(append(append(b, insertHead...), table...), insertColumns...)
	var stamp [len(timeLayout)]byte
	text := now.AppendFormat(stamp[:0], timeLayout)
	g.draw(rows)
	for i, offset := range g.offsets {
		if i > 0 {
			b = append(b, ',')
		}
		b = g.appendRow(b, text, offset)
	}
	return b
}
