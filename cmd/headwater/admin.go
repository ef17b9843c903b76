package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// An admin shows and changes the catalog of gateways.
type admin struct {
	client
	in    io.Reader
	out   io.Writer
	flags *flag.FlagSet
	limit int
}

// An adminVerb is one thing that headwater admin does.
type adminVerb struct {
	// use is what is typed: words in small letters, then arguments.
	use string
	// flags are those that it takes beside those of all.
	flags string
	// least and most are how many arguments there are; most is -1 where any
	// number may follow.
	least, most int
	do          func(ctx context.Context, a *admin, args []string) error
}

// words returns what begins the command line of the verb.
func (v *adminVerb) words() []string {
	all := strings.Fields(v.use)
	end := slices.IndexFunc(all, func(w string) bool { return w != strings.ToLower(w) || w[0] == '[' })
	if end < 0 {
		return all
	}
	return all[:end]
}

// adminFlags are those that every verb takes.
const adminFlags = "server token user json"

func adminCommand(in io.Reader, out io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		connect := clientFlags(f)
		user := f.String("user", "", "`who` decides, for the audit trail; HEADWATER_USER, or else USER, where it is not given")
		f.Bool("json", false, "print the answer as JSON")
		f.String("id", "", "of changes: an `ID` of your own, or the one that an answer names, so that it is made once")
		f.String("note", "", "of a region: what people should know (`text`)")
		f.String("why", "", "of a rule or an alias: the `reason`")
		f.Bool("apart", false, "of a namespace: each region means its own tables")
		f.String("was", "", "of a namespace: the `region` that the rule which is replaced names")
		f.String("region", "", "of a naming rule: the `region` that reports the names; any where it is not given")
		f.String("prefix", "", "of a naming rule: what the names begin with (`text`)")
		f.String("to-region", "", "of a naming rule: the `region` that is meant; the one that reports where it is not given")
		f.String("to-prefix", "", "of a naming rule: what stands in place of the prefix (`text`)")
		f.String("file", "", "of members: a `file` with REGION, NAMESPACE and NAME on each line, with tabs between; - reads standard input")
		f.String("namespace", "", "of a filter or a notice: the namespaces that are meant, with * (`pattern`)")
		f.String("name", "", "of a filter or a notice: the names that are meant, with * (`pattern`)")
		f.String("tag", "", "of a filter or a notice: the `tag` that nodes have")
		f.String("reason", "", "of a filter: why its nodes do not matter (`text`)")
		f.String("text", "", "of a notice: what it says (`text`)")
		f.String("owner", "", "of a filter or a notice: `who` answers for it")
		f.String("until", "", "of a notice: the `time` at which it ends (RFC 3339)")
		limit := f.Int("limit", 100, "of the audit trail: at most so `many`")
		usage := f.Usage
		f.Usage = func() {
			usage()
			fmt.Fprintln(f.Output(), "\nWhat it does:")
			for _, v := range adminVerbs() {
				fmt.Fprintln(f.Output(), "  headwater admin", v.use)
			}
		}
		return func(ctx context.Context, args []string) error {
			for _, v := range adminVerbs() {
				words := v.words()
				if len(args) < len(words) || !slices.Equal(args[:len(words)], words) {
					continue
				}
				args = args[len(words):]
				if len(args) < v.least || v.most >= 0 && len(args) > v.most || *limit < 1 || !fits(f, &v) {
					return errUsage
				}
				a := &admin{client: connect(), in: in, out: out, flags: f, limit: *limit}
				a.user = cmp.Or(*user, os.Getenv("HEADWATER_USER"), os.Getenv("USER"))
				return v.do(ctx, a, args)
			}
			return errUsage
		}
	}
}

// fits reports whether a verb takes all flags that were given, and says which
// it does not.
func fits(f *flag.FlagSet, v *adminVerb) bool {
	ok := true
	takes := strings.Fields(adminFlags + " " + v.flags)
	f.Visit(func(given *flag.Flag) {
		if !slices.Contains(takes, given.Name) {
			fmt.Fprintf(f.Output(), "headwater admin %s takes no -%s\n", strings.Join(v.words(), " "), given.Name)
			ok = false
		}
	})
	return ok
}

