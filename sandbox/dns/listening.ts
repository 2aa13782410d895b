import type { Server } from 'node:net'
import type { Clock } from '../../platform/clock.ts'
import type { RequestLog } from '../control.ts'
import type { Faults } from '../network.ts'
import type { State } from '../state.ts'

/** Start options of a server whose protocol is not HTTP. */
export interface ServerOptions {
  readonly state: State
  readonly faults: Faults
  readonly requests: RequestLog
  readonly clock: Clock
  /** Host to listen on; `localhost` means the loopback addresses of both families. */
  readonly host: string
  /** Port to listen on; a free port is used instead when it is taken, and 0 always takes a free one. */
  readonly port: number
}

/** Makes a server listen at an address. @throws the error of Node, such as `EADDRINUSE` */
export const listenOn = <Kind extends Server>(server: Kind, host: string, port: number): Promise<Kind> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server.off('error', reject)))
  })
