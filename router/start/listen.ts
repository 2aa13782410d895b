import type { Config } from '../../config.ts'
import { StartError } from '../../start-error.ts'

/**
 * Listens at the configured address.
 * @throws StartError when the port is taken, or the address does not belong to this machine
 */
export async function listenAt(door: { listen(): Promise<unknown> }, { host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  await door.listen().catch(error => {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new StartError(`port ${port} is taken: stop what listens there, or set PORT to another one`, error)
    if (['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'].includes(code))
      throw new StartError(`${host}:${port} cannot be listened on (${code}): set HOST and PORT to an address of this machine`, error)
    throw error
  })
}
