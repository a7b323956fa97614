// Changes of the stack file while writes go on: members come and go, and `up` is killed in the middle.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Members } from '../../support/member-lab.ts'
import type { Scene, StackEvent } from './scene.ts'

type Kind = keyof Members & ('etcd' | 'postgres')

export function addAndRemoveMember(kind: Kind): StackEvent {
  return async (scene) => {
    const before = scene.lab.members[kind]
    add(scene, kind)
    await up(scene)
    remove(scene, kind, scene.random.pick(before))
    await up(scene)
  }
}

/** As often as it takes: whatever was half done is taken up again. */
export const killUp: StackEvent = async (scene) => {
  const { lab, random, journal } = scene
  const kind = random.pick<Kind>(['etcd', 'postgres'])
  for (const change of [add, removeAny]) {
    change(scene, kind)
    for (let left = random.between(1, 3); left > 0; left--) {
      const command = lab.spawn('up', '--yes', '--detach')
      await sleep(random.between(300, 8000))
      command.kill('SIGKILL')
      journal.note(`up: ${await command.ended()} after "${command.output.trimEnd().split('\n').at(-1)?.trim()}"`)
    }
    await up(scene)
  }
}

async function up({ lab, names }: Scene): Promise<void> {
  await names.learnAddresses()
  await lab.up()
}

/** Never the name of one that there was: its data and its certificates are gone. */
function add({ lab, journal }: Scene, kind: Kind): void {
  const numbers = lab.members[kind].map((name) => Number(name.split('-')[1]))
  const name = `${kind}-${Math.max(...numbers) + 1}`
  journal.note(`${name} is to come`)
  lab.change({ [kind]: [...lab.members[kind], name] })
}

function removeAny(scene: Scene, kind: Kind): void {
  remove(scene, kind, scene.random.pick(scene.lab.members[kind]))
}

function remove({ lab, journal }: Scene, kind: Kind, name: string): void {
  journal.note(`${name} is to go`)
  lab.change({ [kind]: lab.members[kind].filter((each) => each !== name) })
}
