import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Access, openConnection } from './connection.ts'
import { findSite } from './find-site.ts'
import { isInPod, readServiceAccount } from './service-account.ts'

const directory = mkdtempSync(join(tmpdir(), 'holdfast-kubeconfig-'))
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0

function write(text: string, name = `config${files++}`): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

interface Parts {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
  readonly name?: string
}

function config({ cluster, user, context, name = 'lab' }: Parts = {}): string {
  return JSON.stringify({
    'current-context': name,
    clusters: [{ name, cluster: { server: 'https://api:6443/', ...cluster } }],
    users: [{ name, user: { token: 't0ken', ...user } }],
    contexts: [{ name, context: { cluster: name, user: name, ...context } }],
  })
}

const refusal = (kubeconfig: string, context?: string) =>
  findSite({ kubeconfig, ...(context !== undefined && { context }) }, {}).then(
    () => expect.fail('it was accepted'),
    (error: unknown) => error as Error,
  )

describe('where the configuration is', () => {
  test('the file that is named counts before those in the environment', async () => {
    const named = write(config({ name: 'named' }))
    const site = await findSite({ kubeconfig: named }, { KUBECONFIG: write(config()) })
    expect(site).toMatchObject({ server: 'https://api:6443', origin: `context "named" of "${named}"` })
  })

  test('of the files in KUBECONFIG the first that has an entry counts, and missing ones are passed over', async () => {
    const contexts = write(JSON.stringify({ contexts: [{ name: 'mixed', context: { cluster: 'b', user: 'a' } }] }))
    const first = write(config({ name: 'a', user: { token: 'first' } }))
    const second = write(config({ name: 'a', user: { token: 'second' } }))
    const third = write(config({ name: 'b', cluster: { server: 'https://b' } }))
    const KUBECONFIG = [join(directory, 'none'), contexts, first, second, third].join(':')
    const current = await findSite({}, { KUBECONFIG })
    expect(current).toMatchObject({ server: 'https://api:6443', identity: { token: 'first' } })
    const other = await findSite({ context: 'mixed' }, { KUBECONFIG })
    expect(other).toMatchObject({ server: 'https://b', identity: { token: 'first' } })
  })

  test('the file in the home directory is taken when nothing else is said', async () => {
    mkdirSync(join(directory, '.kube'))
    write(config({ context: { namespace: 'home' } }), '.kube/config')
    expect(await findSite({}, { HOME: directory })).toMatchObject({ namespace: 'home' })
  })

  test('a server that is named counts instead of the configured one, and does without a configuration', async () => {
    const site = await findSite({ kubeconfig: write(config()), server: 'https://other:1/' }, {})
    expect(site).toMatchObject({ server: 'https://other:1', identity: { token: 't0ken' } })
    expect(await findSite({ server: 'http://127.0.0.1:8001' }, {})).toMatchObject({ identity: {} })
    await expect(findSite({ server: 'api:6443' }, {})).rejects.toThrow(
      'Cannot use the API server "api:6443": it is no URL; expected https://host:port',
    )
  })

  test('nothing at all is an error of its own', async () => {
    await expect(findSite({}, { HOME: '/nowhere' })).rejects.toMatchObject({ code: 'KubeconfigMissing' })
    await expect(findSite({ context: 'lab' }, {})).rejects.toThrow('Cannot find context "lab": KUBECONFIG is not set')
  })
})

describe('what is wrong with a kubeconfig', () => {
  test('a file that is not there', async () => {
    expect(await refusal('/nowhere/config')).toMatchObject({
      code: 'KubeconfigInvalid',
      message: 'Cannot use kubeconfig "/nowhere/config": no such file or directory; expected a file that can be read',
    })
  })

  test('text that is no YAML, without a word of it', async () => {
    const file = write('users:\n- token: "s3cret\n')
    expect((await refusal(file)).message).toMatch(/line \d+, column \d+ is no valid YAML; expected a kubeconfig$/u)
    expect((await refusal(file)).message).not.toContain('s3cret')
  })

  test('YAML that is no kubeconfig', async () => {
    expect((await refusal(write('- a'))).message).toContain('it is no map')
    expect((await refusal(write('a: b'))).message).toContain('it names no current-context; expected contexts')
  })

  test('an unknown context, with those that there are', async () => {
    expect((await refusal(write(config()), 'prod')).message).toContain(
      'it has no context "prod"; expected one of "lab"',
    )
  })

  test.each([
    ['a cluster that is not there', { context: { cluster: 'x' } }, 'it has no cluster "x"; expected one of "lab"'],
    ['a user that is not there', { context: { user: 'x' } }, 'it has no user "x"; expected one of "lab"'],
    ['no server', { cluster: { server: '' } }, 'cluster "lab": it has no server; expected one'],
    ['a server that is no URL', { cluster: { server: 'api:1' } }, 'cluster "lab": its server is no URL'],
    ['a token that is no text', { user: { token: 123 } }, 'user "lab": its token is no text'],
    ['a certificate alone', { user: { 'client-certificate-data': 'YQ==' } }, 'expected both'],
    ['no command', { user: { exec: {} } }, 'user "lab": its exec has no command; expected one'],
    [
      'a file that is not there',
      { cluster: { 'certificate-authority': 'ca.crt' } },
      `its certificate-authority "${directory}/ca.crt" cannot be read (no such file or directory)`,
    ],
  ])('%s', async (_, parts, message) => {
    expect((await refusal(write(config(parts)))).message).toContain(message)
  })
})

