// What happens while a stack is brought up or down, as it happens: for a live list on a terminal, plain lines elsewhere.

export interface ProgressEvent {
  /** A machine, or undefined for the stack as a whole. */
  readonly machine: string | undefined
  /** `working`: goes on. `ready`: done with it, well. `warning`: goes on in spite of it. */
  readonly state: 'working' | 'ready' | 'warning' | 'failed'
  /** `starting etcd`, `waiting for a leader`, `ready` … */
  readonly message: string
}

export type Progress = (event: ProgressEvent) => void
