// What a virtual machine is made of, by the variables of the stack file. The target `local` has no use for it.

import type { Secret } from '../lib/secret.ts'
import type { PackageSource } from './machine.ts'

export interface Hardware {
  /** Where it runs: a URI as virsh takes it, such as `qemu:///system` or `qemu+ssh://kvm1/system`. */
  readonly hypervisor: string
  readonly accelerator: Accelerator
  readonly vcpus: number
  readonly memoryMib: number
  /** A volume that is there: its key, which is its path for most pools, or `POOL/NAME`. */
  readonly volumeId: string | undefined
  /** Where there is no `volumeId`: the volume to make its root disk from, in `volumePool` or as `POOL/NAME`. */
  readonly baseVolume: string | undefined
  /** Of volumes that are made for it. */
  readonly volumePool: string | undefined
  /** Of the root disk that is made; as large as its base unless given. */
  readonly volumeSizeGib: number | undefined
  /** Starts with its hypervisor. */
  readonly autostart: boolean
  readonly dataVolumeId: string | undefined
  readonly networks: readonly NetworkInterface[]
  readonly cloudInitVolumePool: string | undefined
  readonly cloudInitVolumeName: string | undefined
  readonly sshAdminUser: string
  readonly adminUserPassword: Secret | undefined
  readonly sshAdminPublicKey: string | undefined
  readonly installDependencies: boolean
  readonly chrony: Chrony | undefined
  readonly logs: LogForwarding | undefined
}

/** `auto`: KVM where a machine really boots with it, else emulation, which is called `tcg`. */
export type Accelerator = 'auto' | 'kvm' | 'tcg'

/** Of a libvirt network (by id or name), or a macvtap interface on an interface of the host. */
export interface NetworkInterface {
  readonly attach: { readonly networkId: string } | { readonly networkName: string } | { readonly macvtap: string }
  readonly ip: string | undefined
  /** Made from the names of stack and machine unless given, so that it stays. */
  readonly mac: string | undefined
  /** Of a libvirt network, what libvirt says unless given; the same for gateway and name servers. */
  readonly prefixLength: number | undefined
  readonly gateway: string | undefined
  readonly dnsServers: readonly string[]
}

export interface Chrony {
  readonly servers: readonly TimeSource[]
  readonly pools: readonly TimeSource[]
  readonly makestep: { readonly threshold: number; readonly limit: number } | undefined
}

export interface TimeSource {
  readonly url: string
  readonly options: readonly string[]
}

/** A client certificate of the stack file, PEM. */
export interface GivenPair {
  readonly certificate: string
  readonly key: Secret
}

/** fluent-bit or fluentd. */
export interface LogForwarding {
  readonly agent: 'fluentbit' | 'fluentd'
  /** Those given, by the name of the variable without `_tag`: `etcd`, `node_exporter`, `coredns`, `patroni`. */
  readonly tags: Readonly<Record<string, string>>
  readonly forward:
    | {
        readonly domain: string
        readonly port: number
        readonly hostname: string
        readonly sharedKey: Secret
        readonly caCert: string
      }
    | undefined
  /** Taken from etcd, live. */
  readonly etcd:
    | {
        readonly keyPrefix: string
        readonly endpoints: readonly string[]
        readonly caCertificate: string
        readonly client:
          | GivenPair
          | { readonly username: string; readonly password: Secret; readonly connection?: GivenPair | undefined }
      }
    | undefined
  /** fluentd's `<buffer>` section, whole. */
  readonly buffer: string | undefined
  /** Of the agent's vendor; without it the image has the agent. */
  readonly packageSource: PackageSource | undefined
}
