// Templates give what Go's text/template gives, or fail where it fails. The same templates run over the same objects in a
// small Go program; the objects have the types that matter, after those of Kubernetes.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { BUILTINS } from '../../src/names/kubernetes/template/builtin-functions.ts'
import { executeTemplate } from '../../src/names/kubernetes/template/execute-template.ts'
import { NAME_FUNCTIONS } from '../../src/names/kubernetes/template/name-functions.ts'
import { objectValue } from '../../src/names/kubernetes/template/object-value.ts'
import { parseTemplate } from '../../src/names/kubernetes/template/parse-template.ts'
import { TemplateError } from '../../src/names/kubernetes/template/template-error.ts'

const PROGRAM = String.raw`
package main

import ("bytes"; "encoding/json"; "net/netip"; "os"; "strings"; "text/template")

type TypeMeta struct { Kind, APIVersion string }
type ObjectMeta struct { Name, Namespace string; Labels, Annotations map[string]string; Generation int64 }
type Port struct { Name string; Port int32 }
type Rule struct { Host string }
type TLS struct { Hosts []string }
type Address struct { Type, Address string }
type Ingress struct { IP, Hostname string }
type LoadBalancer struct { Ingress []Ingress }
type Spec struct {
	Type, ClusterIP, LoadBalancerIP string
	ClusterIPs []string
	Selector map[string]string
	Ports []Port
	Rules []Rule
	TLS []TLS
	AllocateLoadBalancerNodePorts bool
	HealthCheckNodePort int32
}
type Status struct { LoadBalancer LoadBalancer; Addresses []Address }
type Object struct {
	TypeMeta
	ObjectMeta ${'`json:"metadata"`'}
	Spec Spec
	Status Status
}
type Result struct { Text string; Error string }

func is4(text string) bool { a, err := netip.ParseAddr(text); return err == nil && a.Is4() }
func is6(text string) bool { a, err := netip.ParseAddr(text); return err == nil && !a.Is4() }

var functions = template.FuncMap{
	"contains": strings.Contains, "trimPrefix": strings.TrimPrefix, "trimSuffix": strings.TrimSuffix,
	"trim": strings.TrimSpace, "toLower": strings.ToLower, "isIPv4": is4, "isIPv6": is6,
	"replace": func(from, to, text string) string { return strings.ReplaceAll(text, from, to) },
	"hasKey": func(m map[string]string, key string) bool { _, found := m[key]; return found },
	"fromJson": func(text string) any { var v any; _ = json.Unmarshal([]byte(text), &v); return v },
}

func run(text string, object Object) (result Result) {
	t, err := template.New("t").Funcs(functions).Parse(text)
	var out bytes.Buffer
	if err == nil { err = t.Execute(&out, &object) }
	if err != nil { return Result{Error: err.Error()} }
	return Result{Text: out.String()}
}

func main() {
	var cases []struct { Template string; Object Object }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil { panic(err) }
	results := []Result{}
	for _, c := range cases { results = append(results, run(c.Template, c.Object)) }
	json.NewEncoder(os.Stdout).Encode(results)
}
`

interface Case {
  readonly template: string
  readonly object: typeof FULL
}

interface Outcome {
  readonly text?: string
  readonly error?: string
}

interface Result {
  readonly Text: string
  readonly Error: string
}

const FULL = {
  kind: 'Service',
  apiVersion: 'v1',
  metadata: {
    ...{ name: 'web-v2', namespace: 'shop', generation: 3 },
    labels: {
      app: 'web',
      env: 'prod',
      empty: '',
      'example.com/zone': 'Eu-1',
      json: '[{"dns":"a.b","n":80},{"dns":"c.d"}]',
    },
    annotations: { host: 'www.example.com', map: '{"b":1.5,"a":[1,2],"c":null,"d":true,"big":1e21,"small":0.00001}' },
  },
  spec: {
    ...{ type: 'LoadBalancer', clusterIP: '10.0.0.1', loadBalancerIP: '', clusterIPs: ['10.0.0.1', '2001:db8::1'] },
    ...{
      selector: { app: 'web', tier: 'x' },
      ports: [
        { name: 'http', port: 80 },
        { name: 'https', port: 443 },
      ],
    },
    ...{ rules: [{ host: 'foo.bar.com' }, { host: 'ü.example' }], tls: [{ hosts: ['a.tls', 'b.tls'] }, { hosts: [] }] },
    ...{ allocateLoadBalancerNodePorts: true, healthCheckNodePort: 0 },
  },
  status: {
    loadBalancer: {
      ingress: [
        { ip: '8.8.8.8', hostname: '' },
        { ip: '', hostname: 'lb.example' },
      ],
    },
    addresses: [
      { type: 'ExternalIP', address: '1.2.3.4' },
      { type: 'InternalIP', address: '::1' },
    ],
  },
}

