// The file system that a path is on, from /proc/self/mountinfo (proc_pid_mountinfo(5)).

import { hostText } from './host-text.ts'

export interface Mount {
  readonly point: string
  /** `ext4`, `nfs4`, `fuse.sshfs` */
  readonly type: string
  readonly options: readonly string[]
}

/** `path` has no symbolic links in it. */
export function mountOf(path: string, root = '/'): Mount | undefined {
  const mounts = hostText(root, 'proc/self/mountinfo').split('\n').flatMap(parseMount)
  return mounts
    .filter(({ point }) => point === '/' || path === point || path.startsWith(`${point}/`))
    .reduce<Mount | undefined>((best, mount) => {
      // Of several at the same place the last one is on top.
      return best === undefined || mount.point.length >= best.point.length ? mount : best
    }, undefined)
}

function parseMount(line: string): readonly Mount[] {
  const [before, after] = line.split(' - ')
  if (after === undefined) return []
  const [, , , , point, options] = before.split(' ')
  const [type] = after.split(' ')
  return [{ point: unescape(point), type, options: options.split(',') }]
}

/** Blanks and the like are written as \040. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/gu, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