test('everything that describes a cluster and a user is read, with paths beside the file', async () => {
  write('authority', 'ca.pem')
  const file = write(
    config({
      cluster: {
        'certificate-authority': 'ca.pem',
        'insecure-skip-tls-verify': true,
        'tls-server-name': 'kubernetes',
        'proxy-url': 'http://proxy:3128',
      },
      user: {
        'client-certificate-data': Buffer.from('cert').toString('base64'),
        'client-key-data': Buffer.from('key').toString('base64'),
        tokenFile: 'token',
        as: 'somebody',
        username: 'user',
        password: 'pass',
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: './plugin',
          args: ['a'],
          provideClusterInfo: true,
        },
      },
    }),
  )
  const site = await findSite({ kubeconfig: file }, {})
  expect(site.trust).toEqual({ ca: Buffer.from('authority'), insecure: true, serverName: 'kubernetes' })
  expect(site.proxyUrl).toBe('http://proxy:3128')
  expect(site.identity).toMatchObject({
    cert: Buffer.from('cert'),
    key: Buffer.from('key'),
    tokenFile: join(directory, 'token'),
    impersonate: 'somebody',
    basic: { username: 'user', password: 'pass' },
    exec: { command: join(directory, 'plugin'), args: ['a'] },
  })
  const info = JSON.parse(site.identity.exec?.env.at(-1)?.value ?? '') as { spec: { cluster: object } }
  expect(info.spec.cluster).toMatchObject({ server: 'https://api:6443', 'tls-server-name': 'kubernetes' })
})

describe('a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
  const mounted = join(directory, 'serviceaccount')

  test('is one when address and token are there', () => {
    expect(isInPod(env, mounted)).toBe(false)
    mkdirSync(mounted)
    for (const name of ['token', 'ca.crt']) write(name, `serviceaccount/${name}`)
    expect(isInPod(env, mounted)).toBe(true)
    expect(isInPod({}, mounted)).toBe(false)
  })

  test('finds its cluster, its namespace and its token', async () => {
    await expect(readServiceAccount(env, mounted)).rejects.toMatchObject({ code: 'KubeCredentials' })
    write('prod\n', 'serviceaccount/namespace')
    expect(await readServiceAccount(env, mounted)).toMatchObject({
      server: 'https://[fd00::1]:6443',
      namespace: 'prod',
      trust: { ca: Buffer.from('ca.crt') },
      identity: { tokenFile: join(mounted, 'token') },
    })
  })
})

