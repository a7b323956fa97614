// Whole zone files beside BIND's named-checkzone: the same records, or both refuse.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseName } from '../name.ts'
import { formatRecord, textSource } from './format.ts'
import { formatProblem, parseZoneFile } from './parse.ts'

const ORIGIN = parseName('example.')
const APEX = '@ IN SOA ns1 host 1 1h 15m 4w 5m\n@ NS ns1\nns1 A 192.0.2.1\n'

const SAME: readonly (readonly [string, string])[] = [
  ['the SOA minimum as TTL', `${APEX}a TXT x\n`],
  ['the last TTL', `@ 77 SOA ns1 host 1 2 3 4 5\n@ NS ns1\nns1 88 A 192.0.2.1\na TXT x\n`],
  ['$TTL and units', `$TTL 1d\n${APEX}$TTL 1W2d3H4m5S\na TXT x\nb 0 TXT x\nc 1h30m IN TXT x\nd IN 90m TXT x\n`],
  ['a TTL above 31 bits', `$TTL 60\n${APEX}a 3000000000 TXT x\n`],
  ['$ORIGIN', `$TTL 60\n${APEX}$ORIGIN sub\n@ TXT x\na TXT x\n$ORIGIN deep.er\na TXT x\n$ORIGIN .\nx.example TXT x\n`],
  ['$INCLUDE', `$TTL 60\n${APEX}a TXT x\n$INCLUDE included sub\n  TXT still-a\n$INCLUDE included\nb TXT x\n`],
  [
    '$GENERATE',
    `$TTL 60\n${APEX}$GENERATE 0-20/5 h\${1,3,x} 5 IN MX "10 m\${0,5,o}"\n$GENERATE 1-2 \${0,3,n} PTR p-\${-5}.\n$GENERATE 7-8 d\\$$ CNAME $.$$\n`,
  ],
  [
    'parentheses, comments, quotes',
    `$TTL 60\n@ SOA ns1 host ( ; "\n1 ( 2 ) ; )\n\n3 4\n5 )\n@ NS ns1\nns1 ( A ) 192.0.2.1\n(a) TXT "x;y"z"(" ; "\n \t(TXT\nq\n)\n`,
  ],
  [
    'negative numbers of $GENERATE',
    `$TTL 60\n${APEX}$GENERATE 1-2 h\${-3,0,x} TXT \${-2,0,o}\n$GENERATE 0-1 \${-2000,0,n}.n TXT x\n`,
  ],
  ['a bare carriage return', `$TTL 60\n${APEX}a TXT x\rb TXT (y\r z) ; c\rd TXT x\ne TXT "q\rq"\r`],
  ['CRLF and no last newline', `$TTL 60\r\n${APEX.replaceAll('\n', '\r\n')}a TXT "x"\r\nb TXT y`],
  [
    'escapes in owners',
    `$TTL 60\n${APEX}a\\.b TXT x\nHome\\032Media._smb._tcp SRV 0 0 445 @\n\\@ TXT x\n\\$TTL TXT x\n\\000\\255\\; TXT x\n*.w TXT x\n`,
  ],
  [
    'owners that look like types, classes and numbers',
    `$TTL 60\n${APEX}A A 192.0.2.1\nIN IN A 192.0.2.1\n60 60 A 192.0.2.1\nSOA TXT SOA\n`,
  ],
]

