// Certificates of the keyring in the hands of the programs that get them: Node, Python (OpenSSL) and a real etcd cluster.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect, createServer, type Server, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GivenAuthority } from '../../src/stack/stack.ts'
import { type IssuedFiles, issueFiles } from '../support/issued-files.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { opensslAuthority, RSA_2048 } from '../support/openssl.ts'
import { until } from '../support/until.ts'

const NETWORK = loopbackNetwork()

const run = promisify(execFile)
const MEMBERS = [`${NETWORK}.10.1`, `${NETWORK}.10.2`, `${NETWORK}.10.3`]
const directory = mkdtempSync(join(tmpdir(), 'holdfast-pki-'))

afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function authorityBelowRoot(): Promise<GivenAuthority> {
  const root = await opensslAuthority(directory, 'root', { key: RSA_2048 })
  const { certificate, key } = await opensslAuthority(directory, 'middle', { key: RSA_2048, signedBy: 'root' })
  return { certificate: certificate + root.certificate, key }
}

/** With two servers' certificates and two users'; `server` is for localhost and one address. */
function issue(name: string, authority?: GivenAuthority): Promise<IssuedFiles> {
  const both = { usages: ['server', 'client'] } as const
  const members = MEMBERS.map((address, index) => ({
    id: `etcd-${index}`,
    ...both,
    domains: ['localhost', `etcd-${index}.lab.test`],
    addresses: [address, '127.0.0.1'],
  }))
  const server = { id: 'server', usages: ['server'], domains: ['localhost'], addresses: [`${NETWORK}.0.1`] } as const
  const user = { id: 'user', usages: ['client'], commonName: 'zones' } as const
  return issueFiles(join(directory, name), [server, user, ...members], authority)
}