const TEMPLATES = [
  'plain',
  '',
  '{{.Name}}',
  '{{ .Name -}} x',
  'x {{- .Name }}',
  'a  {{- /* c */ -}}  b',
  '{{/* c */}}x',
  '{{- 1}}',
  '{{-1}}',
  '{{ -1 -}} y',
  '{{ .ObjectMeta.Name }}.{{ .TypeMeta.Kind }}',
  '{{ .Labels }}',
  '{{ .Spec.ClusterIPs }}',
  '{{ .Labels.none }}',
  '{{ .Labels.none.deep }}',
  '{{ index .Labels "none" }}|{{ index .Labels "example.com/zone" }}',
  '{{ index .Spec.ClusterIPs 1 }}',
  '{{ index .Spec.ClusterIPs 2 }}',
  '{{ (index .Spec.Ports 0).Port }}',
  '{{ index .Spec.Ports 0 }}x',
  '{{ with index .Spec.Ports 1 }}{{ .Name }}{{ end }}',
  '{{ index "abc" 1 }}',
  '{{ index .Name "a" }}',
  '{{ slice "abcdef" 1 3 }}{{ slice .Name 2 }}{{ slice .Spec.ClusterIPs 1 }}',
  '{{ slice "abc" 2 1 }}',
  '{{ slice "abc" 0 9 }}',
  '{{ slice "abc" 0 1 2 }}',
  '{{ len .Labels }} {{ len "ü" }} {{ len .Spec.Ports }}',
  '{{ len 3 }}',
  '{{ len nil }}',
  '{{ nil }}',
  '{{ $x := nil }}',
  '{{ . | len }}',
  '{{ $x := .Name }}{{ $x }}{{ $x = "y" }}{{ $x }}',
  '{{ if true }}{{ $x := 1 }}{{ $x }}{{ end }}',
  '{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}',
  '{{ range .Spec.Ports }}{{ .Port }},{{ end }}',
  '{{ range $i, $p := .Spec.Ports }}{{ $i }}={{ $p.Name }};{{ end }}',
  '{{ range $k, $v := .Labels }}{{ $k }}={{ $v }};{{ end }}',
  '{{ range $v := .Spec.Selector }}{{ $v }}{{ $.Name }}{{ end }}',
  '{{ range .Labels.none }}x{{ else }}none{{ end }}',
  '{{ range 3 }}{{ . }}{{ end }}',
  '{{ range $i := 2 }}{{ $i }}{{ else }}z{{ end }}',
  '{{ range $i, $x := 3 }}{{ $i }}{{ end }}',
  '{{ range 0 }}a{{ else }}b{{ end }}',
  '{{ range .Name }}{{ end }}',
  '{{ range .Spec.TLS }}{{ range .Hosts }}{{ . }}{{ else }}-{{ end }}{{ end }}',
  '{{ range $i, $p := .Spec.Ports }}{{ if eq $i 1 }}{{ break }}{{ end }}{{ $p.Port }}{{ end }}',
  '{{ range .Spec.Ports }}{{ if eq .Name "http" }}{{ continue }}{{ end }}{{ .Port }}{{ end }}',
  '{{ $n := 0 }}{{ range $i, $n = .Spec.ClusterIPs }}{{ end }}{{ $n }}',
  '{{ if .Labels.empty }}a{{ else if .Labels.app }}b{{ else }}c{{ end }}',
  '{{ with .Labels.none }}a{{ else with .Name }}{{ . }}{{ end }}',
  '{{ if and .Name .Labels.none }}a{{ else }}b{{ end }}',
  '{{ and 1 0 2 }}{{ or 0 "" "x" }}{{ not 1 }}',
  '{{ or .Labels.none "d" }}',
  '{{ and }}',
  '{{ true | or false }}',
  '{{ false | and true }}',
  '{{ or true (index "a" 9) }}',
  '{{ eq 1 1 }}{{ eq "a" "b" "a" }}{{ ne 1 2 }}{{ lt 1 2 }}{{ le 2 2 }}{{ gt "b" "a" }}{{ ge 1.5 2.5 }}',
  '{{ eq 1 1.0 }}',
  '{{ eq 1 "1" }}',
  '{{ eq .Labels.none "x" }}',
  '{{ eq .Labels.none nil }}',
  '{{ eq true 1 }}',
  '{{ eq 1 }}',
  '{{ lt .Labels.none 1 }}',
  '{{ lt true false }}',
  '{{ eq .Labels .Labels }}',
  '{{ eq .Spec.HealthCheckNodePort 0 }}{{ gt (index .Spec.Ports 1).Port 80 }}',
  '{{ .Spec.AllocateLoadBalancerNodePorts }}',
  '{{ print 1 2 "a" "b" 3 4 true nil }}',
  '{{ println "a" 1 }}',
  '{{ print .Labels.none }}',
  '{{ printf "%s-%d-%v-%q-%t-%%" "a" 5 1.5 "q\\"" true }}',
  '{{ printf "%5s|%-5s|%05d|%+d|%x|%X|%o|%b|%c" "a" "b" 42 7 255 255 8 5 65 }}',
  '{{ printf "%d" "x" }}',
  '{{ printf "%s" 5 }}',
  '{{ printf "%s" }}',
  '{{ printf "a" 1 "b" }}',
  '{{ printf "%!" }}',
  '{{ printf "%" }}',
  '{{ printf "%.2f %8.3f %e %g" 3.14159 2.5 12345.678 0.5 }}',
  '{{ printf "%.2s|%x" "abc" "hi" }}',
  '{{ printf "%v %s" .Spec.ClusterIPs .Labels.none }}',
  '{{ printf "%*d|%.*f" 5 42 1 2.26 }}',
  '{{ printf "%U %#x %q" 9731 255 65 }}',
  '{{ printf 5 }}',
  '{{ "x" | printf "%s%s" "y" }}',
  '{{ html "<a href=\'x\'>&\\"" }}',
  '{{ js "it\'s <b> & \\ = \n ü" }}',
  '{{ urlquery "a b&c=d/ü~!*()\'" }}',
  '{{ html .Labels.none }}',
  "{{ 1_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 017 }} {{ 1e3 }} {{ .5 }} {{ 'a' }} {{ '\\n' }} {{ +3 }}",
  '{{ 9223372036854775808 }}',
  '{{ 089 }}',
  '{{ 1e21 }} {{ 0.00001 }} {{ 123456789.0 }} {{ 1000000.0 }} {{ 1.5 }}',
  '{{ 1__0 }}',
  '{{ 5x }}',
  '{{ "a\\tb\\u00fc\\x41\\101\\\\" }}{{ `raw\\n` }}',
  '{{ "\\q" }}',
  '{{ "\\\'" }}',
  "{{ '\\\"' }}",
  "{{ 'ab' }}",
  "{{ '' }}",
  '{{ "a\nb" }}',
  '{{ `a\nb` }}',
  '{{ true }}{{ false }}',
  '{{ true.x }}',
  '{{ "a".b }}',
  '{{ ..x }}',
  '{{ fromJson .Annotations.map }}',
  '{{ (fromJson .Annotations.map).b }} {{ (fromJson .Annotations.map).none }} {{ (fromJson .Annotations.map).c }}',
  '{{ index (fromJson .Annotations.map) "none" }}',
  '{{ range fromJson .Labels.json }}{{ .dns }}:{{ .n }},{{ end }}',
  '{{ fromJson "bad" }}',
  '{{ eq (index (fromJson "[80]") 0) 80 }}',
  '{{ eq (index (fromJson "[80]") 0) 80.0 }}',
  '{{ range $k, $v := fromJson .Annotations.map }}{{ $k }}={{ $v }} {{ end }}',
  '{{ hasKey .Labels "empty" }}{{ hasKey .Labels "none" }}',
  '{{ hasKey .Name "x" }}',
  '{{ contains .Name "web" }}',
  '{{ contains .Name }}',
  '{{ "v2" | contains .Name }}',
  '{{ .Name | replace "-" "." | toLower }}',
  '{{ replace "" "-" "ab" }}',
  '{{ trim "\\t x \\n" }}{{ trimPrefix "aab" "a" }}{{ trimSuffix "abb" "b" }}',
  '{{ toLower .Labels.none }}',
  '{{ isIPv4 "1.2.3.4" }}{{ isIPv4 "01.2.3.4" }}{{ isIPv6 "::ffff:1.2.3.4" }}{{ isIPv6 "fe80::1%eth0" }}{{ isIPv4 "" }}',
  '{{ .Name "x" }}',
  '{{ "x" 1 }}',
  '{{ (1) 2 }}',
  '{{ 1 | .Name }}',
  '{{ .Name | 1 }}',
  '{{ .Name | }}',
  '{{ | .Name }}',
  '{{ nofunction }}',
  '{{ .Nope }}',
  '{{ .Name.Nope }}',
  '{{ if }}{{ end }}',
  '{{ if .Name }}',
  '{{ end }}',
  '{{ else }}',
  '{{ if .Name }}{{ else }}{{ else }}{{ end }}',
  '{{ range .Labels }}{{ else if true }}{{ end }}',
  '{{ $x }}',
  '{{ $x := 1 }}{{ $x.y }}',
  '{{ $x, $y := .Labels }}',
  '{{ range $a, $b, $c := .Labels }}{{ end }}',
  '{{ $ }}x',
  '{{ $.Name }}',
  '{{ .Name',
  '{{ /* a */ }}',
  '{{/* a }}',
  '{{ "a',
  '{{ (.Name }}',
  '{{ .Name) }}',
  '{{ ( ) }}',
  '{{ () }}',
  '{{}}',
  '{{ }}',
  '{{.}}{{end',
  '{ {.Name} }',
  '{{.Name}}}}',
  '{{ .Name}}{{{.Name}}',
  '{{ break }}',
  '{{ if true }}{{ continue }}{{ end }}',
  '{{ @ }}',
  '{{ .a-b }}',
  '{{ .Name | len | printf "%03d" }}',
  '{{(.Name)}}{{ (.Spec).Type }}',
  '{{ not }}',
  '{{ not 1 2 }}',
  '{{ print (print 1) (len "ab") }}',
  '{{ .Name\n}}',
  '{{\n.Name}}',
]

