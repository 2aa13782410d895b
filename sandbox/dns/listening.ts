import type { Server } from 'node:net'
import type { Clock } from '../../platform/clock.ts'
import type { RequestLog } from '../control.ts'
import type { Faults } from '../network.ts'
import type { State } from '../state.ts'

/** What a server is started with that speaks another protocol than HTTP. */
export interface ServerOptions {
  readonly state: State
  readonly faults: Faults
  readonly requests: RequestLog
  readonly clock: Clock
  /** `localhost` is the loopback addresses of both families. */
  readonly host: string
  /** A free port is used if it is taken; 0 always takes a free one. */
  readonly port: number
}

/** Has a server listen at an address. @throws the error of Node, such as `EADDRINUSE` */
export const listenOn = <Kind extends Server>(server: Kind, host: string, port: number): Promise<Kind> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server.off('error', reject)))
  })