// text returns the value of a flag.
func (a *admin) text(name string) string { return a.flags.Lookup(name).Value.String() }

func (a *admin) has(name string) bool { return a.text(name) == "true" }

// A variables makes the variables of a mutation of arguments and flags.
type variables func(a *admin, args []string) (map[string]any, error)

// change is a verb that makes a change of the catalog: a field of Mutation,
// with the variables that it takes as GraphQL declares them.
func change(field, takes string, vars variables) func(context.Context, *admin, []string) error {
	return func(ctx context.Context, a *admin, args []string) error {
		v, err := vars(a, args)
		if err != nil {
			return err
		}
		if id := a.text("id"); id != "" {
			v["clientMutationId"] = id
		}
		return a.mutate(ctx, field, takes+", $clientMutationId: ID", v)
	}
}

// mutate makes a mutation and prints what became of it.
func (a *admin) mutate(ctx context.Context, field, takes string, v map[string]any) error {
	var passed []string
	for declared := range strings.SplitSeq(takes, ", ") {
		name, _, _ := strings.Cut(strings.TrimPrefix(declared, "$"), ":")
		passed = append(passed, name+": $"+name)
	}
	var answer map[string]struct {
		Version int  `json:"version"`
		Changed bool `json:"changed"`
	}
	query := fmt.Sprintf("mutation(%s) { %s(%s) { version changed } }", takes, field, strings.Join(passed, ", "))
	if err := a.graphql(ctx, query, v, &answer); err != nil {
		return err
	}
	done := answer[field]
	if a.has("json") {
		return printJSON(a.out, done)
	}
	said := fmt.Sprintf("version %d", done.Version)
	if !done.Changed {
		said += ", as it was"
	}
	_, err := fmt.Fprintln(a.out, said)
	return err
}

// members reads the members that are given as arguments, three each, and in
// the file.
func (a *admin) members(args []string) ([]map[string]string, error) {
	if len(args)%3 != 0 {
		return nil, fmt.Errorf("%d arguments for members; each is REGION NAMESPACE NAME", len(args))
	}
	list := []map[string]string{}
	for m := range slices.Chunk(args, 3) {
		list = append(list, regionalName(m))
	}
	file := a.text("file")
	if file == "" {
		return list, nil
	}
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == "" {
			continue
		}
		m := strings.Split(lines.Text(), "\t")
		if len(m) != 3 {
			return nil, fmt.Errorf("%s: line %d: it has %d fields; REGION, NAMESPACE and NAME are wanted, with tabs between", file, n, len(m))
		}
		list = append(list, regionalName(m))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// someMembers is members where there must be one.
func (a *admin) someMembers(args []string) ([]map[string]string, error) {
	list, err := a.members(args)
	if err == nil && len(list) == 0 {
		err = errors.New("no members are given; each is REGION NAMESPACE NAME, as arguments or on a line of --file")
	}
	return list, err
}

func regionalName(m []string) map[string]string {
	return map[string]string{"region": m[0], "namespace": m[1], "name": m[2]}
}

// pattern returns which nodes a filter or a notice is about.
func (a *admin) pattern() map[string]string {
	return map[string]string{"namespace": a.text("namespace"), "name": a.text("name"), "tag": a.text("tag")}
}

// status prints how new the catalog is that the gateway has.
func (a *admin) status(ctx context.Context) error {
	var answer struct{ Catalog json.RawMessage }
	if err := a.graphql(ctx, "{ catalog { version leader ageSeconds } }", nil, &answer); err != nil {
		return err
	}
	if a.has("json") {
		return printJSON(a.out, answer.Catalog)
	}
	var c struct {
		Version    int
		Leader     string
		AgeSeconds *float64
	}
	if err := json.Unmarshal(answer.Catalog, &c); err != nil {
		return err
	}
	leader := "no leader is known, so no changes are taken"
	if c.Leader != "" {
		leader = "gateway " + c.Leader + " leads"
	}
	heard := "none was heard since the start"
	if c.AgeSeconds != nil {
		heard = fmt.Sprintf("a leader was heard %.1f s ago", *c.AgeSeconds)
	}
	_, err := fmt.Fprintf(a.out, "version %d, %s, %s\n", c.Version, leader, heard)
	return err
}
