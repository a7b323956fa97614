// Which parameters of one PostgreSQL server a change of the settings restarts it for.

import { isSameText, normalValue } from './parameter-value.ts'
import { PATRONI_OPTIONS, RESTART_PARAMETERS } from './known-parameters.ts'
import type { ServerSetting, ServerSettings } from './server-setting.ts'

/** Values are in the base unit of the parameter where a server was asked, otherwise as they are written. */
export interface ParameterChange {
  readonly name: string
  readonly from: string
  readonly to: string
}

/** By name in lower case; undefined: set by nothing from then on. */
export type Wanted = ReadonlyMap<string, string | undefined>

const WAL_BLOCKS = { least: 8, most: 2048, share: 32 }

/** Of a server that answers. */
export function changesOf(settings: ServerSettings, wanted: Wanted): ParameterChange[] {
  return [...wanted].flatMap(([name, value]) => {
    const setting = settings.get(name)
    if (setting?.context !== 'postmaster') return []
    const to = wantedValue(setting, value, settings)
    return to === undefined || to === setting.value ? [] : [{ name, from: setting.value, to }]
  })
}

/** Of a server that does not run: by the settings that there were, and what is known of parameters. */
export function expectedChanges(before: Readonly<Record<string, string>>, wanted: Wanted): ParameterChange[] {
  const old = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]))
  const usual = (name: string) => PATRONI_OPTIONS.get(name)?.usual ?? 'default'
  return [...wanted].flatMap(([name, value]) => {
    // One of an extension: only the server knows.
    const mayRestart = RESTART_PARAMETERS.has(name) || name.includes('.')
    const [from, to] = [old.get(name) ?? usual(name), value ?? usual(name)]
    return mayRestart && !isSameText(from, to) ? [{ name, from, to }] : []
  })
}

function wantedValue(setting: ServerSetting, value: string | undefined, settings: ServerSettings): string | undefined {
  const text = value ?? PATRONI_OPTIONS.get(setting.name)?.usual ?? setting.fallback
  const normal = text === undefined ? undefined : normalValue(setting, text)
  return setting.name === 'wal_buffers' && normal === '-1' ? automaticWalBuffers(settings) : normal
}

/** The server replaces -1 by a share of its shared buffers. */
function automaticWalBuffers(settings: ServerSettings): string {
  const share = Math.floor(Number(settings.get('shared_buffers')?.value ?? 0) / WAL_BLOCKS.share)
  return String(Math.min(WAL_BLOCKS.most, Math.max(WAL_BLOCKS.least, share)))
}