/** Things that may stand in a command; most fit together, some do not. */
const OPERANDS = fc.constantFrom(
  ...[
    '.',
    '$',
    '.Name',
    '.Kind',
    '.Labels',
    '.Labels.app',
    '.Labels.none',
    '.Annotations.host',
    '.Spec.Type',
    '.Spec.ClusterIPs',
  ],
  ...[
    '.Spec.Selector',
    '.Spec.Ports',
    '.Spec.HealthCheckNodePort',
    '.Spec.AllocateLoadBalancerNodePorts',
    '.Generation',
  ],
  ...['"app"', '"web"', '"a.b"', '""', '0', '1', '2', '1.5', 'true', 'false', 'nil', '`raw`', "'c'"],
)
const FUNCTIONS = [...Object.keys(BUILTINS), 'and', 'or', ...Object.keys(NAME_FUNCTIONS)].filter(
  (name) => name !== 'isSource',
)
/** Mostly right: what is piped into a function is one more. */
const argumentCount = (name: string) => ({ ...BUILTINS, ...NAME_FUNCTIONS })[name]?.fewest || 2
const { pipeline } = fc.letrec<{ pipeline: string; command: string; operand: string }>((tie) => ({
  operand: fc.oneof(
    { weight: 5, arbitrary: OPERANDS },
    { weight: 2, arbitrary: tie('pipeline').map((inner) => `(${inner})`) },
  ),
  command: fc.oneof(
    { weight: 1, arbitrary: tie('operand') },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...FUNCTIONS), fc.tuple(tie('operand'), tie('operand'), tie('operand')))
        .map(([name, operands]) => [name, ...operands.slice(0, argumentCount(name))].join(' ')),
    },
  ),
  pipeline: fc
    .tuple(tie('command'), fc.option(fc.constantFrom(...FUNCTIONS), { nil: '', freq: 2 }))
    .map(([command, last]) => (last === '' ? command : `${command} | ${last}`)),
}))
const TEMPLATE = fc.oneof(
  pipeline.map((inner) => `{{ ${inner} }}`),
  fc.tuple(pipeline, pipeline).map(([test, value]) => `{{if ${test}}}{{ ${value} }}{{else}}other{{end}}`),
  fc
    .tuple(pipeline, OPERANDS)
    .map(([list, value]) => `{{- range $k, $v := ${list} -}} {{$k}}{{ ${value} }}; {{- else}}none{{end}}`),
  fc.tuple(pipeline, pipeline).map(([value, shown]) => `{{with $x := ${value}}}{{ $x }}{{ ${shown} }}{{end}}`),
)

