package openlineage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"headwater/ingest"
)

// shapes are events that grow with n, each in a way that could cost more than
// its length.
var shapes = map[string]func(n int) string{
	"inputs":         func(n int) string { return inputsOf(each(n, `{"namespace": "pg", "name": "t%d"}`)) },
	"repeated names": func(n int) string { return inputsOf(each(n, `{"namespace": "pg", "name": "t", "facets": {"f%d": 1}}`)) },
	"repeated names with lineage": func(n int) string {
		return outputsOf(each(n, `{"namespace": "pg", "name": "t", "facets": {"columnLineage": {"fields": {"c%d": {"inputFields": [{"namespace": "pg", "name": "a", "field": "k"}]}}}}}`))
	},
	"inputs without names": func(n int) string { return inputsOf(each(n, `{"namespace": "pg", "nome": "t%d"}`)) },
	"malformed facets": func(n int) string {
		return inputsOf(each(n, `{"namespace": "pg", "name": "t%d", "facets": {"schema": []}}`))
	},
	"fields": func(n int) string {
		return outputWith(`"schema": {"fields": [` + each(n, `{"name": "f%d", "type": "int"}`) + `]}`)
	},
	"fields of a field with a long name": func(n int) string {
		return outputWith(`"schema": {"fields": [{"fields": [` + each(n, `{"name": "f%d"}`) + `], "name": "` + strings.Repeat("x", 4000) + `"}]}`)
	},
	"deep fields": func(n int) string {
		return outputWith(`"schema": {"fields": [` + strings.Repeat(`{"fields": [`, 480) + each(n, `{"name": "f%d"}`) + strings.Repeat(`], "name": "x"}`, 480) + `]}`)
	},
	"fields again": func(n int) string {
		return outputWith(`"schema": {"fields": [{` + each(n, `"fields": [{"name": "f%d"}]`) + `, "name": "x"}]}`)
	},
	"columns with copies": func(n int) string {
		return outputWith(`"columnLineage": {"fields": {` + each(n, `"c%d": {"inputFields": [{"namespace": "pg", "name": "a", "field": "k", "transformations": [{"type": "INDIRECT", "subtype": "JOIN"}]}]}`) + `}}`)
	},
	"copies that end early": func(n int) string {
		return outputWith(`"columnLineage": {"fields": {"first": {"inputFields": [` + each(n, `{"namespace": "pg", "name": "a", "field": "k%d", "transformations": [{"type": "INDIRECT", "subtype": "JOIN"}]}`) + `]},` + each(n, `"c%d": {"inputFields": []}`) + `}}`)
	},
	"one column again": func(n int) string {
		return outputWith(`"columnLineage": {"fields": {` + each(n, `"c": {"inputFields": [{"namespace": "pg", "name": "a", "field": "k%d"}]}`) + `}}`)
	},
	"expressions": func(n int) string {
		return outputWith(`"columnLineage": {"fields": {"c": {"inputFields": [{"namespace": "pg", "name": "a", "field": "k", "transformations": [` + each(n, `{"type": "DIRECT", "description": "e%d"}`) + `]}]}}}`)
	},
	"kinds of their own": func(n int) string {
		return outputWith(`"columnLineage": {"fields": {"c": {"inputFields": [{"namespace": "pg", "name": "a", "field": "k", "transformations": [` + each(n, `{"type": "T%d"}`) + `]}]}}}`)
	},
	"entries": func(n int) string {
		return `{` + at + `, "job": {"namespace": "etl", "name": "load", "facets": {"lineage": {"entries": [` + each(n, `{"namespace": "pg", "name": "t%d", "type": "DATASET", "inputs": [{"namespace": "pg", "name": "a", "type": "DATASET"}]}`) + `]}}}}`
	},
	"entries of one target": func(n int) string {
		return `{` + at + `, "job": {"namespace": "etl", "name": "load", "facets": {"lineage": {"entries": [` + each(n, `{"namespace": "pg", "name": "t", "type": "DATASET", "inputs": [{"namespace": "pg", "name": "a%d", "type": "DATASET"}, {"namespace": "etl", "name": "b", "type": "JOB"}]}`) + `]}}}}`
	},
	"facets":          func(n int) string { return outputWith(each(n, `"f%d": {}`)) },
	"one facet again": func(n int) string { return outputWith(each(n, `"f": %d`)) },
	"groups again": func(n int) string {
		return outputsOf(`{"namespace": "pg", "name": "t", "outputFacets": {` + each(n, `"f%d": 1`) + `}, ` + each(n, `"facets": {"f%d": 1}`) + `}`)
	},
	"facets of a job and its run": func(n int) string {
		return `{` + at + `, "run": {"runId": "r", "facets": {` + each(n, `"f%d": 1`) + `}}, "job": {"namespace": "etl", "name": "load", "facets": {` + each(n, `"f%d": 1`) + `}}}`
	},
	"symlinks": func(n int) string {
		return outputWith(`"symlinks": {"identifiers": [` + each(n, `{"namespace": "pg", "name": "t%d", "type": "TABLE"}`) + `]}`)
	},
	"tags": func(n int) string {
		return outputWith(`"tags": {"tags": [` + each(n, `{"key": "k%d", "value": "v"}`) + `]}`)
	},
	"inputs again": func(n int) string {
		return `{` + at + `, ` + job1 + `, ` + each(n, `"inputs": [{"namespace": "pg", "name": "t%d"}, {}]`) + `}`
	},
	"partitions": func(n int) string {
		return outputsOf(`{"namespace": "pg", "name": "t", "outputFacets": {"subset": {"outputCondition": {"type": "partition", "partitions": [` + each(n, `{"dimensions": {"dt": "%d"}}`) + `]}}}}`)
	},
	"escapes": func(n int) string { return inputsOf(each(n, `{"n\u0061mespace": "pg", "name": "\"%d\""}`)) },
	"nothing": func(n int) string { return outputWith(each(n, `"x": [%d, {}, [], ""]`)) },
}

func inputsOf(list string) string  { return `{` + at + `, ` + job1 + `, "inputs": [` + list + `]}` }
func outputsOf(list string) string { return `{` + at + `, ` + job1 + `, "outputs": [` + list + `]}` }

func outputWith(facets string) string {
	return outputsOf(`{"namespace": "pg", "name": "t", "facets": {` + facets + `}}`)
}

// each repeats a format with the numbers up to n.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.Contains(format, "%") {
			fmt.Fprintf(&b, format, i)
		} else {
			b.WriteString(format)
		}
	}
	return b.String()
}

// BenchmarkGrowth decodes each shape small and 16 times as large, and reports
// how many times as long the large one takes: 16 is linear, 256 the square.
func BenchmarkGrowth(b *testing.B) {
	const n, times = 600, 16
	for what, shape := range shapes {
		b.Run(what, func(b *testing.B) {
			small, large := []byte(shape(n)), []byte(shape(n*times))
			var took [2]time.Duration
			for b.Loop() {
				for i, body := range [][]byte{small, large} {
					start := time.Now()
					Decode(ingest.Message{Body: body, Region: "eu", Received: received})
					took[i] += time.Since(start)
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "times")
		})
	}
}
