package main

import (
	"context"
	"strings"
)

// adminVerbs lists what headwater admin does, in the order of the help.
func adminVerbs() []adminVerb {
	return []adminVerb{
		{"status", "", 0, 0, func(ctx context.Context, a *admin, _ []string) error { return a.status(ctx) }},

		{"region list", "", 0, 0, list("regions", "name addresses note", "REGION name, ADDRESSES addresses, NOTE note")},
		{"region set NAME ADDRESS[,ADDRESS...] [--note TEXT]", "note id", 2, 2,
			change("setRegion", "$name: String!, $addresses: [String!]!, $note: String!", func(a *admin, args []string) (map[string]any, error) {
				return map[string]any{"name": args[0], "addresses": strings.Split(args[1], ","), "note": a.text("note")}, nil
			})},
		{"region remove NAME", "id", 1, 1, change("removeRegion", "$name: String!", named)},

		{"namespace list", "", 0, 0, list("namespaceRules", "namespace region apart why", "NAMESPACE namespace, REGION region, APART apart, WHY why")},
		{"namespace set NAMESPACE REGION|--apart [--was REGION] [--why TEXT]", "apart was why id", 1, 2,
			change("setNamespaceRule", "$namespace: String!, $region: String!, $apart: Boolean!, $was: String!, $why: String!", func(a *admin, args []string) (map[string]any, error) {
				v := map[string]any{"namespace": args[0], "region": "", "apart": a.has("apart"), "was": a.text("was"), "why": a.text("why")}
				if len(args) == 2 {
					v["region"] = args[1]
				}
				return v, nil
			})},
		{"namespace remove NAMESPACE", "id", 1, 1,
			change("removeNamespaceRule", "$namespace: String!", func(_ *admin, args []string) (map[string]any, error) {
				return map[string]any{"namespace": args[0]}, nil
			})},

		{"alias list", "", 0, 0, pages("aliases", "from { region namespace name } to { region namespace name } why",
			"REGION from.region, NAMESPACE from.namespace, NAME from.name, TO REGION to.region, TO NAMESPACE to.namespace, TO NAME to.name, WHY why")},
		{"alias set REGION NAMESPACE NAME TO_REGION TO_NAMESPACE TO_NAME [--why TEXT]", "why id", 6, 6,
			change("setAlias", "$from: RegionalName!, $to: RegionalName!, $why: String!", func(a *admin, args []string) (map[string]any, error) {
				return map[string]any{"from": regionalName(args[:3]), "to": regionalName(args[3:]), "why": a.text("why")}, nil
			})},
		{"alias remove REGION NAMESPACE NAME", "id", 3, 3,
			change("removeAlias", "$from: RegionalName!", func(_ *admin, args []string) (map[string]any, error) {
				return map[string]any{"from": regionalName(args)}, nil
			})},

		{"naming list", "", 0, 0, list("namingRules", "region namespace prefix toRegion toNamespace toPrefix why",
			"REGION region, NAMESPACE namespace, PREFIX prefix, TO REGION toRegion, TO NAMESPACE toNamespace, TO PREFIX toPrefix, WHY why")},
		{"naming set NAMESPACE TO_NAMESPACE [--prefix TEXT] [--to-prefix TEXT] [--region REGION] [--to-region REGION] [--why TEXT]", "region prefix to-region to-prefix why id", 2, 2,
			change("setNamingRule", "$region: String!, $namespace: String!, $prefix: String!, $toRegion: String!, $toNamespace: String!, $toPrefix: String!, $why: String!", func(a *admin, args []string) (map[string]any, error) {
				return map[string]any{"region": a.text("region"), "namespace": args[0], "prefix": a.text("prefix"),
					"toRegion": a.text("to-region"), "toNamespace": args[1], "toPrefix": a.text("to-prefix"), "why": a.text("why")}, nil
			})},
		{"naming remove NAMESPACE [--prefix TEXT] [--region REGION]", "region prefix id", 1, 1,
			change("removeNamingRule", "$region: String!, $namespace: String!, $prefix: String!", func(a *admin, args []string) (map[string]any, error) {
				return map[string]any{"region": a.text("region"), "namespace": args[0], "prefix": a.text("prefix")}, nil
			})},

		{"table list", "", 0, 0, pages("globalTables", "name kind declared memberCount", "TABLE name, KIND kind, DECLARED declared, MEMBERS memberCount")},
		{"table show NAME", "", 1, 1, func(ctx context.Context, a *admin, args []string) error { return a.table(ctx, args[0]) }},
		{"table declare NAME PARTITIONED|REPLICATED [REGION NAMESPACE NAME ...] [--file FILE]", "file id", 2, -1,
			change("declareGlobalTable", "$name: String!, $kind: GlobalTableKind!, $members: [RegionalName!]!", func(a *admin, args []string) (map[string]any, error) {
				members, err := a.members(args[2:])
				return map[string]any{"name": args[0], "kind": strings.ToUpper(args[1]), "members": members}, err
			})},
		{"table add NAME [REGION NAMESPACE NAME ...] [--file FILE]", "file id", 1, -1,
			change("changeGlobalTableMembers", "$name: String!, $add: [RegionalName!]!", func(a *admin, args []string) (map[string]any, error) {
				members, err := a.someMembers(args[1:])
				return map[string]any{"name": args[0], "add": members}, err
			})},
		{"table drop NAME [REGION NAMESPACE NAME ...] [--file FILE]", "file id", 1, -1,
			change("changeGlobalTableMembers", "$name: String!, $remove: [RegionalName!]!", func(a *admin, args []string) (map[string]any, error) {
				members, err := a.someMembers(args[1:])
				return map[string]any{"name": args[0], "remove": members}, err
			})},
		{"table remove NAME", "id", 1, 1, change("removeGlobalTable", "$name: String!", named)},

		{"filter list", "", 0, 0, list("filters", "name match { namespace name tag } reason owner",
			"FILTER name, NAMESPACE match.namespace, NAME match.name, TAG match.tag, REASON reason, OWNER owner")},
		{"filter set FILTER [--namespace PATTERN] [--name PATTERN] [--tag TAG] --reason TEXT --owner WHO", "namespace name tag reason owner id", 1, 1,
			change("setFilter", "$name: String!, $match: NodePattern!, $reason: String!, $owner: String!", func(a *admin, args []string) (map[string]any, error) {
				return map[string]any{"name": args[0], "match": a.pattern(), "reason": a.text("reason"), "owner": a.text("owner")}, nil
			})},
		{"filter remove FILTER", "id", 1, 1, change("removeFilter", "$name: String!", named)},

		{"notice list", "", 0, 0, list("notices", "name match { namespace name tag } text owner until",
			"NOTICE name, NAMESPACE match.namespace, NAME match.name, TAG match.tag, TEXT text, OWNER owner, UNTIL until")},
		{"notice set NOTICE [--namespace PATTERN] [--name PATTERN] [--tag TAG] --text TEXT --owner WHO [--until TIME]", "namespace name tag text owner until id", 1, 1,
			change("setNotice", "$name: String!, $match: NodePattern!, $text: String!, $owner: String!, $until: DateTime", func(a *admin, args []string) (map[string]any, error) {
				v := map[string]any{"name": args[0], "match": a.pattern(), "text": a.text("text"), "owner": a.text("owner")}
				if until := a.text("until"); until != "" {
					v["until"] = until
				}
				return v, nil
			})},
		{"notice remove NOTICE", "id", 1, 1, change("removeNotice", "$name: String!", named)},

		{"gateway list", "", 0, 0, list("gateways", "name raft url leads", "GATEWAY name, RAFT raft, URL url, LEADS leads")},
		{"gateway join NAME RAFT_ADDRESS URL", "", 3, 3, func(ctx context.Context, a *admin, args []string) error {
			return a.mutate(ctx, "joinGateway", "$name: String!, $raft: String!, $url: String!", map[string]any{"name": args[0], "raft": args[1], "url": args[2]})
		}},
		{"gateway leave NAME", "", 1, 1, func(ctx context.Context, a *admin, args []string) error {
			return a.mutate(ctx, "leaveGateway", "$name: String!", map[string]any{"name": args[0]})
		}},

		{"suspects", "", 0, 0, list("suspects", "namespace regions", "NAMESPACE namespace, REGIONS regions")},
		{"audit [--limit N]", "limit", 0, 0, pages("audit", "version at who what of before after", "VERSION version, AT at, WHO who, WHAT what, OF of")},
	}
}

// named is for changes of what has a name, and nothing else.
func named(_ *admin, args []string) (map[string]any, error) {
	return map[string]any{"name": args[0]}, nil
}
