import { afterAll, beforeAll } from 'vitest'

/**
 * One world for the tests of a file, or of a `describe`: for those that each bring an organization of their own, or have something refused, and
 * count nothing that another leaves behind.
 */
export function shared<World extends AsyncDisposable>(open: () => Promise<World>): () => World {
  let world: World | undefined
  beforeAll(async () => {
    world = await open()
  })
  afterAll(() => world?.[Symbol.asyncDispose]())
  return () => world!
}
