import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { weightsOf } from '../../bench/platform/web/weights.ts'
import { bundle } from '../../web/build/bundle.ts'
import { builtOf } from '../../web/build.ts'

const built = bundle()

describe('bundle', () => {
  it('makes the same files, byte by byte, of the same tree', async () => {
    const [one, two] = [await built, await bundle()]
    expect([...two.files.keys()].sort()).toEqual([...one.files.keys()].sort())
    for (const [name, content] of one.files) expect(Buffer.from(two.files.get(name) as string).equals(Buffer.from(content as string)), name).toBe(true)
  })

  it('keeps every page, sign-in and the marketing site within what they may load at first', async () => {
    const bundled = await built
    const weights = weightsOf(builtOf(bundled, ''), file => gzipSync(bundled.files.get(file)!, { level: 9 }).length / 1000)
    expect(weights.length).toBeGreaterThan(70)
    expect(weights.filter(({ script, budget }) => script > budget)).toEqual([])
    // The launcher's settings gain something with every service: there is to be room for it.
    expect(weights.filter(({ name, script }) => name.startsWith('launcher.') && script > 205)).toEqual([])
  })
})
