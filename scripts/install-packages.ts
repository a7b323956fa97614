// Installs the Debian packages that tests, benchmarks or a stack need (and makes the user of name servers): only what is
// missing, nothing that is there is touched, and no daemon is started. Usage: scripts/install-packages.ts test|bench|vm|patroni|stack

import { HoldfastError } from '../src/lib/errors.ts'
import { packagesOf, SAMPLE_MACHINES } from '../src/targets/local/checks/host-machine.ts'
import { installPackages } from '../src/targets/local/packages.ts'
import { makeSystemUser, OWN_USER } from '../src/targets/local/system-user.ts'

const NAME_SERVERS = ['bind9', 'bind9-dnsutils', 'bind9-utils', 'dnsperf', 'knot', 'knot-dnsutils', 'ldnsutils', 'nsd']
/** Validating resolvers, which judge the proofs of signed zones. */
const VALIDATORS = ['unbound', 'unbound-host']
const TEST = [...NAME_SERVERS, ...VALIDATORS, 'curl', 'etcd-client', 'etcd-server', 'iproute2', 'procps']
/** A hypervisor, and what makes the image that its machines boot from. */
const LIBVIRT = [
  ...['dnsmasq-base', 'iptables', 'libvirt-clients', 'libvirt-daemon', 'libvirt-daemon-driver-lxc'],
  ...['libvirt-daemon-driver-qemu', 'libvirt-daemon-system', 'qemu-system-x86', 'xorriso'],
  ...['e2fsprogs', 'fdisk', 'mmdebstrap', 'mount', 'qemu-utils', 'tar', 'util-linux'],
  ...['bind9-dnsutils', 'iproute2', 'procps'],
]
/** Who checks what machines are given: cloud-init is not installed, so what it needs is named here. */
const JUDGES = [
  ...['chrony', 'libxml2-utils', 'netplan.io', 'openssl', 'systemd'],
  ...['python3-configobj', 'python3-jinja2', 'python3-jsonpatch', 'python3-jsonschema', 'python3-netifaces'],
  ...['python3-oauthlib', 'python3-requests', 'python3-serial', 'python3-yaml'],
]
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  test: [...TEST, ...LIBVIRT, ...JUDGES, ...packagesOf(SAMPLE_MACHINES)],
  bench: [...TEST, ...packagesOf(SAMPLE_MACHINES)],
  vm: [...LIBVIRT, ...packagesOf(SAMPLE_MACHINES)],
  patroni: ['etcd-client', 'etcd-server', 'patroni', 'postgresql', 'python3-etcd', 'python3-idna'],
  stack: packagesOf(SAMPLE_MACHINES),
}

const group = process.argv.length === 3 ? GROUPS[process.argv[2]] : undefined
if (group === undefined) {
  process.stderr.write(`Usage: scripts/install-packages.ts ${Object.keys(GROUPS).join('|')}\n`)
  process.exitCode = 2
} else {
  await install(group)
}

async function install(packages: readonly string[]): Promise<void> {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort()).once('SIGTERM', () => controller.abort())
  try {
    const isRoot = process.getuid?.() === 0
    await installPackages(packages, {
      isRoot,
      env: process.env,
      signal: controller.signal,
      onProgress: (step) => process.stdout.write(`packages: ${step}\n`),
    })
    // Stacks that are not run by root do without.
    if (isRoot) await makeSystemUser(OWN_USER, controller.signal)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    process.stderr.write(`${error.message}\n${error.hint === undefined ? '' : `  ${error.hint}\n`}`)
    process.exitCode = 1
  }
}
