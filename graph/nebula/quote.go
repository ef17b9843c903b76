package nebula

// quote writes a string as a literal of nGQL that reads back as the same
// bytes, whatever they are: always in double quotes. A raw NUL would destroy
// what follows it, a raw newline is a syntax error, all else stands as it is,
// also what is not UTF-8. Octal escapes can be turned off in graphd, so that
// none is used. Long text goes in as a parameter: reading a literal takes time
// that is quadratic in its length.
//
// What no literal can help: an id of a vertex and a fixed_string lose the NULs
// at their end.
func quote(s string) string {
	return string(appendQuoted(make([]byte, 0, len(s)+2), s))
}

// appendQuoted is quote into a statement that is being built.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '"':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case 0:
			b = append(b, `\u0000`...)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
