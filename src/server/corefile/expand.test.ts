import { describe, expect, test } from 'vitest'
import { block, load, refusal } from './testing.ts'

describe('words', () => {
  test('comments end words and lines, quotes keep spaces, braces and escaped quotes', () => {
    expect(block('nsid "a { # b" \\"c # rest\n# } \nerrors# here').nsid).toBe('a { # b \\"c')
    expect(block(String.raw`nsid "say \"hi\" \n"`).nsid).toBe(String.raw`say "hi" \n`)
  })

  test('Windows line ends and a byte order mark are no part of words', () => {
    expect(load('\u{feff}.:53 {\r\n nsid a\r\n}\r\n').config.blocks[0].nsid).toBe('a')
  })

  test('a quoted word may hold line ends, and places after it stay right', () => {
    expect(refusal('. {\n nsid "a\nb" c\n foo\n}')).toContain('Corefile:4:2: unknown directive')
  })
})

describe('environment', () => {
  const env = { ZONE: 'example.org', PORT: '1053', WORDS: 'a b', BRACE: '{' }

  test('both notations are replaced in keys, names and arguments, and stay one word', () => {
    const { blocks } = load('{$ZONE}:{%PORT%} {\n nsid {$WORDS} {$BRACE}\n}', {}, { env }).config
    expect(blocks[0]).toMatchObject({ zones: ['example.org.'], port: 1053, nsid: 'a b {' })
  })

  test('a variable that is not set is empty', () => {
    expect(load('. {\n nsid x{$NONE}y\n}', {}, { env }).config.blocks[0].nsid).toBe('xy')
  })
})

describe('import', () => {
  test('puts a snippet in its place, with arguments', () => {
    const text = '(up) {\n forward {args[0]} {args[1]}:54\n}\n. {\n import up a. 192.0.2.1\n import up b. 192.0.2.2\n}'
    expect(load(text).config.blocks[0].forwards).toMatchObject([
      { from: 'a.', to: [{ host: '192.0.2.1', port: 54 }] },
      { from: 'b.', to: [{ host: '192.0.2.2', port: 54 }] },
    ])
    expect(refusal(text.replace('b. 192.0.2.2', 'b.'))).toContain('{args[1]} has no value')
  })

  test('a snippet on one line is a line of its own', () => {
    expect(load('(e) { errors }\n. {\n nsid a\n import e\n}').config.blocks[0]).toMatchObject({
      nsid: 'a',
      errors: true,
    })
  })

  test('reads files beside the importing file, whole blocks or parts of them', () => {
    const files = { '/etc/dns/blocks': 'a. {\n import ../more\n}', '/etc/more': 'errors\nfoo\n' }
    expect(refusal('import /etc/dns/blocks', files)).toContain('Cannot load /etc/more:2:1: unknown directive "foo"')
    files['/etc/more'] = 'errors\n'
    expect(load('import /etc/dns/blocks\nb. {\n}', files).config.blocks).toMatchObject([
      { at: '/etc/dns/blocks:1', zones: ['a.'], errors: true },
      { at: 'Corefile:2', zones: ['b.'] },
    ])
  })

  test('a pattern imports every match, and none is only a notice', () => {
    const files = { 'conf.d/1': 'a. {\n}\n', 'conf.d/2': 'b. {\n}\n' }
    expect(load('import conf.d/*', files).config.blocks.map(({ zones }) => zones[0])).toEqual(['a.', 'b.'])
    expect(load('import none/*\n. {\n}', files).notices).toEqual([
      { at: 'Corefile:1:8', message: 'import: no file matches "none/*"' },
    ])
  })

  test.each([
    ['import\n. {\n}', 'Corefile:1:1: "import" names nothing'],
    [
      'import none\n. {\n}',
      'Corefile:1:8: cannot import "none": ENOENT: no such file; expected a snippet defined above or a file',
    ],
    ['(a) {\n}\n(a) {\n}\n. {\n}', 'Corefile:3:1: snippet "a" is defined twice'],
    ['(a) {\n import a\n}\n. {\n import a\n}', 'imports itself: (a) > (a)'],
  ])('%j is refused', (text, message) => {
    expect(refusal(text)).toContain(message)
  })
})
