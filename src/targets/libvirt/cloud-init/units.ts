// The services of a machine as units of systemd, `holdfast-NAME.service`, with what has to happen before them. systemd
// starts again what ends, and its journal has what they say.

import type { Machine, Service } from '../../../machine/machine.ts'
import { unitName } from '../../../machine/unit-name.ts'
import type { Placement } from '../placement.ts'
import { DATA_UNIT, dataDirectory, dataUnits } from './data-disk.ts'
import { needsProgram, PROGRAM_UNIT, programUnits } from './program-copy.ts'
import { commandLine, quoteWord } from '../../../machine/systemd-text.ts'

export interface Unit {
  readonly name: string
  readonly text: string
}

/** All units of a machine. Those of its services are enabled; they start the others. */
export function renderUnits(machine: Machine, placement: Placement): Unit[] {
  return [
    ...dataUnits(machine, placement),
    ...programUnits(machine),
    ...machine.services.map((service) => renderUnit(service, machine, placement)),
  ]
}

export function renderUnit(service: Service, machine: Machine, placement: Placement): Unit {
  const needsData = service.isOfHost !== true && dataDirectory(machine, placement) !== undefined
  const wanted = ['network-online.target', ...(needsProgram(service) ? [PROGRAM_UNIT] : [])]
  const text = section('Unit', {
    Description: `${service.name} of ${machine.name} (Holdfast)`,
    Wants: wanted.join(' '),
    // Without its disk a service would begin anew with nothing.
    Requires: needsData ? DATA_UNIT : undefined,
    After: [...wanted, ...precedents(service, machine), ...(needsData ? [DATA_UNIT] : [])].join(' '),
    StartLimitIntervalSec: 0,
  })
  return {
    name: unitName(service.name),
    text: `${text}\n${section('Service', serviceSettings(service, placement))}\n${section('Install', { WantedBy: 'multi-user.target' })}`,
  }
}

/** Those before it, in whose start it takes part only by its turn. A step may take long, and holds up nobody but other steps. */
function precedents(service: Service, { services }: Machine): string[] {
  const before = services.slice(0, services.indexOf(service))
  return before.filter(({ once }) => service.once === true || once !== true).map(({ name }) => unitName(name))
}

type Settings = Readonly<Record<string, string | number | readonly string[] | undefined>>

/** Patroni's PostgreSQL outlives a Patroni that was killed, and the next one takes it over; asked to stop, Patroni stops it itself. */
const PATRONI = 'patroni'
/** Kernels for the cloud have no driver of the machine's own; the one in software helps as long as the kernel runs. Where there is none, Patroni says so. */
const LOAD_WATCHDOG = `+-/bin/sh -c '/sbin/modprobe i6300esb || /sbin/modprobe softdog'`
/** As many files and connections as servers may want; some make tables for all they may have, so not any number. */
const OPEN_FILES = 65_536
/** Wrong configuration (EX_CONFIG): trying again would not help. */
const NEVER_AGAIN = 78

function serviceSettings(service: Service, { kind }: Placement): Settings {
  const { name, user, command, environment, environmentFiles = [], stopSignal, stopTimeoutMs } = service
  const isPatroni = name === PATRONI
  return {
    ...(service.once === true ? ONCE : ALWAYS),
    User: user,
    Environment: Object.entries(environment).map(([key, value]) => quoteWord(`${key}=${value}`)),
    EnvironmentFile: environmentFiles.map((path) => path.replaceAll('%', '%%')),
    ExecStartPre: isPatroni && kind === 'qemu' ? LOAD_WATCHDOG : undefined,
    ExecStart: commandLine(command),
    ExecReload: service.reloadSignal === undefined ? undefined : '/bin/kill -HUP $MAINPID',
    KillMode: isPatroni ? 'process' : 'mixed',
    KillSignal: stopSignal,
    TimeoutStopSec: `${stopTimeoutMs}ms`,
    AmbientCapabilities: service.bindsLowPorts === true ? 'CAP_NET_BIND_SERVICE' : undefined,
    LimitNOFILE: OPEN_FILES,
    NoNewPrivileges: 'yes',
  }
}

const ALWAYS: Settings = { Type: 'exec', Restart: 'always', RestartSec: 1 }
const ONCE: Settings = {
  Type: 'oneshot',
  RemainAfterExit: 'yes',
  Restart: 'on-failure',
  RestartSec: 1,
  RestartPreventExitStatus: NEVER_AGAIN,
}

function section(name: string, settings: Settings): string {
  const lines = Object.entries(settings).flatMap(([key, value]) => {
    if (value === undefined) return []
    return typeof value === 'object' ? value.map((each) => `${key}=${each}\n`) : [`${key}=${value}\n`]
  })
  return `[${name}]\n${lines.join('')}`
}