describe.each([
  ['an authority made for the stack', () => Promise.resolve(undefined)],
  ["the user's RSA authority below a root", authorityBelowRoot],
])('certificates of %s', (name, authority) => {
  let ours: IssuedFiles
  let others: IssuedFiles

  beforeAll(async () => {
    ours = await issue(name.replaceAll(/\W/gu, '-'), await authority())
    others = await issue('others')
  })

  describe('in Node', () => {
    let server: Server

    beforeAll(async () => {
      const tls = {
        ca: readFileSync(ours.ca),
        cert: readFileSync(ours.cert('server')),
        key: readFileSync(ours.key('server')),
      }
      server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (socket) => {
        socket.end(String(socket.getPeerCertificate().subject.CN))
      })
      server.listen(0, `${NETWORK}.0.1`)
      await once(server, 'listening')
    })

    afterAll(() => server.close())

    /** What the server says, which is the name of the user. */
    async function talk(servername: string, trust: IssuedFiles, user: IssuedFiles | undefined): Promise<string> {
      const { port } = server.address() as AddressInfo
      const own = user && { cert: readFileSync(user.cert('user')), key: readFileSync(user.key('user')) }
      // An address cannot be a server name: it is what is connected to.
      const name = servername === '' ? {} : { servername }
      const socket: TLSSocket = connect({ host: `${NETWORK}.0.1`, port, ...name, ca: readFileSync(trust.ca), ...own })
      const said = await text(socket)
      if (said === '') throw new Error('closed without a word')
      return said
    }

    test('are accepted for the name and the address, on both sides', async () => {
      expect(await talk('localhost', ours, ours)).toBe('zones')
      expect(await talk('', ours, ours)).toBe('zones')
    })

    test('are refused for another name, by who trusts another authority, and when there is none', async () => {
      await expect(talk('other.test', ours, ours)).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
      await expect(talk('localhost', others, ours)).rejects.toThrow(/unable to (get|verify)|self-signed/u)
      await expect(talk('localhost', ours, others)).rejects.toThrow(/closed without a word|ECONNRESET/u)
      await expect(talk('localhost', ours, undefined)).rejects.toThrow(/certificate required/u)
    })

    test('are accepted and refused by Python alike', async () => {
      const { port } = server.address() as AddressInfo
      const script = `
import socket, ssl, sys
ca, cert, key, name, port = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)
context.verify_flags |= ssl.VERIFY_X509_STRICT
context.load_cert_chain(cert, key)
with context.wrap_socket(socket.create_connection(('${NETWORK}.0.1', int(port)), 10), server_hostname=name) as tls:
    print(tls.recv(100).decode(), end='')`
      const ask = async (trust: IssuedFiles, servername: string) => {
        const files = [trust.ca, ours.cert('user'), ours.key('user')]
        return (await run('python3', ['-c', script, ...files, servername, String(port)])).stdout
      }
      expect(await ask(ours, 'localhost')).toBe('zones')
      expect(await ask(ours, `${NETWORK}.0.1`)).toBe('zones')
      await expect(ask(ours, `${NETWORK}.0.2`)).rejects.toThrow(/IP address mismatch/u)
      await expect(ask(others, 'localhost')).rejects.toThrow(/CERTIFICATE_VERIFY_FAILED/u)
    })
  })

  describe('in etcd', () => {
    const members: ChildProcess[] = []

    beforeAll(async () => {
      const urls = MEMBERS.map((address, index) => `etcd-${index}=https://${address}:2380`).join(',')
      for (const [index, address] of MEMBERS.entries()) {
        const pair = [ours.cert(`etcd-${index}`), ours.key(`etcd-${index}`)]
        const args = [
          ...['--name', `etcd-${index}`, '--data-dir', join(directory, name, `etcd-${index}`)],
          ...['--listen-client-urls', `https://${address}:2379`, '--advertise-client-urls', `https://${address}:2379`],
          ...[
            '--listen-peer-urls',
            `https://${address}:2380`,
            '--initial-advertise-peer-urls',
            `https://${address}:2380`,
          ],
          ...['--initial-cluster', urls, '--initial-cluster-token', directory],
          ...['--cert-file', pair[0], '--key-file', pair[1], '--client-cert-auth', '--trusted-ca-file', ours.ca],
          ...['--peer-cert-file', pair[0], '--peer-key-file', pair[1]],
          ...['--peer-client-cert-auth', '--peer-trusted-ca-file', ours.ca],
        ]
        members.push(spawn('setpriv', ['--pdeathsig', 'KILL', 'etcd', ...args], { stdio: 'ignore' }))
      }
      await until(
        'healthy cluster',
        () => etcdctl(MEMBERS, ours, ours, 'endpoint', 'health').catch(() => undefined),
        30_000,
      )
    })

    afterAll(async () => {
      for (const member of members) {
        if (member.exitCode !== null || member.signalCode !== null) continue
        member.kill('SIGKILL')
        await once(member, 'exit')
      }
    })

    async function etcdctl(
      hosts: readonly string[],
      trust: IssuedFiles,
      user: IssuedFiles,
      ...args: readonly string[]
    ) {
      const env = {
        PATH: process.env.PATH,
        ETCDCTL_API: '3',
        ETCDCTL_CACERT: trust.ca,
        ETCDCTL_CERT: user.cert('user'),
        ETCDCTL_KEY: user.key('user'),
        ETCDCTL_ENDPOINTS: hosts.map((host) => `https://${host}:2379`).join(','),
      }
      return (await run('etcdctl', ['--dial-timeout=1s', '--command-timeout=1s', ...args], { env })).stdout
    }

    test('members trust each other, and a user of the same authority', async () => {
      await etcdctl([MEMBERS[0]], ours, ours, 'put', 'key', 'value')
      for (const member of MEMBERS) expect(await etcdctl([member], ours, ours, 'get', 'key')).toBe('key\nvalue\n')
    })

    test('members refuse a user of another authority, and are refused by who trusts another', async () => {
      await expect(etcdctl([MEMBERS[0]], ours, others, 'get', 'key')).rejects.toThrow(/deadline|bad certificate/u)
      await expect(etcdctl([MEMBERS[0]], others, ours, 'get', 'key')).rejects.toThrow(/deadline|unknown authority/u)
    })
  })
})
