package shop

import (
	"crypto/sha1"
	"fmt"
	"hash/fnv"
	"time"
)

// days is for how many days the daily tasks have been running. Streaming
// tasks, and what tables say of themselves, are a day older.
const days = 3

// A run is one run of a task, or of a DAG.
type run struct {
	task *task
	dag  *dag // of which it is a run, where task is nil
	does *statement
	// nominal is when it should have started.
	nominal, start, end time.Time
	parent              *run
	// reports are the times between start and end at which a streaming task
	// says that it is still running.
	reports []time.Time
	// yesterday: it is a run of the newest day.
	yesterday bool
}

// id returns the run's UUID. The same run has the same in every rendering.
func (r *run) id() string {
	namespace, name := r.job()
	sum := sha1.Sum([]byte(namespace + "\n" + name + "\n" + r.nominal.Format(time.RFC3339)))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80 // version 5
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (r *run) job() (namespace, name string) {
	if r.task == nil {
		return airflow.namespace, r.dag.name
	}
	return r.task.engine.namespace, r.task.name
}

// failed returns the message with which the run failed, or "".
func (r *run) failed() string {
	if r.task == nil || !r.yesterday {
		return ""
	}
	return r.task.fails
}

// partition is the day whose data a run works on: the day before its own.
func (r *run) partition() string { return r.nominal.AddDate(0, 0, -1).Format(time.DateOnly) }

// runs lets the tasks run in the days before today.
func (p *platform) runs(today time.Time) []*run {
	var list []*run
	for ago := days; ago > 0; ago-- {
		midnight := today.AddDate(0, 0, -ago)
		for _, d := range p.dags {
			list = append(list, d.run(midnight, ago)...)
		}
		for i, t := range p.tasks {
			switch {
			case t.dag != nil || t.when.once != 0 && t.when.once != ago:
			case !t.when.streaming:
				list = append(list, t.run(midnight.Add(t.when.at), ago, nil))
			case ago == days:
				r := t.run(midnight.AddDate(0, 0, -1).Add(time.Minute+time.Duration(i)*time.Second), 0, nil)
				for ago := days; ago > 0; ago-- {
					r.reports = append(r.reports, today.AddDate(0, 0, -ago).Add(12*time.Hour))
				}
				list = append(list, r)
			}
		}
	}
	return list
}

// run lets a DAG and its tasks run.
func (d *dag) run(midnight time.Time, ago int) []*run {
	start := midnight.Add(d.at)
	whole := &run{dag: d, nominal: start, start: start.Add(2 * time.Second), yesterday: ago == 1}
	list := []*run{whole}
	for i, t := range d.tasks {
		r := t.run(start.Add(time.Duration(i)*pace+10*time.Second), ago, whole)
		r.nominal = start
		list = append(list, r)
		whole.end = r.end.Add(3 * time.Second)
	}
	return list
}

// pace is the time between the starts of two tasks of a DAG; none takes longer.
const pace = 3 * time.Minute

func (t *task) run(start time.Time, ago int, parent *run) *run {
	r := &run{task: t, does: t.now, nominal: start, start: start, parent: parent, yesterday: ago == 1}
	r.end = start.Add(40*time.Second + time.Duration(chance(t.name, start.Format(time.DateOnly))%110)*time.Second)
	if t.before != nil && ago > 1 {
		r.does = t.before
	}
	return r
}

// chance is a number that looks like chance, and is the same every time.
func chance(of ...string) uint64 {
	h := fnv.New64a()
	for _, s := range of {
		h.Write([]byte(s))
	}
	return h.Sum64() >> 8
}