const REFUSED: readonly (readonly [string, string])[] = [
  ['no TTL at all', '@ NS ns1\n'],
  ['a class that is not IN', `$TTL 60\n${APEX}a CH TXT x\n`],
  ['two classes', `$TTL 60\n${APEX}a IN IN TXT x\n`],
  ['two TTLs', `$TTL 60\n${APEX}a 60 IN 60 TXT x\n`],
  ['an open parenthesis', `$TTL 60\n${APEX}a TXT ( x\n`],
  ['a stray parenthesis', `$TTL 60\n${APEX}a TXT x )\n`],
  ['an open quote', `$TTL 60\n${APEX}a TXT "x\ny"\n`],
  ['a backslash at the end of a line', `$TTL 60\n${APEX}a\\\nb TXT x\n`],
  ['an unknown directive', `$TTL 60\n${APEX}$BOGUS x\n`],
  ['an unfinished directive', `$TTL\n${APEX}`],
  ['too much of a directive', `$TTL 60\n${APEX}$ORIGIN a b\n`],
  ['a bad $TTL', `$TTL 1x\n${APEX}`],
  ['a file that is not there', `$TTL 60\n${APEX}$INCLUDE absent\n`],
  ['a file that includes itself', `$TTL 60\n${APEX}$INCLUDE zone\n`],
  ['a range that runs backwards', `$TTL 60\n${APEX}$GENERATE 3-1 h$ A 192.0.2.$\n`],
  ['a template without its brace', `$TTL 60\n${APEX}$GENERATE 1-3 h\${0 A 192.0.2.$\n`],
  ['data without its brace', `$TTL 60\n${APEX}$GENERATE 0-7 host$ A 1.2.3.\${1000\n`],
  ['a generated number beyond 31 bits', `$TTL 60\n${APEX}$GENERATE 1-2 h\${2147483647} A 192.0.2.1\n`],
  ['a label of 64 bytes', `$TTL 60\n${APEX}${'x'.repeat(64)} TXT x\n`],
  ['a name of 256 bytes', `$TTL 60\n${APEX}${`${'x'.repeat(49)}.`.repeat(5)}x TXT x\n`],
  ['a bad SOA', '$TTL 60\n@ SOA ns1 host abc 1 1 1 1\n@ NS ns1\nns1 A 192.0.2.1\n'],
]

const hasBind = spawnSync('named-checkzone', ['-v']).status === 0
describe.skipIf(!hasBind)(
  `a zone file beside named-checkzone${hasBind ? '' : ' (not run: no bind9-utils here)'}`,
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'zonefile-'))
    afterAll(() => rmSync(directory, { recursive: true }))
    writeFileSync(join(directory, 'included'), '  TXT inherited\nx TXT x\n$ORIGIN deeper\ny TXT y\n')

    const checkZone = (text: string) => {
      writeFileSync(join(directory, 'zone'), text)
      const options = ['-i', 'none', '-k', 'ignore', '-s', 'full', '-o', '-', '-D', 'example.', 'zone']
      return spawnSync('named-checkzone', options, { cwd: directory, encoding: 'utf8' })
    }

    const parse = (text: string) => {
      const records: string[] = []
      const openInclude = (file: string) => textSource(readFileSync(join(directory, file)), file)
      const problems = parseZoneFile(
        textSource(text),
        { file: 'zone', origin: ORIGIN, openInclude },
        {
          record(owner, ownerLength, type, _klass, ttl, rdata, rdataLength) {
            records.push(formatRecord(owner.slice(0, ownerLength), ttl, type, rdata.slice(0, rdataLength)))
          },
        },
      )
      const errors = problems.filter((problem) => problem.severity === 'error').map(formatProblem)
      return { records: [...new Set(records)].toSorted(), errors }
    }

    it.each(SAME)('has the same records: %s', (_title, text) => {
      const { status, stdout, stderr } = checkZone(text)
      expect(status, stderr).toBe(0)
      expect(parse(text)).toEqual({ records: parse(stdout).records, errors: [] })
    })

    it.each(REFUSED)('is refused by both: %s', (_title, text) => {
      expect(checkZone(text).status).not.toBe(0)
      expect(parse(text).errors).not.toEqual([])
    })

    it('is refused by us alone when it has data outside the zone, which BIND ignores', () => {
      const text = `$TTL 60\n${APEX}www.other. A 192.0.2.1\n`
      expect(checkZone(text).stderr).toContain('ignoring out-of-zone data')
      expect(parse(text).errors).toEqual(['zone:5:1: "www.other.": out of zone: expected a name at or below example.'])
    })
  },
)