describe('credentials', () => {
  const authorization = async (user: object) => {
    const connection = openConnection({ kubeconfig: write(config({ user })) }, {})
    return (await connection.access()).headers.authorization
  }
  const plugin = (script: string, installHint?: string) => ({
    token: '',
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/sh', args: ['-c', script], installHint },
  })
  const printing = (status: object) => plugin(`echo '${JSON.stringify({ kind: 'ExecCredential', status })}'`)

  test('a token file is read for every request', async () => {
    write('one\n', 'renewed')
    const connection = openConnection({ kubeconfig: write(config({ user: { tokenFile: 'renewed' } })) }, {})
    expect((await connection.access()).headers).toEqual({ authorization: 'Bearer one' })
    write('two', 'renewed')
    expect((await connection.access()).headers).toEqual({ authorization: 'Bearer two' })
    rmSync(join(directory, 'renewed'))
    await expect(connection.access()).rejects.toMatchObject({ code: 'KubeCredentials', retryable: true })
  })

  test('a name and a password, and somebody else who is meant', async () => {
    const user = { token: '', username: 'a', password: 'b', as: 'c' }
    const connection = openConnection({ kubeconfig: write(config({ user })) }, {})
    const { headers } = await connection.access()
    expect(headers).toEqual({ authorization: 'Basic YTpi', 'impersonate-user': 'c' })
  })

  test('a program is run once for those who ask together, and again after its token has expired', async () => {
    const runs = join(directory, 'runs')
    const expired = { token: 'x', expirationTimestamp: '2020-01-01T00:00:00Z' }
    const script = `echo run >> '${runs}'; echo '${JSON.stringify({ status: expired })}'`
    const connection = openConnection({ kubeconfig: write(config({ user: plugin(script) })) }, {})
    const both = await Promise.all([connection.access(), connection.access()])
    expect(both.map(({ headers }) => headers.authorization)).toEqual(['Bearer x', 'Bearer x'])
    await connection.access()
    expect(readFileSync(runs, 'utf8')).toBe('run\nrun\n')
  })

  test('a program gives a token, and learns whom it is for', async () => {
    expect(await authorization(printing({ token: 'given' }))).toBe('Bearer given')
    const script = `test -n "$KUBERNETES_EXEC_INFO" && echo '{"status":{"token":"informed"}}'`
    expect(await authorization(plugin(script))).toBe('Bearer informed')
  })

  test('a program that is not there is named, with what the kubeconfig says about getting it', async () => {
    const exec = { command: 'no-such-plugin', installHint: 'install it' }
    await expect(authorization({ exec })).rejects.toMatchObject({
      code: 'KubeCredentials',
      message: 'Cannot run "no-such-plugin" for credentials: there is no such program; the kubeconfig wants it',
      hint: 'install it',
    })
  })

  test('a program that fails is quoted with its last words; what it prints is not', async () => {
    await expect(authorization(plugin('echo first >&2; echo log in first >&2; exit 1'))).rejects.toThrow(
      'Cannot use the credentials of "/bin/sh": it failed with "log in first"',
    )
    const secret = authorization(plugin('echo s3cret-token'))
    await expect(secret).rejects.toThrow('it did not print an ExecCredential; expected JSON with a status')
    await expect(secret).rejects.not.toThrow('s3cret')
  })

  test('a program that hangs ends with the connection, and what it has started holds nobody up', async () => {
    const connection = openConnection({ kubeconfig: write(config({ user: plugin('sleep 5; true') })) }, {})
    const access = connection.access()
    setTimeout(() => connection.close(), 200)
    await expect(access).rejects.toMatchObject({ code: 'KubeCredentials' })
  })

  test('what was wrong is looked at anew the next time', async () => {
    const file = write('a: b')
    const connection = openConnection({ kubeconfig: file }, {})
    await expect(connection.access()).rejects.toMatchObject({ code: 'KubeconfigInvalid' })
    writeFileSync(file, config())
    expect((await connection.access()).server).toBe('https://api:6443')
  })
})

test('connections of a former certificate are closed as soon as nothing uses them', async () => {
  const waiting: ServerResponse[] = []
  const server = createServer((request, response) => {
    if (request.url === '/watch') {
      response.flushHeaders()
      waiting.push(response)
    } else response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const configWith = (certificate: string) => {
    const [cert, key] = [certificate, `${certificate} key`].map((text) => Buffer.from(text).toString('base64'))
    return config({ cluster: { server: url }, user: { 'client-certificate-data': cert, 'client-key-data': key } })
  }
  const file = write(configWith('one'))
  const connection = openConnection({ kubeconfig: file }, {})
  const ask = async ({ agent }: Access, path: string): Promise<IncomingMessage> => {
    const request = get(url + path, { agent })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }
  const ended = (response: IncomingMessage) => once(response.resume(), 'close')
  try {
    const first = await connection.access()
    const [watch, short] = await Promise.all([ask(first, '/watch'), ask(first, '/')])
    const [idle, used] = [short.socket, watch.socket]
    await ended(short)
    expect([idle.destroyed, used.destroyed]).toEqual([false, false])
    writeFileSync(file, configWith('two'))
    connection.forget()
    const second = await connection.access()
    expect(second.agent).not.toBe(first.agent)
    expect((await connection.access()).agent).toBe(second.agent)
    expect([idle.destroyed, used.destroyed]).toEqual([true, false])
    waiting[0].end()
    await ended(watch)
    await once(used, 'close')
    const last = await ask(second, '/')
    const kept = last.socket
    await ended(last)
    expect(kept.destroyed).toBe(false)
    connection.close()
    expect(kept.destroyed).toBe(true)
  } finally {
    connection.close()
    server.closeAllConnections()
    server.close()
  }
})
