import { describe, expect, it } from 'vitest'
import { bundle } from '../../web/build/bundle.ts'

describe('bundle', () => {
  it('makes the same files, byte by byte, of the same tree', async () => {
    const [one, two] = [await bundle(), await bundle()]
    expect([...two.files.keys()].sort()).toEqual([...one.files.keys()].sort())
    for (const [name, content] of one.files) expect(Buffer.from(two.files.get(name) as string).equals(Buffer.from(content as string)), name).toBe(true)
  })
})
