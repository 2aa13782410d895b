import { setImmediate as others } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { createTurns } from '../../../../platform/jobs/turns.ts'
import { mediaOf } from '../../../../subgraphs/publishing/media/deliverable.ts'
import { previewOf, turnsOfPictures } from '../../../../subgraphs/publishing/media/file/picture.ts'
import { createPicture, lookAt, turnsOf } from '../../../../subgraphs/publishing/media/keep.ts'
import { prepareQueue } from '../../../../subgraphs/publishing/media/prepare.ts'
import { until } from '../../../kit/launch.ts'
import { png, wideWebp } from './files.ts'
import { type MediaWorld, mediaWorld } from './world.ts'

let world: MediaWorld
beforeAll(async () => {
  world = await mediaWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const wide = (at: number) => wideWebp(9_000 + at * 7, 9_500 - at * 5)
/** Notes in which order work ends. */
const noting = () => {
  const ended: string[] = []
  const note = (name: string, work: Promise<unknown>) => work.then(() => void ended.push(name))
  return { ended, note }
}

describe('work on pictures', () => {
  it('of another organization waits for a piece of work at most, however many the first has waiting', async () => {
    const turns = createTurns(turnsOfPictures)
    const { ended, note } = noting()
    const many = Array.from({ length: 9 }, (_, at) => note(`wide ${at}`, lookAt(wide(at), 'image/webp', turnsOf({ turns }, 'one'))))
    await others()
    const small = note('small', lookAt(png(40, 40), 'image/png', turnsOf({ turns }, 'other')))
    await Promise.all([...many, small])
    expect(ended.indexOf('small')).toBeLessThan(3)
  })

  it('of a due post runs beside uploads of its own organization', async () => {
    const asset = (await world.upload(png(300, 200))).json.id
    const { ended, note } = noting()
    const uploads = Array.from({ length: 9 }, (_, at) => note(`wide ${at}`, world.upload(wide(at))))
    await others()
    const due = note('due', mediaOf(world.graph.job, { brandId: world.brand.id, media: [{ assetId: asset, altText: null }] }, 'INSTAGRAM'))
    await Promise.all([...uploads, due])
    expect(ended.indexOf('due')).toBeLessThan(3)
  })

  it('holds eight originals of due posts at once, and passes on errors of decoding and reading', async () => {
    const { job } = world.graph
    const ids = await Promise.all(Array.from({ length: 12 }, async (_, at) => (await world.upload(png(40 + at, 40))).json.id as string))
    let [held, most] = [0, 0]
    const storage = Object.create(job.storage, {
      get: {
        value: async (...asked: Parameters<typeof job.storage.get>) => {
          held += 1
          most = Math.max(most, held)
          await others()
          return job.storage.get(...asked).finally(() => (held -= 1))
        },
      },
    })
    const watched = Object.create(job, { storage: { value: storage } }) as typeof job
    const of = (assetId: string) => mediaOf(watched, { brandId: world.brand.id, media: [{ assetId, altText: null }] }, 'THREADS')
    const found = await Promise.all(ids.map(of))
    expect([found.every(each => 'media' in each), most > 1, most <= 8]).toEqual([true, true, true])
    await job.storage.remove(`media/${ids[0]}/original`)
    await world.graph.rows('delete from publishing.media_variants where asset_id = $1', [ids[0]])
    expect(await of(ids[0]!)).toEqual({ failed: expect.stringContaining('are gone') })
  })

  it('is rejected with RATE_LIMITED and a time when too many of one organization wait; accepted ones complete', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => world.upload(wide(at))))
    const [taken, refused] = [answers.filter(({ status }) => status === 201), answers.filter(({ status }) => status !== 201)]
    expect([taken.length > 5, refused.length > 5, taken.every(({ json }) => json.previewBroken === false)]).toEqual([true, true, true])
    for (const { status, json, headers } of refused) {
      expect([status, json.code]).toEqual([429, 'RATE_LIMITED'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
  })

  it('passes a refusal on: no preview is called broken because its turn was refused', async () => {
    const refused = Object.assign(new Error('later'), { extensions: { code: 'RATE_LIMITED' } })
    await expect(previewOf(png(), { weight: 1 }, () => Promise.reject(refused))).rejects.toBe(refused)
  })

  it('that came in parts runs two at a time for each organization, over all its brands', () => {
    const { groupOf, perGroup, concurrency } = prepareQueue(() => world.graph.job)
    expect([groupOf!({ organizationId: 'o', brandId: 'one' }), groupOf!({ organizationId: 'o', brandId: 'two' }), groupOf!({ brandId: 'b' })]).toEqual([
      'o',
      'o',
      'b',
    ])
    expect(perGroup!).toBeLessThan(concurrency!)
  })
})

describe('files in memory', () => {
  it('are written to the storage four at a time for each organization, independently of others', async () => {
    const { job } = world.graph
    const gate = Promise.withResolvers<void>()
    let writing = 0
    const storage = Object.create(job.storage, {
      put: {
        value: async (...asked: Parameters<typeof job.storage.put>) => {
          writing += 1
          await gate.promise
          return job.storage.put(...asked).finally(() => (writing -= 1))
        },
      },
    })
    const watched = Object.create(job, { storage: { value: storage } }) as typeof job
    const of = { brandId: world.brand.id, filename: 'x.png', altText: null, folderId: null, authorId: null, createdBy: 'user:x', source: 'UPLOAD' } as const
    const keep = (organizationId: string, at: number) =>
      createPicture(watched, {
        ...{ ...of, organizationId, once: {}, id: newId(new Date()), type: 'image/png' },
        bytes: png(60 + at, 40),
        places: job.receiving.keeping,
      })
    const many = Array.from({ length: 9 }, (_, at) => keep(world.brand.organizationId, at))
    await until('four are written', () => writing === 4)
    const other = keep(newId(new Date()), 10)
    await until('that of the other is written as well', () => writing === 5)
    gate.resolve()
    expect((await Promise.all([...many, other])).map(({ row }) => row.status)).toEqual(Array(10).fill('READY'))
  })

  it('are limited for an organization and in total; a single one is always accepted', async () => {
    const { receiving } = world.graph.job
    const MiB = 1024 * 1024
    const end = Promise.withResolvers<void>()
    const hold = (organization: string, size: number) => receiving.hold(organization, size * MiB, () => end.promise)
    const held = [hold('one', 25), hold('one', 25)]
    await expect(hold('one', 25)).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED', retryAfter: 2 } })
    held.push(hold('two', 60), hold('three', 60), hold('four', 100))
    await expect(hold('two', 1)).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED' } })
    end.resolve()
    await Promise.all(held)
    expect(await receiving.hold('one', 60 * MiB, async () => 'held')).toBe('held')
  })
})
