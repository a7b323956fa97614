import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { Secret } from '../../../lib/secret.ts'
import { plain, reveal, show } from '../../../machine/content.ts'
import { Block, isBlockText, type YamlMap, yamlContent } from './yaml-content.ts'

const text = (value: YamlMap) => reveal(yamlContent(value))

test('is written as people would write it', () => {
  const value = {
    hostname: 'etcd-1',
    locale: 'C.UTF-8',
    lock: false,
    left_out: undefined,
    users: [{ name: 'etcd', system: true }, { name: 'root' }],
    write_files: [{ path: '/etc/x', permissions: '0644', content: new Block(plain('a\n\n  b\n')) }],
    runcmd: [
      ['systemctl', 'daemon-reload'],
      ['echo', 'yes', '1', ''],
    ],
    none: [],
  }
  expect(text(value)).toBe(`hostname: etcd-1
locale: C.UTF-8
lock: false
users:
  - name: etcd
    system: true
  - name: root
write_files:
  - path: /etc/x
    permissions: "0644"
    content: |
      a

        b
runcmd:
  - [systemctl, daemon-reload]
  - [echo, "yes", "1", ""]
none: []
`)
})

const lines = fc.array(
  fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', '\t', '  x', '# x', '---', 'a: b', '\u{1f511}')),
)
const texts = lines.map((parts) => parts.join('\n'))

/** As cloud-init does. */
function parseInPython(yaml: readonly string[]): unknown {
  const program = 'import json, sys, yaml; print(json.dumps([yaml.safe_load(text) for text in json.load(sys.stdin)]))'
  return JSON.parse(
    execFileSync('/usr/bin/python3', ['-c', program], { input: JSON.stringify(yaml), encoding: 'utf8' }),
  )
}

test('any text that can be one is a block, for every reader', () => {
  const samples = fc.sample(texts.filter(isBlockText), 500)
  const yaml = samples.map((sample) => text({ files: [{ content: new Block(plain(sample)) }], after: true }))
  const wanted = samples.map((sample) => ({ files: [{ content: sample }], after: true }))
  expect(yaml.map((each) => parse(each) as unknown)).toEqual(wanted)
  expect(parseInPython(yaml)).toEqual(wanted)
})

test('any word is a scalar, for every reader', () => {
  const words = fc.string({ unit: 'binary' }).filter((word) => word.isWellFormed())
  const samples = [
    ...fc.sample(words, 500),
    'no',
    'Null',
    '1.5',
    '0x1',
    '~',
    '=',
    '<<',
    '- a',
    '*a',
    '&a',
    '!a',
    '\u0085',
  ]
  const yaml = samples.map((sample) => text({ word: sample, words: [sample, 'x'] }))
  const wanted = samples.map((sample) => ({ word: sample, words: [sample, 'x'] }))
  expect(yaml.map((each) => parse(each) as unknown)).toEqual(wanted)
  expect(parseInPython(yaml)).toEqual(wanted)
})

test('secrets stay secrets, also over several lines, and what is shown is YAML', () => {
  const key = new Secret('-----BEGIN-----\nabc\n-----END-----\n')
  const value = {
    password: new Secret('a"b'),
    files: [{ content: new Block(['before\n', key, 'user=', new Secret('x'), '\n']) }],
  }
  expect(parse(text(value))).toEqual({
    password: 'a"b',
    files: [{ content: `before\n${key.reveal()}user=x\n` }],
  })
  const shown = show(yamlContent(value))
  expect(shown).not.toMatch(/abc|a"b/u)
  expect(parse(shown)).toEqual({
    password: '***',
    files: [{ content: 'before\n***\nuser=***\n' }],
  })
})
