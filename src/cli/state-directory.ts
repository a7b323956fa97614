// Where the last good state of sources is kept when nobody says so: systemd's choice, else the usual place of the user.

import { join } from 'node:path'
import type { ServerConfig } from '../server/config.ts'
import type { Io } from './command.ts'

/** The configuration with its state directory; only sources that can be away need one. */
export function withState(
  config: ServerConfig,
  given: string | undefined,
  env: Io['env'],
  isRoot: boolean,
): ServerConfig {
  const away = ({ skydns, etcdZones, patronis, kubevirts, kubernetes }: ServerConfig['blocks'][number]) =>
    [skydns, etcdZones, patronis, kubevirts, kubernetes].some((sources) => sources.length > 0)
  const state = given ?? config.state ?? (config.blocks.some(away) ? defaultStateDirectory(env, isRoot) : undefined)
  return state === undefined ? config : { ...config, state }
}

export function defaultStateDirectory(env: Io['env'], isRoot: boolean): string | undefined {
  // systemd may list several, separated by colons.
  const [bySystemd] = (env.STATE_DIRECTORY ?? '').split(':')
  if (bySystemd !== '') return bySystemd
  if (isRoot) return '/var/lib/holdfast'
  const { XDG_STATE_HOME, HOME } = env
  if (XDG_STATE_HOME !== undefined && XDG_STATE_HOME !== '') return join(XDG_STATE_HOME, 'holdfast')
  return HOME === undefined || HOME === '' ? undefined : join(HOME, '.local/state/holdfast')
}
