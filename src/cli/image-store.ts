// Where the commands for images find them: a cache, since an image can be built again.

import { join } from 'node:path'
import { ImageStore } from '../image/store.ts'
import type { Io } from './command.ts'

export const IMAGE_OPTIONS = {
  store: { value: 'DIR', summary: 'where images are kept (default: /var/cache/holdfast/images for root)' },
} as const

export function openImageStore(given: string | undefined, env: Io['env'], isRoot: boolean): ImageStore {
  return new ImageStore(given ?? join(cacheDirectory(env, isRoot), 'images'))
}

function cacheDirectory({ XDG_CACHE_HOME = '', HOME = '' }: Io['env'], isRoot: boolean): string {
  if (isRoot) return '/var/cache/holdfast'
  return join(XDG_CACHE_HOME === '' ? join(HOME, '.cache') : XDG_CACHE_HOME, 'holdfast')
}
