import { parseXml, type XmlElement } from '@rgrove/parse-xml'
import { expect, test } from 'vitest'
import { domain } from '../../../test/support/hypervisor-data.ts'
import type { MachineRecord } from './machine-record.ts'
import { formatRecord, readAnyRecord, readRecord, recordElement, RECORD_NAMESPACE } from './record-xml.ts'

const RECORD: MachineRecord = {
  stack: 'lab',
  machine: 'etcd-1',
  kind: 'etcd',
  address: '192.168.121.4',
  instanceId: 'iid-1',
  seedDigest: 'abc',
  disks: {
    root: { path: '/pool/a <b> & "c" \'d\'.qcow2', format: 'qcow2', isOurs: true },
    data: undefined,
    seed: { path: '/pool/seed.iso', format: 'raw', isOurs: true },
    program: undefined,
  },
  hardware: { vcpus: '2', note: 'line\nend, ü, \ufffe and \uffff' },
}

test('what is written is read back from the XML', () => {
  const element = parseXml(recordElement(RECORD)).root as XmlElement
  expect(element.attributes['xmlns:holdfast']).toBe(RECORD_NAMESPACE)
  const metadata = element.text
  expect(readRecord(domain('lab-etcd-1', { metadata }), 'lab')).toEqual(JSON.parse(JSON.stringify(RECORD)))
})

test('domains of others are none of our business, whatever they hold', () => {
  expect(readRecord(domain('lab-etcd-1'), 'lab')).toBeUndefined()
  expect(readRecord(domain('web', { metadata: '{' }), 'lab')).toBeUndefined()
  expect(
    readRecord(domain('other-etcd-1', { metadata: formatRecord({ ...RECORD, stack: 'other' }) }), 'lab'),
  ).toBeUndefined()
  expect(readAnyRecord(domain('web', { metadata: '[]' }))).toBeUndefined()
})

test.each(['{', 'null', '[]', '{"stack":"lab"}', formatRecord({ ...RECORD, seedDigest: 1 } as never)])(
  'a machine of the stack with other metadata (%s) is an error that names it',
  (metadata) => {
    expect(() => readRecord(domain('lab-etcd-1', { metadata }), 'lab')).toThrow(
      expect.objectContaining({ code: 'StateInvalid', message: expect.stringContaining('"lab-etcd-1"') as unknown }),
    )
  },
)
