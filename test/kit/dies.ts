import { expect, vi } from 'vitest'
import { armCrash } from '../../platform/crash.ts'

/**
 * Does something that ends at a crash point: by an error that undoes what is not committed, as the kill of a process would, and whatever
 * somebody makes of that. test/chaos kills whole processes; this is quick enough to look at what each leaves behind.
 */
export async function dies(point: string, work: () => Promise<unknown>): Promise<void> {
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('power failure')
  })
  armCrash(point)
  try {
    await work().catch((error: Error) => expect(error.message).toBe('power failure'))
    expect(kill, `nothing came to ${point}`).toHaveBeenCalled()
  } finally {
    armCrash(null)
    kill.mockRestore()
  }
}
