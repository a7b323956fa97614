// A stack file in TypeScript: imported by Node itself, which strips the types. Wherever the file lies, the name of our package
// leads to defineStack, so that nothing has to be installed beside it.

import { registerHooks } from 'node:module'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HoldfastError, messageOf } from '../../lib/errors.ts'

const PACKAGE = 'holdfast'
/** Ends as this file does: .ts in the sources, .js when built. */
const DEFINE_STACK = new URL(`../define-stack${import.meta.url.slice(-3)}`, import.meta.url).href

/** Its default export, or the one called `stack`. */
export async function importStack(file: string, shown: string): Promise<unknown> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === PACKAGE ? { url: DEFINE_STACK, shortCircuit: true } : next(specifier, context),
  })
  let module: { readonly default?: unknown; readonly stack?: unknown }
  try {
    module = (await import(pathToFileURL(resolve(file)).href)) as typeof module
  } catch (error) {
    const problem = `${oneLine(messageOf(error))}; expected a module that can be imported`
    throw new HoldfastError('StackInvalid', `Cannot load ${shown}${lineIn(shown, error)}: ${problem}`, { cause: error })
  } finally {
    hooks.deregister()
  }
  const stack = module.default ?? module.stack
  if (stack !== undefined) return stack
  throw new HoldfastError(
    'StackInvalid',
    `Cannot load ${shown}: it exports no stack; expected export default defineStack({ … })`,
  )
}

/** `:3:7`, as far as the stack of an error tells where in the file it came from. */
function lineIn(shown: string, error: unknown): string {
  const mentions = error instanceof Error ? (error.stack ?? '').split(basename(shown)).slice(1) : []
  return mentions.map((after) => /^:\d+(?::\d+)?/u.exec(after)?.[0]).find((place) => place !== undefined) ?? ''
}

/** Messages about syntax draw the place with lines of their own. */
function oneLine(message: string): string {
  return message.trim().replaceAll(/\s+/gu, ' ')
}
