// What every virtual machine gets besides its cluster's part: metrics of the machine itself, and where the stack file wants
// them a clock and somebody who sends the logs elsewhere. The clock comes first; the logs come last, for they tell of all others.

import type { Machine } from '../../machine/machine.ts'
import type { Site } from '../site.ts'
import { chronyPart } from './chrony.ts'
import { fluentBitPart } from './fluent-bit.ts'
import { fluentdPart } from './fluentd.ts'
import { type HostPart, joinParts } from './host-part.ts'

export function withHostParts(machine: Machine, site: Site): Machine {
  const { chrony } = machine.hardware
  const before = chrony === undefined ? [] : [ofHost(chronyPart(chrony, machine, site))]
  const measured = { ...machine, ...joinParts([...before, machine, ofHost(NODE_EXPORTER)]) }
  return { ...measured, ...joinParts([measured, ...logParts(measured, site).map(ofHost)]) }
}

function ofHost(part: HostPart): HostPart {
  return { ...part, services: (part.services ?? []).map((service) => ({ ...service, isOfHost: true })) }
}

/** The Prometheus node exporter, on its usual port, at every address of the machine. */
const NODE_EXPORTER: HostPart = {
  packages: ['prometheus-node-exporter'],
  services: [
    {
      name: 'node-exporter',
      user: 'prometheus',
      command: ['/usr/bin/prometheus-node-exporter'],
      environment: {},
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 5000,
    },
  ],
  ports: [{ port: 9100, protocol: 'tcp', purpose: 'metrics of the machine' }],
}

function logParts(machine: Machine, site: Site): HostPart[] {
  const { logs } = machine.hardware
  if (logs === undefined) return []
  return [logs.agent === 'fluentd' ? fluentdPart(logs, machine, site) : fluentBitPart(logs, machine, site)]
}
