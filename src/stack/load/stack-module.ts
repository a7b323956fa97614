// A stack file in TypeScript: imported by Node itself, which strips the types. Wherever the file lies, the name of our package
// leads to defineStack, so that nothing has to be installed beside it.

import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
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
    throw new HoldfastError(
      'StackInvalid',
      `Cannot load ${shown}: ${oneLine(messageOf(error))}; wanted: a module that can be imported`,
      { cause: error },
    )
  } finally {
    hooks.deregister()
  }
  const stack = module.default ?? module.stack
  if (stack !== undefined) return stack
  throw new HoldfastError(
    'StackInvalid',
    `Cannot load ${shown}: it exports no stack; wanted: export default defineStack({ … })`,
  )
}

/** Messages about syntax draw the place with lines of their own. */
function oneLine(message: string): string {
  return message.trim().replaceAll(/\s+/gu, ' ')
}
