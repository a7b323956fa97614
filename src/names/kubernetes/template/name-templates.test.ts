import { expect, test } from 'vitest'
import { nameTemplates } from './name-templates.ts'

const NONE = { fqdnTemplates: [], targetTemplates: [], fqdnTargetTemplates: [] }

function hostnames(template: string, object: object, kind = 'Service'): readonly string[] {
  const metadata = { name: 'web', namespace: 'shop' }
  return nameTemplates({ ...NONE, fqdnTemplates: [template] }).hostnames({ metadata, ...object }, kind)
}

const LABELLED = {
  metadata: { name: 'api', namespace: 'shop', labels: { env: 'prod', region: 'us-east-1', app1: 'x' } },
}
const NODE = {
  status: {
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'ExternalIP', address: '2001:db8::1' },
      { type: 'ExternalIP', address: '192.0.2.7' },
      { type: 'ExternalIP', address: '192.0.2.8' },
    ],
  },
}
const ENTRIES =
  '[{"dns":"one.internal.tld","target":"10.10.10.10"},{"dns":"two.example.tld","target":"my.cluster.local"}]'

test.each<[string, object, string[]]>([
  ['{{ .Name }}.example.com, {{ .Namespace }}.example.org.', {}, ['shop.example.org', 'web.example.com']],
  ['{{.Name}}.a,{{.Name}}.a, ,', {}, ['web.a']],
  ['{{ .Kind }}.{{ .APIVersion }}', {}, ['Service.v1']],
  ['{{ .Labels.env }}.{{ index .ObjectMeta.Labels "region" }}.tld', LABELLED, ['prod.us-east-1.tld']],
  ['{{ .Labels.missing }}.tld', LABELLED, ['<no value>.tld']],
  ['{{ index .Labels "missing" }}x.tld', LABELLED, ['x.tld']],
  ['{{ or .Annotations.dns "invalid" }}.tld', {}, ['invalid.tld']],
  [
    '{{.Name}}.{{.Labels.env}}.tld, {{ if eq .Labels.env "prod" }}{{ .Name }}.my-company.tld{{ end }}',
    LABELLED,
    ['api.my-company.tld', 'api.prod.tld'],
  ],
  [
    '{{ range $k, $v := .Labels }}{{ if contains $k "app" }}{{ $.Name }}.{{ $v }}.tld{{ printf "," }}{{ end }}{{ end }}',
    LABELLED,
    ['api.x.tld'],
  ],
  ['{{ if eq .Spec.Type "ExternalName" }}{{ .Name }}.tld{{ end }}', { spec: { type: 'ExternalName' } }, ['web.tld']],
  ['{{ if eq .Spec.Type "ExternalName" }}{{ .Name }}.tld{{ end }}', {}, []],
  [
    '{{ if index .Spec.Selector "app" }}{{ .Name }}.{{ index .Spec.Selector "app" }}.tld{{ end }}',
    { spec: { selector: { app: 'nginx' } } },
    ['web.nginx.tld'],
  ],
  ['{{ if index .Spec.Selector "app" }}{{ .Name }}.tld{{ end }}', { spec: { selector: { tier: 'x' } } }, []],
  [
    '{{ .Spec.LoadBalancerIP }}.x,{{ index .Spec.ClusterIPs 0 }}.y',
    { spec: { loadBalancerIP: 'a', clusterIPs: ['b'] } },
    ['a.x', 'b.y'],
  ],
  ['{{ range .Spec.hostnames }}{{ . }},{{ end }}', { spec: { hostnames: ['a.tld', 'b.tld'] } }, ['a.tld', 'b.tld']],
  ['{{ .Object.spec.type }}.{{ .Metadata.name }}', { spec: { type: 'x' } }, ['x.web']],
  [
    '{{range .Status.Addresses}}{{if and (eq .Type "ExternalIP") (isIPv4 .Address)}}{{.Address | replace "." "-"}}{{break}}{{end}}{{end}}.tld',
    NODE,
    ['192-0-2-7.tld'],
  ],
  [
    '{{ if hasKey .Labels "records" }}{{ range $e := (index .Labels "records" | fromJson) }}{{ index $e "dns" }},{{ end }}{{ end }}',
    { metadata: { name: 'web', labels: { records: ENTRIES } } },
    ['one.internal.tld', 'two.example.tld'],
  ],
  ['{{ .GetName }}.{{ .GetLabels.env }}', LABELLED, ['api.prod']],
  ['{{ .Spec.HealthCheckNodePort }}{{ .Spec.PublishNotReadyAddresses }}{{ .Spec.ClusterIPs }}', {}, ['0false[]']],
  ['{{ .Spec.Selector.app }}{{ .Spec.SessionAffinityConfig.ClientIP.TimeoutSeconds }}', {}, ['<no value>']],
  ['{{ if isSource "SERVICE" }}yes{{ else }}no{{ end }}', {}, ['yes']],
  ['{{ if isSource "pod" }}yes{{ else }}no{{ end }}', {}, ['no']],
  ['{{ trimPrefix .Name "w" }}{{ trimSuffix "x-v2" "-v2" }}{{ toLower "AB" }}{{ trim " c " }}', {}, ['ebxabc']],
])('%s', (template, object, expected) => {
  expect(hostnames(template, object)).toEqual(expected)
})

