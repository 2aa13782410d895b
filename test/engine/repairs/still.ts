import { expect } from 'vitest'

/**
 * Says that a library still has the fault for which there is a repair. It fails with an upgrade that mends it: then the repair may go,
 * and so may this expectation and the report in docs/upstream.
 * @param repair a folder of router/engine/repairs, or a file of router/engine
 */
export function stillThere(repair: string, isThere: boolean): void {
  expect(isThere, `router/engine/${repair} may go: the library does not have this fault any more`).toBe(true)
}