const directory = mkdtempSync(join(tmpdir(), 'holdfast-go-template-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const go = findGo()
if (go === undefined) console.warn('Templates against Go: skipped, because Go is not installed')

describe.skipIf(go === undefined)('templates and Go', () => {
  test('agree on what each construct gives and refuses', () => {
    compare(TEMPLATES.map((template) => ({ template, object: FULL })))
  })

  test('agree on random templates', () => {
    const templates = fc.sample(TEMPLATE, { numRuns: 5000, seed: 5 })
    const working = compare(templates.map((template) => ({ template, object: FULL })))
    expect(working).toBeGreaterThan(500)
  })
})

/** Returns how many of them give a text. */
function compare(cases: readonly Case[]): number {
  const theirs = runGo(cases)
  const different = cases.flatMap(({ template, object }, index) => {
    const ours = run(template, object)
    const { Text, Error: error } = theirs[index]
    const same = error === '' ? withoutTypes(ours.text) === withoutTypes(Text) : ours.error !== undefined
    return same || isOnPurpose(ours) ? [] : [{ template, ours, go: error === '' ? Text : { error } }]
  })
  expect(different).toEqual([])
  return theirs.filter(({ Error: error }) => error === '').length
}

/** Objects as a whole are no names, so we neither print nor compare them. */
function isOnPurpose({ error = '' }: Outcome): boolean {
  return error.startsWith('an object as a whole') || error === 'an object and an object cannot be compared'
}

/** Where printf complains, it names Go's types, which we do not know. */
function withoutTypes(text: string | undefined): string | undefined {
  return text?.replace(/%!.*/su, '%!')
}

function run(template: string, object: typeof FULL): Outcome {
  const functions = { ...BUILTINS, ...NAME_FUNCTIONS }
  try {
    const nodes = parseTemplate(template, (name) => name === 'and' || name === 'or' || Object.hasOwn(functions, name))
    return { text: executeTemplate(nodes, objectValue(object, object.kind), { functions, source: 'service' }) }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { error: error.message }
  }
}

function runGo(cases: readonly Case[]): readonly Result[] {
  writeFileSync(join(directory, 'main.go'), PROGRAM)
  writeFileSync(join(directory, 'go.mod'), 'module templates\n\ngo 1.22\n')
  const options = { cwd: directory, input: JSON.stringify(cases), encoding: 'utf8', maxBuffer: 2 ** 28 } as const
  return JSON.parse(execFileSync(go ?? 'go', ['run', '.'], options)) as readonly Result[]
}

function findGo(): string | undefined {
  return ['go', '/usr/local/go/bin/go'].find((program) => {
    try {
      execFileSync(program, ['version'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}
