package openlineage

import (
	"errors"
	"time"
)

// The bounds of an event's time; its nanoseconds fit 64 bits.
const firstYear, lastYear = 1970, 2261

var (
	errTime = errors.New("is not a time; write it as 2006-01-02T15:04:05.999Z")
	errYear = errors.New("lies outside the years 1970 to 2261")
)

// parseTime reads the time of an event: RFC 3339, and what producers send
// instead: no zone (UTC), a space or small letters for T and Z, an offset
// without colon or minutes, no seconds, a comma before the fraction. Digits
// after nanoseconds are dropped.
func parseTime(s string) (time.Time, error) {
	p := timeParser{s: s, ok: true}
	year, month, day := p.number(4), p.after('-', 2), p.after('-', 2)
	p.oneOf("Tt ")
	hour, minute := p.number(2), p.after(':', 2)
	second, nano := 0, 0
	if p.peek(":") {
		second = p.after(':', 2)
		if p.peek(".,") {
			nano = p.fraction()
		}
	}
	offset := p.zone()
	if !p.ok || p.s != "" || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}, errTime
	}
	if day > time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day() {
		return time.Time{}, errTime // 31 June
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nano, time.UTC).Add(-offset)
	if y := t.Year(); y < firstYear || y > lastYear {
		return time.Time{}, errYear
	}
	return t, nil
}

// A timeParser reads s from its front; ok turns false where it does not fit.
type timeParser struct {
	s  string
	ok bool
}

func (p *timeParser) peek(any string) bool {
	for i := range len(any) {
		if p.s != "" && p.s[0] == any[i] {
			return true
		}
	}
	return false
}

func (p *timeParser) oneOf(any string) {
	if !p.peek(any) {
		p.ok = false
		return
	}
	p.s = p.s[1:]
}

func (p *timeParser) number(digits int) int {
	if len(p.s) < digits {
		p.ok = false
		return 0
	}
	n := 0
	for i := range digits {
		c := p.s[i]
		if c < '0' || c > '9' {
			p.ok = false
			return 0
		}
		n = n*10 + int(c-'0')
	}
	p.s = p.s[digits:]
	return n
}

func (p *timeParser) after(mark byte, digits int) int {
	if p.s == "" || p.s[0] != mark {
		p.ok = false
		return 0
	}
	p.s = p.s[1:]
	return p.number(digits)
}

func (p *timeParser) fraction() int {
	p.s = p.s[1:]
	nano, unit, digits := 0, 100_000_000, 0
	for p.s != "" && p.s[0] >= '0' && p.s[0] <= '9' {
		nano += int(p.s[0]-'0') * unit
		unit /= 10
		digits++
		p.s = p.s[1:]
	}
	p.ok = p.ok && digits > 0
	return nano
}

func (p *timeParser) zone() time.Duration {
	switch {
	case p.s == "":
		return 0
	case p.peek("Zz"):
		p.s = p.s[1:]
		return 0
	case !p.peek("+-"):
		p.ok = false
		return 0
	}
	sign := time.Duration(1)
	if p.s[0] == '-' {
		sign = -1
	}
	p.s = p.s[1:]
	hours, minutes := p.number(2), 0
	if p.peek(":") {
		minutes = p.after(':', 2)
	} else if p.s != "" {
		minutes = p.number(2)
	}
	p.ok = p.ok && hours <= 23 && minutes <= 59
	return sign * (time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute)
}
