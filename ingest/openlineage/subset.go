package openlineage

// subsetMember reads facet subset of an output: the partitions that its
// condition names, wherever in it they stand.
func subsetMember(r *reader, partitions *[]string) {
	if string(r.name) != "outputCondition" {
		r.skip()
		return
	}
	*partitions = nil
	r.condition(partitions)
}

func (r *reader) condition(partitions *[]string) {
	if !r.object() {
		return
	}
	for r.member() {
		switch string(r.name) {
		case "left", "right":
			r.condition(partitions)
		case "partitions":
			if r.array() {
				for r.more() {
					if p := r.partition(); p != "" {
						*partitions = append(*partitions, p)
					}
				}
			}
		default:
			r.skip()
		}
	}
}

// partition reads one partition: its dimensions as they were sent, as in
// dt=2024-01-01/region=eu, or else its identifier.
func (r *reader) partition() string {
	if !r.object() {
		return ""
	}
	var identifier string
	var b []byte
	for r.member() {
		switch string(r.name) {
		case "identifier":
			identifier = r.str()
		case "dimensions":
			b = b[:0]
			if !r.object() {
				continue
			}
			for r.member() {
				if len(b) > 0 {
					b = append(b, '/')
				}
				b = append(appendEscaped(b, r.name), '=')
				switch k := r.token(); k {
				case '"':
					b = appendEscaped(b, r.unquoted())
				case '{', '[':
					r.wrong(k, "a string")
				default:
					b = append(b, r.body[r.from:r.to]...)
				}
			}
		default:
			r.skip()
		}
	}
	if len(b) > 0 {
		return string(b)
	}
	return identifier
}

// appendEscaped writes s as Hive does in the path of a partition: what has a
// meaning there becomes %XX.
func appendEscaped(b, s []byte) []byte {
	for _, c := range s {
		if c < ' ' || c == '/' || c == '=' || c == '%' {
			const digits = "0123456789ABCDEF"
			b = append(b, '%', digits[c>>4], digits[c&15])
			continue
		}
		b = append(b, c)
	}
	return b
}