test('templates of one flag are joined', () => {
  const templates = nameTemplates({
    ...NONE,
    fqdnTemplates: ['{{.Name}}.a', '{{.Name}}.b'],
    targetTemplates: ['t.{{.Kind}}'],
  })
  const object = { metadata: { name: 'web' } }
  expect(templates.hostnames(object, 'Node')).toEqual(['web.a', 'web.b'])
  expect(templates.targets(object, 'Node')).toEqual(['t.Node'])
  expect(templates.pairs(object, 'Node')).toEqual([])
  expect(templates.isEmpty).toBe(false)
})

test('pairs are split at their first colon, and incomplete ones dropped', () => {
  const templates = nameTemplates({ ...NONE, fqdnTargetTemplates: ['{{.Name}}.a : 2001:db8::1, b:, :c, d, e:f.'] })
  expect(templates.pairs({ metadata: { name: 'web' } }, 'Service')).toEqual([
    { hostname: 'e', target: 'f' },
    { hostname: 'web.a', target: '2001:db8::1' },
  ])
})

test('without templates there is nothing', () => {
  const templates = nameTemplates({ ...NONE, fqdnTemplates: ['', ' '] })
  // Joined they are a comma, which is a template that gives nothing.
  expect(templates.hostnames({ metadata: { name: 'web' } }, 'Service')).toEqual([])
  expect(nameTemplates(NONE).isEmpty).toBe(true)
})

test.each([
  ['{{.Name', 'column 8: it ends inside of {{; expected }}'],
  ['{{name}}.tld', 'column 3: function "name" is not known; expected a field such as .Name'],
  ['a\nb{{ $x }}', 'line 2, column 5: variable $x is not declared'],
  ['{{if .Name}}a', 'column 3: {{if}} has no {{end}}'],
  ['{{end}}', 'column 3: {{end}} has no beginning'],
  ['{{else}}', 'column 3: {{else}} has no beginning'],
  ['{{break}}', 'column 3: {{break}} stands outside of {{range}}'],
  ['{{define "x"}}{{end}}', 'column 3: {{define}} is not known here'],
  ['{{.Name | "x"}}', 'column 11: a value stands after |; expected a function'],
  ['{{}}', 'column 3: a value is missing'],
  ['{{"x}}', 'column 3: a text that begins with " is not closed'],
  ['{{(.Name}}', 'column 9: "}}" stands here; expected a value'],
  ['{{.Name)}}', 'column 8: ")" stands here; expected a value'],
  ['{{.Name+1}}', 'column 8: "+" stands directly after ".Name"; expected a space'],
  ['{{/* x }}', 'column 1: a comment is not closed'],
  ['{{$a, $b := .Name}}', 'column 5: too many variables'],
  ['{{1.2.3}}', '"1.2.3" is not a number'],
])('%s is refused', (template, message) => {
  const act = () => nameTemplates({ ...NONE, fqdnTemplates: [template] })
  expect(act).toThrow(expect.objectContaining({ code: 'TemplateInvalid' }))
  expect(act).toThrow(`Cannot read template ${JSON.stringify(template)}: `)
  expect(act).toThrow(message)
})

test.each([
  ['{{.Calibre}}.tld', 'column 3: Service has no field .Calibre; expected one such as .Name, .Labels or .Spec'],
  ['{{ .Spec.Hostnmae }}.tld', 'column 4: there is no field .Hostnmae; expected one of the Kubernetes API'],
  ['{{ .Spec.Rules }}', 'column 4: there is no field .Rules'],
  ['{{ .Object.spec.type }}.tld', 'column 4: there is no key .type'],
  ['{{ .Name.x }}', 'column 4: text has no field .x; expected an object'],
  ['{{ toLower 5 }}', 'column 4: toLower got an integer; expected text'],
  ['{{ replace "a" .Name }}', 'column 4: replace got 2 arguments; expected 3'],
  ['{{ index .Labels 1 }}', 'index of a map got an integer; expected text'],
  ['{{ range .Name }}{{ end }}', 'column 10: range got text; expected a list or a map'],
  ['{{ eq .Name 1 }}', 'text and an integer cannot be compared'],
  ['{{ .Spec }}', 'column 4: an object as a whole is no text'],
  ['{{ .Name .Kind }}', 'column 4: only functions take arguments'],
  ['{{ isSource "servics" }}', 'isSource got "servics"; expected one of node, service'],
])('%s cannot be applied', (template, message) => {
  const act = () => hostnames(template, { spec: {} })
  expect(act).toThrow(`Cannot apply template ${JSON.stringify(template)} to Service shop/web: `)
  expect(act).toThrow(message)
})
