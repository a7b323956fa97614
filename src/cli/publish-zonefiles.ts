// `holdfast publish zonefiles`: zones in etcd as files in a directory, for those who keep CoreDNS. Takes the place of
// coredns-auto-updater (environment variables) and of configurations-auto-updater (config.yml).

import { existsSync } from 'node:fs'
import { HoldfastError } from '../lib/errors.ts'
import { Log } from '../lib/log.ts'
import { LogSink } from '../lib/log-sink.ts'
import { publishZonefiles, type ZonefilesOptions } from '../names/outputs/zonefiles.ts'
import { command, type Io } from './command.ts'
import { EXIT } from './exit-code.ts'
import { ETCD_FLAGS, type EtcdFlags, readEtcdFlags } from './etcd-flags.ts'
import { passedEnv } from './passed-env.ts'
import { readPublishConfig } from './publish-config.ts'
import { readPrefix, ZONE_FLAGS } from './zone-store.ts'

/** As coredns-auto-updater has them, with a umask that takes nothing from the owner's group. */
const FILE_MODE = 0o644
const DIRECTORY_MODE = 0o755

const CONFIG_FILE = 'config.yml'

export const publishZonefilesCommand = command({
  name: 'publish zonefiles',
  isServer: true,
  summary: 'Keep a directory of zone files equal to the zones in etcd',
  usage: '--directory DIR [--prefix PREFIX] [--once] | --config FILE',
  options: {
    directory: { value: 'DIR', summary: 'where the files go, or ZONEFILE_PATH; files of other zones are removed' },
    prefix: ZONE_FLAGS.prefix,
    config: {
      value: 'FILE',
      summary: `a ${CONFIG_FILE} of configurations-auto-updater, or CONFS_AUTO_UPDATER_CONFIG_FILE; its files can be anything`,
    },
    validate: { summary: 'with --config: only good zones, as it always is without' },
    once: { summary: 'write what there is and end' },
    quiet: { summary: 'log only errors' },
    ...ETCD_FLAGS,
  },
  async run({ options }, io) {
    const { quiet, ...zonefiles } = await readOptions(options, io)
    const sink = new LogSink(1)
    const log = new Log(sink, { quiet: quiet || options.quiet })
    const signal = io.stopSignal()
    try {
      await publishZonefiles(zonefiles, { log, signal, once: options.once })
      if (signal.aborted) log.info(`Stopping on ${String(signal.reason)}`)
    } finally {
      await sink.flush()
    }
    return EXIT.done
  },
})

interface Flags extends EtcdFlags {
  readonly directory: string | undefined
  readonly prefix: string | undefined
  readonly config: string | undefined
  readonly validate: boolean
}

async function readOptions(flags: Flags, io: Io): Promise<ZonefilesOptions & { readonly quiet: boolean }> {
  const directory = flags.directory ?? given(io, 'ZONEFILE_PATH')
  const config =
    flags.config ??
    given(io, 'CONFS_AUTO_UPDATER_CONFIG_FILE') ??
    (directory === undefined && existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined)
  if (config !== undefined) {
    const contradicting = (['directory', 'prefix', ...Object.keys(ETCD_FLAGS)] as (keyof Flags)[]).find(
      (name) => flags[name] !== undefined,
    )
    if (contradicting !== undefined)
      throw new HoldfastError('Usage', `Cannot use --${contradicting} with "${config}": the file says it`)
    const { notify, ...rest } = readPublishConfig(config, { zonesOnly: flags.validate })
    return {
      ...rest,
      validate: flags.validate,
      ...(notify !== undefined && { notify: { ...notify, env: passedEnv(io.env) } }),
    }
  }
  if (directory === undefined)
    throw new HoldfastError(
      'Usage',
      'Cannot run "holdfast publish zonefiles": --directory or ZONEFILE_PATH is missing, or --config',
    )
  const prefix = readPrefix(flags.prefix, io)
  const etcd = await readEtcdFlags(updaterFlags(flags, io), io)
  const modes = { fileMode: FILE_MODE, directoryMode: DIRECTORY_MODE }
  return { etcd, prefix, directory, ...modes, validate: true, quiet: false }
}

/** The variables of coredns-auto-updater where there is no flag; before those of etcdctl. */
function updaterFlags(flags: Flags, io: Io): EtcdFlags {
  readCount(io, 'REQUEST_RETRIES')
  const user = flags.user === undefined ? given(io, 'USER_NAME') : undefined
  const password = given(io, 'USER_PASSWORD')
  return {
    ...flags,
    endpoints: flags.endpoints ?? given(io, 'ETCD_ENDPOINTS'),
    cacert: flags.cacert ?? given(io, 'CA_CERT_PATH'),
    cert: flags.cert ?? given(io, 'USER_CERT_PATH'),
    key: flags.key ?? given(io, 'USER_KEY_PATH'),
    'dial-timeout': flags['dial-timeout'] ?? seconds(io, 'CONNECTION_TIMEOUT'),
    'command-timeout': flags['command-timeout'] ?? seconds(io, 'REQUEST_TIMEOUT'),
    ...(user !== undefined && password !== undefined && { user, password }),
  }
}

function given(io: Io, variable: string): string | undefined {
  const value = io.env[variable]
  return value === '' ? undefined : value
}

/** Zero is "no limit" there; here it is as if it were not given. */
function seconds(io: Io, variable: string): string | undefined {
  const count = readCount(io, variable)
  return count === undefined || count === 0 ? undefined : `${count}s`
}

function readCount(io: Io, variable: string): number | undefined {
  const value = given(io, variable)
  if (value === undefined) return undefined
  if (/^\d{1,9}$/u.test(value)) return Number(value)
  throw new HoldfastError('Usage', `Cannot read "${value}" as ${variable}: expected a whole number`)
}
