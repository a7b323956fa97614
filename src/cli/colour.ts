// Colours, decided and applied in one place: on a terminal unless NO_COLOR is set, and wherever FORCE_COLOR asks for them.

import { styleText } from 'node:util'
import type { Io } from './command.ts'

export type Style = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'bold' | 'dim' | 'inverse'

/** Gives a text its style, or leaves it alone where there are no colours. */
export type Paint = (style: Style, text: string) => string

export function hasColour({ env }: Pick<Io, 'env'>, out: Io['stdout']): boolean {
  const force = env.FORCE_COLOR ?? ''
  if (force !== '') return force !== '0' && force !== 'false'
  return isLiveTerminal({ env }, out) && (env.NO_COLOR ?? '') === ''
}

/** Whether what is shown can be painted over. */
export function isLiveTerminal({ env }: Pick<Io, 'env'>, out: Io['stdout']): boolean {
  return out.isTTY === true && env.TERM !== 'dumb'
}

export function painter(colour: boolean): Paint {
  if (!colour) return (_, text) => text
  // The stream was asked already, by its own rules above.
  return (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }))
}
